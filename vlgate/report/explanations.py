"""Explanations of missed cases: the folder explanations/ with its pictures, and lines for the terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.items import images_of_case
from vlgate.errors import ImageError
from vlgate.probes.explaining.rates import beside
from vlgate.probes.explaining.record import ATTENDS, Explained, Explanation, of_the_true_text
from vlgate.probes.explaining.regions import heat
from vlgate.record.results_folder import FOLDER, INDEX
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.types import Box, FloatArray, LazyImage, Task

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 320  # the most pixels of the longer side
# The colours of what speaks for the right answer, of what speaks against it, and of what is attended to. Blue and
# orange are told apart by people who cannot tell red from green.
FOR, AGAINST, SEEN = (0, 90, 200), (225, 100, 0), (130, 40, 150)
_STRONGEST = 0.75  # so that the image stays visible under the largest effect
_GREY = 0.65  # the share of the image that is greyscale, so that its own colours are not taken for the map's


def heat_map(image: Image, boxes: Sequence[Box], effects: FloatArray, *, seen: bool = False) -> bytes:
    from PIL.Image import Resampling, fromarray

    small = image.copy()
    small.thumbnail((SIDE, SIDE))
    grey = np.asarray(small.convert("L").convert("RGB"), dtype=np.float64)
    plain = _GREY * grey + (1 - _GREY) * np.asarray(small, dtype=np.float64)
    rough = fromarray(heat(boxes, effects).astype(np.float32))
    strength = np.asarray(rough.resize(small.size, Resampling.BILINEAR), dtype=np.float64)
    most = np.abs(strength).max()
    share = np.zeros_like(strength) if most == 0 else strength / most
    colours = np.where(share[..., None] >= 0, np.array(SEEN if seen else FOR), np.array(AGAINST))
    alpha = _STRONGEST * np.abs(share)[..., None]
    drawn = (1 - alpha) * plain + alpha * colours
    stream = BytesIO()
    fromarray(np.rint(drawn).astype(np.uint8)).save(stream, "PNG", optimize=True)
    return stream.getvalue()


SCHEMA = 1
WORDS = 12  # the most words of a text whose maps are drawn, the first ones; the index has the numbers of all

# the end of a picture's name, what the index says of it, the number of its image, and what is drawn on it
Drawn = tuple[str, Mapping[str, Any], int, Sequence[Box], FloatArray, bool]


def explained_lines(found: Explained) -> list[str]:
    lines = [f"{explanation.task}:{explanation.case}: {explanation.says}" for explanation in found.explanations]
    return [*lines, *([f"not all were explained: {found.lacking}"] if found.lacking else [])]


def write_explanations(folder: Path, found: Sequence[Explanation], tasks: Sequence[Task]) -> None:
    """Write ``explanations/``: a PNG per map, and ``index.json`` last, so that it names only pictures that exist."""
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    cases = {(task.id, case.id): case for task in tasks for case in task.cases}
    rows, methods = [], dict[str, None]()
    for number, one in enumerate(found, start=1):
        case = cases.get((one.task, one.case))
        pictures = _pictures(place, number, one, () if case is None else images_of_case(case))
        rows.append({**asdict(one), "pictures": pictures})
        for finding in one.findings:
            methods |= dict.fromkeys((finding.method, of_the_true_text(finding.method)))
        methods |= dict.fromkeys(seen.method for seen in one.attended)
    rates = {method: [rate.says for rate in beside(method)] for method in methods}
    content = {"schema": SCHEMA, "attention": ATTENDS, "rates": rates, "explanations": rows}
    write_whole(place / INDEX, json.dumps(content, ensure_ascii=False, indent=1) + "\n")


def _pictures(path: Path, number: int, explanation: Explanation, images: Sequence[LazyImage]) -> list[dict[str, Any]]:
    # Draw the maps of a case, and return what the index says of them; an image that cannot be loaded has none
    said: list[dict[str, Any]] = []
    for end, what, which, boxes, effects, seen in _maps(explanation):
        if which >= len(images):
            continue
        try:
            drawn = heat_map(images[which].load(), boxes, effects, seen=seen)
        except ImageError:
            continue
        name = f"{number:04d}-{end}.png"
        with whole_file(path / name) as part:
            part.write_bytes(drawn)
        said.append({"file": name, "image": which, **what})
    return said


def _maps(explanation: Explanation) -> Iterator[Drawn]:
    for finding in explanation.findings:
        for which in range(len(explanation.images)):
            for method, boxes, effects in finding.of_image(which):
                yield _end(method, which), {"method": method, "attention": False}, which, boxes, effects, False
    for index, seen in enumerate(explanation.attended, start=1):
        about = {"method": seen.method, "text": seen.text, "attention": True}
        end = _end(f"{seen.method}-{index}", seen.image)
        yield end, about, seen.image, seen.boxes, np.array(seen.weights, dtype=np.float64), True
        aligned = zip(seen.words[:WORDS], seen.aligned[:WORDS], strict=True)
        for number, (word, weights) in enumerate(aligned, start=1):
            of_word = {"method": seen.method, "text": seen.text, "word": word, "attention": True}
            drawn = np.array(weights, dtype=np.float64)
            yield f"{end}-{number}", of_word, seen.image, seen.boxes, drawn, True


def _end(method: str, image: int) -> str:
    return f"{method.lower().replace(':', '').replace(' ', '-')}-{chr(ord('A') + image)}"
