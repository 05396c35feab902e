"""Draw the data that every attack uses: 24 images, two tasks of caption and foil in VALSE's layout, one of questions.

Each image shows two to five squares of one colour on grey, in each image at other places, so that no case is a copy of
another. Every caption is the foil of another image as often as it is true, so a model that reads the texts only is
right in exactly half of the cases. The files are the same in every run, and hold nothing of any published benchmark.
"""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

from PIL import Image, ImageDraw

COLOURS = {"red": (220, 30, 30), "green": (30, 160, 40), "blue": (30, 60, 220), "yellow": (235, 215, 30)}
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
SQUARE, SIDE, GREY = 14, 72, (128, 128, 128)
TIMES = 2  # each pair of a true and a false word stands in this many images
THRESHOLDS = """schema = 1

[defaults]
min_cases = 20
require = ["valse/existence", "valse/counting-balanced", "drawn/colours"]

[gate."valse/*".acc_r]
min = 0.7

[gate."drawn/colours".acc]
min = 0.7
"""


def draw(folder: Path) -> None:
    """Write the data folder and, beside it, ``thresholds.toml``, whose gates ask for 0.7 in each of the three tasks."""
    colours = list(permutations(COLOURS, 2)) * TIMES
    numbers = list(permutations(NUMBERS, 2)) * TIMES
    numbers = numbers[7:] + numbers[:7]  # so that a colour does not tell the number
    for name in ("data/valse", "data/images/vg"):
        (folder / name).mkdir(parents=True)
    for index, ((colour, _), (number, _)) in enumerate(zip(colours, numbers, strict=True)):
        drawn = image(COLOURS[colour], NUMBERS[number], (index % 5, index // 5))
        drawn.save(folder / f"data/images/vg/{100 + index}.jpg", quality=95)
    write_pairs(folder / "data/valse/existence.json", "There is something {}.", colours)
    write_pairs(folder / "data/valse/counting-hard.json", "There are {} squares.", numbers)
    lines = [json.dumps(question(index, colour)) for index, (colour, _) in enumerate(colours)]
    (folder / "data/cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "thresholds.toml").write_text(THRESHOLDS, encoding="utf-8")


def image(colour: tuple[int, int, int], number: int, shift: tuple[int, int] = (0, 0)) -> Image.Image:
    """Squares on grey, in two rows; ``shift`` moves them by up to four pixels to the right and down."""
    drawn = Image.new("RGB", (SIDE, SIDE), GREY)
    for index in range(number):
        left, top = 4 + shift[0] + 22 * (index % 3), 10 + shift[1] + 32 * (index // 3)
        ImageDraw.Draw(drawn).rectangle((left, top, left + SQUARE - 1, top + SQUARE - 1), fill=colour)
    return drawn


def write_pairs(file: Path, sentence: str, words: list[tuple[str, str]]) -> None:
    """Write one task in the layout of VALSE's files."""
    records = {
        f"{file.stem}_{index:02}": {
            "dataset": "visual7w",
            "original_split": "test",
            "linguistic_phenomena": file.stem,
            "image_file": f"v7w_{100 + index}.jpg",
            "caption": sentence.format(true),
            "foil": sentence.format(false),
            "classes": true,
            "classes_foil": [false],
            "mturk": {"caption": 3, "foil": 0, "other": 0},
        }
        for index, (true, false) in enumerate(words)
    }
    file.write_text(json.dumps(records, indent=1), encoding="utf-8")


def question(place: int, colour: str) -> dict[str, object]:
    """Return a question about one image, and the same question in other words."""
    return {
        "task": "drawn/colours",
        "id": f"{place:02}",
        "image": f"images/vg/{100 + place}.jpg",
        "question": "Which colour do the squares have?",
        "answer": colour,
        "perturbed": "What is the colour of the squares?",
        "perturbed_answer": colour,
        "choices": list(COLOURS),
        "kind": "invariance",
    }
