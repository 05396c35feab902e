"""Write docs/sensitivity.md, which task catches which defect: `python scripts/write_sensitivity.py`.

It asks all drawn tasks of all models with a defect, which takes a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from vlgate.run.options import Options
from vlgate.sensitivity.asking import NAMES, asked
from vlgate.sensitivity.claims import claims
from vlgate.sensitivity.matrix import Matrix
from vlgate.sensitivity.pages import lines

PAGE = Path(__file__).resolve().parents[1] / "docs" / "sensitivity.md"

INTRODUCTION = """\
# What the tasks catch

A test of word order is worth something only if a model that ignores word order fails it, and if a model that ignores
colours passes. `vlgate sensitivity` shows this for the drawn tasks. It asks each of them of models with one defect:

- the `reader`, a model that parses each text by itself and looks at the scene graph that the image is drawn from, with
  one faculty broken: what it takes a text to say, what it sees of a scene, or which words it knows;
- models that do not look at the image.

`claims.toml` says which faculties each task needs. A task must catch the defects of these faculties: the whole interval
of its main metric lies below the figure of the intact reader, which is 1. It must catch no others: its figure is at
least 0.95 of that of the intact reader. `vlgate sensitivity` ends with status 1 if a cell is not as claimed, and
`--out DIR` writes a heat map. Each model runs by its name, too: `--model=reader`, `--model=defect:colour-blind`.

A defect that no task claims to catch is a gap of the drawn tasks: none of them names a thing by a synonym.

What released benchmarks need is on [a page of its own](benchmarks/needs.md).

<!-- Written by scripts/write_sensitivity.py; change the code or the claims, then run it. -->

## Defects

| defect | what is broken | faculty |
|---|---|---|
{defects}

## What each task needs

| task | faculties |
|---|---|
{needs}

## The matrix

The main metric of each task for each defect, seed 0. A dot is the figure of the intact model.

```text
{matrix}
```
"""


def page(matrix: str) -> str:
    """Return the page with this table."""
    return INTRODUCTION.format(defects="\n".join(_defects()), needs="\n".join(_needs()), matrix=matrix)


def table() -> str:
    """Make the matrix of all drawn tasks, and return it as the command prints it."""
    found: Matrix = asked(Options(folder=Path.cwd(), thresholds=None, results=Path("none")), tuple(NAMES))
    return "\n".join(lines(found))


def _defects() -> Iterator[str]:
    faculties = claims().faculties
    yield from (f"| `{name}` | {says} | {faculties[name]} |" for name, says in NAMES.items())


def _needs() -> Iterator[str]:
    known = claims()
    order = list(dict.fromkeys(known.faculties.values()))
    for task, needs in known.needs.items():
        yield f"| `{task}` | {', '.join(sorted(needs, key=order.index))} |"


def main() -> int:
    """Write the page.

    Returns: the exit status.
    """
    PAGE.write_text(page(table()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
