"""The templates of this folder as HTML, one file without addresses of others, in which every value is escaped."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
# marks that change the order of the text around them, or end a line
_OBEYED = {0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF}


def html(template: str, content: object) -> str:
    return str(templates().get_template(template).render(page=content))


@cache  # compiled templates are kept
def templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        finalize=shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Only our own script and style are allowed, by their digests, and images only as data, so that nothing in a caption
    # can run or be fetched.
    script, style = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.js", "page.css"))
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    policy = (
        f"default-src 'none'; img-src data:; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    ours = {"script": Markup(script), "style": Markup(style)}  # noqa: S704  # files of this package
    environment.globals |= {"policy": policy, **ours}
    return environment


def shown(value: object) -> object:
    r"""Return a value as the page prints it: control characters and marks of direction in a text become escapes.

    >>> shown("a \x1b[31m b")
    'a \\x1b[31m b'
    """
    from markupsafe import Markup

    if not isinstance(value, str) or isinstance(value, Markup) or value.isprintable():
        return value
    return "".join(_escaped(character) for character in value)


def one_line(text: str) -> str:
    """Return a text as one line that a terminal prints and does not obey."""
    return str(shown(text)).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(character: str) -> str:
    code = ord(character)
    plain = code >= 0x20 and not 0x7F <= code <= 0x9F and code not in _OBEYED and not 0xD800 <= code <= 0xDFFF
    return character if plain or character in "\n\t" else character.encode("unicode_escape").decode("ascii")
