"""Images that a file holds as text: data URIs, and the base64 of image files."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vlgate.images.decoding import decode_stream
from vlgate.images.files import plain_path
from vlgate.types import LazyImage, Recipe

if TYPE_CHECKING:
    from PIL.Image import Image

_LONGEST_PATH = 255
_BASE64 = re.compile(r"\s*(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|Qk|SUkq|TU0AK|AAAA[A-Za-z0-9+/]{2}Z0eX)[A-Za-z0-9+/\s]{99}")
"""How the base64 of PNG, JPEG, GIF, WebP, BMP, TIFF and AVIF or HEIC begins."""
_URL_SAFE = str.maketrans("-_", "+/")


class EncodingError(ValueError):
    """A text that does not hold an image, with the problem and a remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        """Take the problem and the remedy."""
        super().__init__(problem)
        self.problem, self.remedy = problem, remedy


@dataclass(frozen=True, slots=True)
class TextLoad:
    """Decodes an image that a file holds as text."""

    content: bytes = field(repr=False)
    key: str

    def __call__(self) -> Image:
        """Return the image."""
        return decode_stream(BytesIO(self.content), "its base64", self.key)

    def recipe(self) -> Recipe:
        """Return the digest of the content, which the key holds."""
        return ("base64", self.key)

    def uri(self) -> str:
        """Return the image as a data URI."""
        return f"data:;base64,{b64encode(self.content).decode()}"


def is_image_text(name: str) -> bool:
    """Return whether a text is an image, as a data URI or as the base64 of a file, and not the path of one.

    >>> is_image_text("data:image/png;base64,iVBORw0KGgo="), is_image_text("photos/1.png")
    (True, False)
    """
    return name[:5].lower() == "data:" or (len(name) > _LONGEST_PATH and _BASE64.match(name) is not None)


def text_image(text: str) -> LazyImage:
    """Return the image that a data URI or the base64 of a file holds; its key is a digest of the content.

    Raises: EncodingError if its base64 cannot be read. No message holds the text.
    """
    form, mark, content = text.partition(",") if text[:5].lower() == "data:" else ("data:;base64", ",", text)
    if not mark or not form.lower().endswith(";base64"):
        problem = f"a data URI of {len(text):,} characters, {form[:40]!r}, that is not in base64"
        raise EncodingError(problem, "write data:image/png;base64,... or the path of a file")
    try:
        plain = "".join(unquote(content).split()).translate(_URL_SAFE).rstrip("=")
        decoded = b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except ValueError as error:
        problem = f"a data URI of {len(text):,} characters whose base64 cannot be read ({error})"
        raise EncodingError(problem, "encode the file again, or write the path of a file") from None
    if not decoded:
        raise EncodingError("a data URI without content", "encode the file again, or write the path of a file")
    key = f"data-{blake2b(decoded, digest_size=8).hexdigest()}"
    return LazyImage(key=key, load=TextLoad(decoded, key), where=key)


def image_key(name: str) -> str:
    """Return the key of an image by its name in own cases: its plain path, or the digest of its content.

    >>> image_key("./photos/1.png"), image_key("data:image/png;base64,iVBORw0KGgo=")
    ('photos/1.png', 'data-8c239dd0eaeefae7')
    """
    if is_image_text(name):
        with suppress(EncodingError):
            return text_image(name).key
    return plain_path(name)


def name_of(image: LazyImage) -> str:
    """Return an image as own cases write it: its key, or the image itself as a data URI."""
    return image.load.uri() if isinstance(image.load, TextLoad) else image.key
