"""Write ``report.html`` from the files of a run.

The page is one file without addresses of others. Its policy allows its own script and style only, by their digests, and
images only as data, so that nothing in a caption can run or be fetched. Every value that the template prints is
escaped, and control characters in it are shown as escapes.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from vlgate.recorded.folder import RecordedRun
from vlgate.report.page.content import page_content
from vlgate.report.page.records import PageContent
from vlgate.report.whole_file import write_whole
from vlgate.run.verdict import RunOutcome
from vlgate.types import Task

PAGE = "report.html"
_HERE = Path(__file__).parent
_OBEYED = {0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF}
"""Marks that change the order of the text around them, or end a line."""


def write_page(
    run: RecordedRun, tasks: Sequence[Task], earlier: Sequence[Path] = (), outcome: RunOutcome | None = None
) -> PageContent:
    """Write ``report.html`` into the folder of a run, beside ``cases.parquet``.

    Args:
        run: the run.
        tasks: the tasks of the run with their images; a case that is not among them is shown without images.
        earlier: the folders of earlier runs, the oldest first; by default the baseline of the run alone.
        outcome: how the run ended; None for what the files of its folder say.

    Returns: what the page shows.
    Raises: OSError if a file cannot be read or written; OptionError if the rows or the verdict of a run cannot be read.
    """
    content = page_content(run, tasks, earlier, outcome)
    write_whole(run.folder / PAGE, rendered(content))
    return content


def rendered(content: PageContent) -> str:
    """Return the page as HTML."""
    return html("page.html", content)


def html(template: str, content: object) -> str:
    """Return a template of this folder as HTML; ``content`` is its ``page``."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script, style = (_HERE / "page.js").read_text(encoding="utf-8"), (_HERE / "page.css").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    found = environment.get_template(template)
    return found.render(page=content, policy=policy, script=_code(script), style=_code(style))


def shown(value: object) -> object:
    r"""Return a value as the page prints it: control characters and marks of direction in a text become escapes.

    The joiners of emoji stay, because they do nothing beyond their own word.

    >>> shown("a \x1b[31m b")
    'a \\x1b[31m b'
    """
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(_escaped(character) for character in value)


def _escaped(character: str) -> str:
    code = ord(character)
    plain = code >= 0x20 and not 0x7F <= code <= 0x9F and code not in _OBEYED and not 0xD800 <= code <= 0xDFFF
    return character if plain or character in "\n\t" else character.encode("unicode_escape").decode("ascii")


def _code(text: str) -> object:
    """Our own script or style, which is not escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  # a file of this package


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
