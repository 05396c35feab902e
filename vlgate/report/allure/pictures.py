"""The images of cases, as they stand in a page of Allure, and pairs of them as its viewer of differences reads them."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from vlgate import types
from vlgate.errors import ImageError, printable
from vlgate.metrics.clusters import photograph
from vlgate.report.allure.results import Attachment
from vlgate.types import LazyImage, Verdict

if TYPE_CHECKING:
    from PIL.Image import Image

DIFFERENCE = "application/vnd.allure.image.diff"
"""What Allure 2 and 3 show as two images side by side, over each other, and with a slider."""
SIDE = 480
"""The most pixels of the longer side of a shown image."""

_SMALL = 160  # images up to this side are PNG, because one pixel may be a whole object


class Pictures:
    """Loads each image once for the cases of one task, and encodes it."""

    def __init__(self) -> None:
        """Begin without an image."""
        self._loaded: dict[LazyImage, Image | str] = {}
        self._encoded: dict[LazyImage, str] = {}

    def source(self, image: LazyImage) -> str:
        """Return an image as a data URI, or an empty text if it cannot be loaded."""
        if image not in self._encoded:
            found = self._small(image)
            self._encoded[image] = "" if isinstance(found, str) else _uri(found)
        return self._encoded[image]

    def problem(self, image: LazyImage) -> str:
        """Return why an image cannot be loaded; empty if it can."""
        found = self._small(image)
        return found if isinstance(found, str) else ""

    def attached(self, images: Sequence[LazyImage]) -> tuple[Attachment, ...]:
        """Return the images of a case as files, which Allure 2 needs: it shows no image in a page.

        Two images become one file for Allure's viewer of differences, the unchanged one first.
        """
        found = [image for image in images if not self.problem(image)]
        if len(found) != 2:
            return tuple(self._file(image) for image in found)
        first, second = self._in_order(found)
        shown = {"expected": self.source(first), "actual": self.source(second)}
        if changed := self.changed(found):
            shown["diff"] = changed
        data = json.dumps(shown).encode()
        return (Attachment(name=f"{first.key} and {second.key}", kind=DIFFERENCE, ending="imagediff", data=data),)

    def changed(self, images: Sequence[LazyImage]) -> str:
        """Return the changed one of two images as a data URI; all that is equal in both is pale.

        Returns: an empty text if neither image was made from the other one nor both from one in the same size, or one
            of them cannot be loaded.
        """
        from PIL import Image, ImageChops

        if len(images) != 2:
            return ""
        first, second = self._in_order(images)
        one, other = self._small(first), self._small(second)
        if isinstance(one, str) or isinstance(other, str):
            return ""
        siblings = photograph(first.key) == photograph(second.key) and one.size == other.size
        if not siblings and not second.key.startswith(f"{first.key}#"):
            return ""
        other = other if other.size == one.size else other.resize(one.size)
        changed = ImageChops.difference(one, other).convert("L").point([0] * 16 + [255] * 240)
        pale = Image.blend(other, Image.new("RGB", other.size, (255, 255, 255)), 0.8)
        return _uri(Image.composite(other, pale, changed))

    def _in_order(self, images: Sequence[LazyImage]) -> Sequence[LazyImage]:
        """Two images, the one that the other was made from first."""
        return images[::-1] if images[0].key.startswith(f"{images[1].key}#") else images

    def _file(self, image: LazyImage) -> Attachment:
        kind, _, data = self.source(image).removeprefix("data:").partition(";base64,")
        return Attachment(name=image.key, kind=kind, ending=kind.removeprefix("image/"), data=b64decode(data))

    def _small(self, image: LazyImage) -> Image | str:
        if image not in self._loaded:
            try:
                small = image.load().copy()
                small.thumbnail((SIDE, SIDE))
                self._loaded[image] = small
            except ImageError as error:
                self._loaded[image] = printable(str(error))
        return self._loaded[image]


def images_of(verdict: Verdict) -> list[LazyImage]:
    """Return the different images of a case, in the order in which they were asked about."""
    return list(dict.fromkeys(image for request in verdict.case.requests for image in types.images_of(request)))


def _uri(image: Image) -> str:
    kind = "png" if max(image.size) <= _SMALL else "jpeg"
    data = BytesIO()
    image.save(data, kind.upper(), quality=85)
    return f"data:image/{kind};base64,{b64encode(data.getvalue()).decode()}"
