"""Where the object of a case stands in its image, and how large it is (Zhao et al. 2022, §3.1)."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from vlgate.errors import DataError
from vlgate.perturb.graph_texts.geometry import place_of, size_of
from vlgate.perturb.scene_graph import Box
from vlgate.sources.reading.json_file import read_text

LOCATIONS = ("center", "mid", "margin")
SIZES = ("large", "medium", "small")

_NUMBERS = ("x", "y", "w", "h", "width", "height")
_TITLES = ("task", "case", *_NUMBERS)
_REMEDY = f"name a file with commas between the cells and the titles {', '.join(_TITLES)}"
_OF_TASK = re.compile(r"(?:^|/)object[/-](location|size)(?:/(\w+))?(?:/|$)")

Placed = Mapping[tuple[str, str], Mapping[str, str]]
"""The ``location`` and ``size`` of the object of each case, by task and case."""


def read_boxes(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Read the box of each case's object, in pixels of its image, and class it by place and by area.

    The first line has the titles ``task,case,x,y,w,h,width,height``: the box's upper left corner, its width and
    height, and those of the image. Up to a third of half the diagonal from the image's centre an object is in the
    ``center``, up to two thirds ``mid``, else at the ``margin``; up to 1,024 square pixels it is ``small``, up to 9,216
    ``medium``, else ``large``. So the size depends on the resolution of the image.

    Raises: DataError, which names the file and line, if it is not such a file.
    """
    rows = csv.DictReader(read_text(file, _REMEDY).splitlines())
    if set(rows.fieldnames or ()) != set(_TITLES):
        raise DataError(file, None, f"has the titles {', '.join(rows.fieldnames or ())[:60]!r}", _REMEDY)
    found: dict[tuple[str, str], dict[str, str]] = {}
    for number, row in enumerate(rows, 2):
        x, y, w, h, width, height = (_number(file, number, name, row[name]) for name in _NUMBERS)
        if min(w, h, width, height) <= 0:
            raise DataError(file, f"on line {number}", "a width or height is not above 0", "correct that line")
        box = Box(x=x, y=y, w=w, h=h)
        found[row["task"], row["case"]] = {"location": place_of(box, (width, height)), "size": size_of(box)}
    return found


def classes_of(task: str, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the location or size of a case's object as its task or its tags say it; empty if they do not.

    >>> classes_of("vl-checklist/object/location/margin/hake", {})
    {'location': 'margin'}
    >>> classes_of("scenes/object-size", {"size": "small"}), classes_of("scenes/attribute-size", {"size": "small"})
    ({'size': 'small'}, {})
    """
    named = _OF_TASK.search(task)
    if named is None:
        return {}
    kind, value = named[1], named[2] or tags.get(named[1], "")
    return {kind: value} if value in {*LOCATIONS, *SIZES} else {}


def _number(file: Path, line: int, name: str, text: str | None) -> float:
    try:
        value = float(text or "")
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise DataError(file, f"on line {line}", f"{name}={text!r}, expected a number", _REMEDY)
    return value
