"""The boxes of a user's own cases: regions of an image, in whole pixels or with fractions as COCO has them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, floor

from vlgate.images.files import image_size
from vlgate.images.region import Pixels, region_of
from vlgate.sources.benchmarks.own_questions import Find
from vlgate.sources.reading.records import Record
from vlgate.types import LazyImage, Request, images_of

_MOST = 10**9  # pixels; also refuses infinity and numbers without end
_FORM = "[left, top, width, height] in pixels"


def boxed(record: Record, find: Find) -> Find:
    """Return a function that finds the region of an image, the ``box`` of a record.

    Raises: DataError if the field is not a box. The function raises one if the box is outside the image.
    """
    box = record.fields["box"]
    if not _is_list(box):
        record.reject("box", f"a list of four numbers, {_FORM}")
    pixels = _pixels(record, box)

    def region(record: Record, name: str) -> LazyImage:
        """Return the region of an image."""
        image = find(record, name)
        size = _size(image.where) if image.where else None
        if size is not None and (pixels[0] >= size[0] or pixels[1] >= size[1]):
            raise record.error(f"box {box} is outside the image, which has {size[0]} x {size[1]} pixels")
        return region_of(image, pixels)

    return region


def named_boxes(record: Record, requests: Sequence[Request]) -> dict[str, tuple[Pixels, ...]]:
    """Return the boxes of all that the texts of a record name, by the key of its one image.

    Raises: DataError if the field is not a list of boxes.
    """
    if "box" in record.fields:
        raise record.error("has both 'box' and 'named', but named boxes are those of a whole image")
    boxes = record.fields["named"]
    if type(boxes) is not list or not boxes or not all(map(_is_list, boxes)):
        record.reject("named", f"a list of one or more boxes, each {_FORM}")
    keys = {image.key for request in requests for image in images_of(request)}
    return dict.fromkeys(keys, tuple(_pixels(record, box) for box in boxes))


def _is_list(box: object) -> bool:
    if type(box) is not list or len(box) != 4:
        return False
    return all(type(side) in {int, float} and -_MOST <= side <= _MOST for side in box)


def _pixels(record: Record, box: Sequence[float]) -> Pixels:
    """The smallest region of whole pixels that holds a box: every pixel that it touches."""
    left, top, width, height = box
    if width <= 0 or height <= 0:
        size = f"{width:g} x {height:g} pixels, expected at least 1 x 1"
        raise record.error(f"box {box} is {size}; write [left, top, width, height]")
    # Sums such as 0.1 + 0.2 are beyond their true values by less than a millionth of a pixel.
    right, bottom = ceil(round(left + width, 6)), ceil(round(top + height, 6))
    if left < 0 or top < 0:
        begin = max(0, floor(left)), max(0, floor(top))
        inside = right > 0 and bottom > 0
        hint = f"cut it at the edge, [{begin[0]}, {begin[1]}, {right - begin[0]}, {bottom - begin[1]}]"
        where = "begins outside the image" if inside else "is outside the image"
        raise record.error(f"box {box} {where}: left and top are at least 0", hint if inside else "")
    return floor(left), floor(top), right - floor(left), bottom - floor(top)


@lru_cache(maxsize=4096)  # the lines about an image follow each other
def _size(path: str) -> tuple[int, int] | None:
    return image_size(path)
