"""The form for voters: an HTML page that works offline, asks nothing of any server, and keeps the answers.

The texts are data of the page and never become part of its markup. Its policy allows its own script and style only, by
their digests, so that nothing in a caption can run.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Literal

from vlgate.making.votes.items import ANSWERS, Item, digest
from vlgate.report.difference import difference
from vlgate.report.whole_file import whole_file, write_whole
from vlgate.types import LazyImage

Images = Literal["inline", "beside"]

SIDE = 800
"""The longest side of an image in a form, in pixels."""

_QUALITY = 85
_PAGE = Path(__file__).parent / "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How forms are made: images inside the page or in a folder beside it, their longest side, and items per form."""

    images: Images = "inline"
    side: int = SIDE
    per_form: int = 100


def write_forms(items: Sequence[Item], file: Path, layout: Layout) -> list[Path]:
    """Write the items in their order to one form, ``file``, or to several, ``NAME-1.html`` and so on.

    Returns: the files.
    Raises: ImageError if an image is missing or cannot be decoded; OSError if a file cannot be written.
    """
    parts = [items[start : start + layout.per_form] for start in range(0, len(items), layout.per_form)]
    name = digest(items)
    files = [file if len(parts) == 1 else file.with_stem(f"{file.stem}-{n}") for n in range(1, len(parts) + 1)]
    for number, (part, target) in enumerate(zip(parts, files, strict=True), 1):
        content = {"digest": name, "part": number, **_content(part, target, layout)}
        write_whole(target, page(content))
    return files


def page(content: object) -> str:
    """Return the page that asks what ``content`` holds: digest, part, items and the sources of their images."""
    script, style = (_PAGE / "form.js").read_text(encoding="utf-8"), (_PAGE / "form.css").read_text(encoding="utf-8")
    parts = {
        "policy": f"default-src 'none'; img-src data: 'self' file:; script-src {_hash(script)}; "
        f"style-src {_hash(style)}; base-uri 'none'; form-action 'none'",
        "style": style,
        "script": script,
        "answers": "\n".join(_button(number, *answer) for number, answer in enumerate(ANSWERS.items(), 1)),
        "form": _data(content),
    }
    template = (_PAGE / "form.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def _content(items: Sequence[Item], file: Path, layout: Layout) -> dict[str, object]:
    images = {item.image: place for place, item in enumerate({item.image: item for item in items}.values())}
    write = _inline if layout.images == "inline" else _beside
    asked = []
    for item in items:
        first, second = difference(*item.texts)
        asked.append({"id": item.id, "image": images[item.image], "first": first, "second": second})
    return {"images": list(write(list(images), file, layout.side)), "items": asked}


def _inline(images: Sequence[LazyImage], _: Path, side: int) -> Iterator[str]:
    return (f"data:image/jpeg;base64,{b64encode(_jpeg(image, side)).decode()}" for image in images)


def _beside(images: Sequence[LazyImage], file: Path, side: int) -> Iterator[str]:
    folder = file.with_name(f"{file.stem}-images")
    folder.mkdir(exist_ok=True)
    for number, image in enumerate(images, 1):
        with whole_file(folder / f"{number}.jpg") as part:
            part.write_bytes(_jpeg(image, side))
        yield f"{folder.name}/{number}.jpg"


def _jpeg(image: LazyImage, side: int) -> bytes:
    """Return an image as JPEG, made smaller if its longest side is above ``side``, without the file's metadata."""
    small = image.load()
    small.thumbnail((side, side))
    stream = BytesIO()
    small.save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue()


def _button(number: int, name: str, text: str) -> str:
    label = f"<kbd>{number}</kbd>{escape(text)}"
    return f'<button type="button" class="answer" data-answer="{name}" aria-pressed="false">{label}</button>'


def _data(content: object) -> str:
    """Return JSON that no text in it can end, because "<" and "&" are written as escapes."""
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
