"""Contact sheets of the smallest changes that runs with ``-m shrink`` found, to check by eye that no truth changed.

Each find is shown as the image before, the image after, and the texts with their truths; the finds of all runs are
mixed by the seed. Look at each, and count those whose texts are not as true after the change as before::

    python benchmarks/edit_sheets.py results/clip results/lxmert --number 100 --out sheets
"""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from vlgate.seeds import generator

ACROSS, DOWN = 3, 3
WIDTH, HEIGHT = 560, 345  # pixels of a find
PICTURE = (270, 210)
LETTERS = 82  # of a line


def main() -> None:
    """Write the sheets, and print how many finds they show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("sheets"))
    given = parser.parse_args()
    finds = [
        (run, json.loads(line))
        for run in given.runs
        for line in (run / "shrunk.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]
    order = generator(f"{given.seed}:edit sheets").permutation(len(finds))[: given.number]
    shown = [finds[place] for place in order]
    given.out.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, len(shown), ACROSS * DOWN), start=1):
        sheet(shown[start : start + ACROSS * DOWN], start).save(given.out / f"sheet-{number:02d}.png")
    print(f"{len(shown)} of {len(finds)} finds in {given.out}")


def sheet(finds: Sequence[tuple[Path, Mapping[str, Any]]], start: int) -> Image.Image:
    """Draw some finds side by side; ``start`` is the number of those on earlier sheets."""
    drawn = Image.new("RGB", (ACROSS * WIDTH, DOWN * HEIGHT), "white")
    pen, font = ImageDraw.Draw(drawn), ImageFont.load_default(13)
    for index, (run, find) in enumerate(finds):
        x, y = index % ACROSS * WIDTH, index // ACROSS * HEIGHT
        rows = find["requests"]
        row = next((one for one in rows if one["picture"] != one["changed_picture"]), rows[0])
        for which, name in enumerate(("picture", "changed_picture")):
            with Image.open(run / row[name]) as image:
                image.thumbnail(PICTURE)
                drawn.paste(image, (x + 4 + which * (PICTURE[0] + 6), y + 2))
        said = " and ".join(step["says"] for step in find["steps"])
        texts = [f"#{start + index + 1} {find['model']} {find['task']}: {said}", *dict.fromkeys(map(text, rows))]
        lines = [line for one in texts for line in textwrap.wrap(one, LETTERS)]
        for number, line in enumerate(lines[:8]):
            pen.text((x + 4, y + PICTURE[1] + 8 + number * 15), line, fill="black", font=font)
        pen.rectangle((x, y, x + WIDTH - 1, y + HEIGHT - 1), outline="grey")
    return drawn


def text(row: Mapping[str, Any]) -> str:
    """Return the text of a request with its truth, and what it was before if it changed."""
    before = "" if row["text"] == row["changed_text"] else f" (was: {row['text']})"
    return f"[{row['truth']}] {row['changed_text']}{before}"


if __name__ == "__main__":
    main()
