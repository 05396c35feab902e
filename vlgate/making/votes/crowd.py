"""A file for crowdsourcing: one row for each item, as Amazon Mechanical Turk and similar platforms take it.

Columns: ``form``, the digest of the items; ``item``, the item's id; ``image``, the image's address; ``first`` and
``second``, the texts; ``first_html`` and ``second_html``, the texts as HTML with the differences in bold. A task of
the platform shows them, and asks for ``answer``, one of ``items.ANSWERS``. A cell that a spreadsheet would take for a
formula begins with an apostrophe, or with an entity of HTML.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from vlgate.making.votes.items import Item, digest
from vlgate.report.difference import bold, difference
from vlgate.report.exports.flat import cell
from vlgate.report.whole_file import whole_file

COLUMNS = ("form", "item", "image", "first", "second", "first_html", "second_html")


def write_rows(items: Sequence[Item], file: Path, address: str = "") -> None:
    """Write the items to a CSV file, in their order; an image's address is ``address`` with the image's name.

    Raises: OSError if the file cannot be written.
    """
    name = digest(items)
    with whole_file(file) as part, part.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(COLUMNS)
        for item in items:
            image = address + quote(item.image.key) if address else item.image.key
            html = (bold(pieces) for pieces in difference(*item.texts))
            rows.writerow([name, *map(cell, (item.id, image, *item.texts)), *map(_html, html)])


def _html(text: str) -> str:
    return text if cell(text) == text else f"&#{ord(text[0])};{text[1:]}"
