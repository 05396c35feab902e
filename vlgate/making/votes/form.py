"""What voters are asked, as an HTML form that works offline, and as a file for crowdsourcing."""

import csv
import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import quote

from vlgate.errors import OptionError
from vlgate.metrics.shapes import SHAPES
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.report.difference import bold, difference
from vlgate.report.exports.rows import cell
from vlgate.seeds import quick_generator
from vlgate.types import Case, LazyImage, Match, Task

# What voters are asked: an image and two texts in random order, one of which is true of the image.
# The order is balanced: the caption comes first in half of the items of each task (VALSE, section 4.3 and appendix E).

Answer = Literal["first", "second", "both", "neither", "cannot_tell"]

ANSWERS: Mapping[Answer, str] = MappingProxyType(
    {
        "first": "the first, but not the second",
        "second": "the second, but not the first",
        "both": "both of them",
        "neither": "neither of the two",
        "cannot_tell": "I cannot tell",
    }
)  # the five answers of VALSE's appendix E, by the names that they have in files


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    # ``id`` is a digest of everything that a voter sees and of the case, so a changed text has another id.

    task: str
    case: Case
    image: LazyImage
    caption: str
    foil: str
    caption_first: bool
    id: str

    @property
    def texts(self) -> tuple[str, str]:
        return (self.caption, self.foil) if self.caption_first else (self.foil, self.caption)

    @property
    def right(self) -> Answer:
        return "first" if self.caption_first else "second"


def can_be_asked(task: Task) -> bool:
    return bool(SHAPES[task.shape].voted)


def items_of(task: Task, seed: int) -> tuple[Item, ...]:
    # A pair is one item. A 2x2 is two, each image with both captions. A set is two as well: the first true sentence
    # with the first false one, and the second ones.
    if not can_be_asked(task):
        raise OptionError(f"task {task.id!r} has questions, which have no foil to vote on; leave it out with --suite")
    asked = [(case, *places) for case in task.cases for places in SHAPES[task.shape].voted]
    first = [index % 2 == 0 for index in range(len(asked))]
    quick_generator(f"{seed}:votes:{task.id}").shuffle(first)
    items = []
    for (case, true, false), caption_first in zip(asked, first, strict=True):
        caption, foil = case.requests[true], case.requests[false]
        assert isinstance(caption, Match)  # noqa: S101  # the shapes that are asked about consist of these
        assert isinstance(foil, Match)  # noqa: S101
        texts = [caption.text, foil.text] if caption_first else [foil.text, caption.text]
        item = Item(
            task=task.id,
            case=case,
            image=caption.image,
            caption=caption.text,
            foil=foil.text,
            caption_first=caption_first,
            id=_digest([task.id, case.id, true, caption.image.key, *texts], 12),
        )
        items.append(item)
    return tuple(items)


def shuffled(items: Iterable[Item], seed: int) -> tuple[Item, ...]:
    ordered = sorted(items, key=lambda item: item.id)
    quick_generator(f"{seed}:votes").shuffle(ordered)
    return tuple(ordered)


def digest(items: Iterable[Item]) -> str:
    """Return the digest of a form: 16 hexadecimal digits that depend on its items, but not on their order."""
    return _digest(sorted(item.id for item in items), 16)


def _digest(content: object, digits: int) -> str:
    return sha256(json.dumps(content).encode()).hexdigest()[:digits]


# A file for crowdsourcing: one row for each item, as Amazon Mechanical Turk and similar platforms take it.
# Columns: ``form``, the digest of the items; ``item``, the item's id; ``image``, the image's address; ``first`` and
# ``second``, the texts; ``first_html`` and ``second_html``, the texts as HTML with the differences in bold. A task of
# the platform shows them, and asks for ``answer``, one of ``items.ANSWERS``. A cell that a spreadsheet would take for
# a formula begins with an apostrophe, or with an entity of HTML.

COLUMNS = ("form", "item", "image", "first", "second", "first_html", "second_html")


def write_rows(items: Sequence[Item], file: Path, address: str = "") -> None:
    name = digest(items)
    with whole_file(file) as part, part.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(COLUMNS)
        for item in items:
            image = address + quote(item.image.key) if address else item.image.key
            marked = (bold(pieces) for pieces in difference(*item.texts))
            html = (text if cell(text) == text else f"&#{ord(text[0])};{text[1:]}" for text in marked)
            rows.writerow([name, *map(cell, (item.id, image, *item.texts)), *html])


# The form for voters: an HTML page that works offline, asks nothing of any server, and keeps the answers.
# The texts are data of the page and never become part of its markup. Its policy allows its own script and style only,
# by their digests, so that nothing in a caption can run.

Images = Literal["inline", "beside"]

SIDE = 800  # the longest side of an image in a form, in pixels

_QUALITY = 85
_PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    images: Images = "inline"
    side: int = SIDE
    per_form: int = 100


def write_forms(items: Sequence[Item], file: Path, layout: Layout) -> list[Path]:
    parts = [items[start : start + layout.per_form] for start in range(0, len(items), layout.per_form)]
    name = digest(items)
    files = [file if len(parts) == 1 else file.with_stem(f"{file.stem}-{n}") for n in range(1, len(parts) + 1)]
    for number, (part, target) in enumerate(zip(parts, files, strict=True), 1):
        content = {"digest": name, "part": number, **_content(part, target, layout)}
        write_whole(target, page(content))
    return files


def page(content: object) -> str:
    script, style, template = (
        (_PAGE / f"form.{ending}").read_text(encoding="utf-8") for ending in ("js", "css", "html")
    )
    buttons = (
        f'<button type="button" class="answer" data-answer="{name}" aria-pressed="false">'
        f"<kbd>{number}</kbd>{escape(text)}</button>"
        for number, (name, text) in enumerate(ANSWERS.items(), 1)
    )
    # No text can end the JSON, because "<" and "&" are written as escapes.
    form = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    parts = {
        "policy": f"default-src 'none'; img-src data: 'self' file:; script-src {_hash(script)}; "
        f"style-src {_hash(style)}; base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "answers": "\n".join(buttons),
        "form": form.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _content(items: Sequence[Item], file: Path, layout: Layout) -> dict[str, object]:
    images = {image: index for index, image in enumerate(dict.fromkeys(item.image for item in items))}
    addresses: list[str] = []
    folder = file.with_name(f"{file.stem}-images")
    if layout.images == "beside":
        folder.mkdir(exist_ok=True)
    for number, image in enumerate(images, 1):
        small = image.load()
        small.thumbnail((layout.side, layout.side))
        stream = BytesIO()
        small.save(stream, "JPEG", quality=_QUALITY)
        jpeg = stream.getvalue()
        if layout.images == "inline":
            addresses.append(f"data:image/jpeg;base64,{b64encode(jpeg).decode()}")
        else:
            with whole_file(folder / f"{number}.jpg") as part:
                part.write_bytes(jpeg)
            addresses.append(f"{folder.name}/{number}.jpg")
    asked = []
    for item in items:
        first, second = difference(*item.texts)
        asked.append({"id": item.id, "image": images[item.image], "first": first, "second": second})
    return {"images": addresses, "items": asked}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
