"""Write docs/images/twins.png, a normal and a counterfactual image of each kind: `python scripts/write_twins.py`."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from vlgate.fixtures.scenes.twins import CASES, questions
from vlgate.types import Ask, Case

FIGURE = Path(__file__).resolve().parents[1] / "docs" / "images" / "twins.png"
SIDE, GAP, COLUMNS = 112, 4, 3
_BETWEEN = 16  # pixels between two pairs
_COLOURS = 256


def sheet() -> Image.Image:
    """Draw the first case of each kind, in the order of the kinds, three pairs in a row."""
    pairs = list(questions(0))[::CASES]
    rows = -(-len(pairs) // COLUMNS)
    width, height = 2 * SIDE + GAP + _BETWEEN, SIDE + _BETWEEN
    drawn = Image.new("RGB", (COLUMNS * width - _BETWEEN, rows * height - _BETWEEN), "white")
    for number, case in enumerate(pairs):
        left, top = number % COLUMNS * width, number // COLUMNS * height
        for index, image in enumerate(_images(case)):
            drawn.paste(image.resize((SIDE, SIDE), Image.Resampling.LANCZOS), (left + index * (SIDE + GAP), top))
    return drawn


def _images(case: Case) -> list[Image.Image]:
    return [request.image.load() for request in case.requests if isinstance(request, Ask)]


if __name__ == "__main__":
    sheet().quantize(_COLOURS, method=Image.Quantize.FASTOCTREE).save(FIGURE, optimize=True)
