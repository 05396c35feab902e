"""The images of a page, as small data URIs within a budget."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np

from vlgate.comparing.cases import image_of
from vlgate.errors import ImageError, printable
from vlgate.metrics.clusters import BETWEEN
from vlgate.report.page.records import Picture
from vlgate.types import Case, LazyImage, images_of

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 256
"""The most pixels of the longer side of an image."""
THUMB = 112
"""The most pixels of the longer side of an image beside a sentence."""
BUDGET = 9_000_000
"""The most bytes of the images of a page, as they are written, each as often as it is shown."""
SHARE = 0.7
"""The part of the budget that is not kept for the worst and the newly broken cases."""
MOST = 900
"""The most different images of a page: a photograph takes about 15 ms."""
UNKNOWN = "the image cannot be found again: the run's data were moved or changed"

_QUALITY = 78


class Pictures:
    """Turns the images of cases into data URIs, until the budget is spent; each image is loaded once."""

    def __init__(self) -> None:
        """Begin with the whole budget."""
        self.left_out = 0
        self._bytes = 0
        self._made: dict[LazyImage, Picture] = {}

    def of(
        self, keys: Sequence[str | None], case: Case | None, *, kept: bool
    ) -> tuple[list[Picture], list[tuple[int, ...]]]:
        """Return the different images of a case, and which of them each request shows, in order.

        Args:
            keys: the keys of the requests' images, as the run wrote them; see ``comparing.cases.image_of``.
            case: the case with its images; None if it cannot be read again.
            kept: whether it is one of the cases for which a part of the budget is kept.
        """
        requests = () if case is None else case.requests
        if [image_of(one) for one in requests] != list(keys):
            several = [() if key is None else tuple(key.split(BETWEEN)) for key in keys]
            distinct = list(dict.fromkeys(key for some in several for key in some))
            places = [tuple(map(distinct.index, some)) for some in several]
            return [Picture(key=key, problem=UNKNOWN) for key in distinct], places
        shown = list(dict.fromkeys(image for one in requests for image in images_of(one)))
        places = [tuple(map(shown.index, images_of(one))) for one in requests]
        return [self._picture(image, kept=kept) for image in shown], places

    def small(self, picture: Picture) -> Picture:
        """Return an image again, at the size that stands beside a sentence."""
        from PIL.Image import open as decoded

        if not picture.source:
            return picture
        with decoded(BytesIO(b64decode(picture.source.partition(",")[2]))) as image:
            source = encoded(image, THUMB)
        self._bytes += len(source)
        return replace(picture, source=source)

    def _picture(self, image: LazyImage, *, kept: bool) -> Picture:
        if self._bytes > BUDGET * (1.0 if kept else SHARE) or (image not in self._made and len(self._made) >= MOST):
            self.left_out += 1
            return Picture(key=image.key, problem="left out, because the page has its most images")
        if image not in self._made:
            self._made[image] = _drawn(image)
        self._bytes += len(self._made[image].source)
        return self._made[image]


def _drawn(image: LazyImage) -> Picture:
    try:
        return Picture(key=image.key, source=encoded(image.load(), SIDE))
    except ImageError as error:
        return Picture(key=image.key, problem=printable(str(error)))


def encoded(image: Image, side: int) -> str:
    """Return an image as a data URI, with at most ``side`` pixels on its longer side."""
    import cv2
    from PIL import Image

    share = side / max(image.size)
    if share < 1:  # OpenCV takes a fifth of the time of Pillow
        size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
        image = Image.fromarray(cv2.resize(np.asarray(image), size, interpolation=cv2.INTER_AREA))
    stream = BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY)
    return f"data:image/jpeg;base64,{b64encode(stream.getvalue()).decode()}"
