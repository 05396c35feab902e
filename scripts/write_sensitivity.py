"""Write docs/sensitivity.md, which task catches which defect: `python scripts/write_sensitivity.py`.

It asks all drawn tasks of all models with a defect, which takes a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from vlgate.record.options import Options
from vlgate.studies.sensitivity.matrix import NAMES, Matrix, asked, claims, lines

PAGE = Path(__file__).resolve().parents[1] / "docs" / "sensitivity.md"

INTRODUCTION = """\
# What the tasks catch

```console
vlgate analyse sensitivity --seed 0,1,2 --out DIR
```

A test of word order is worth something only if a model that ignores word order fails it, and a model that ignores
colours passes. `vlgate analyse sensitivity` shows this for each drawn task with models that have one defect:

- the `reader`, a model that parses each text by itself and looks at the image's scene graph, with one faculty broken:
  parsing, perception of the scene, or vocabulary;
- models that do not look at the image.

`claims.toml` claims the faculties that each task needs. A task must catch the defects of these faculties, and no
others. It catches a defect if the whole 95 % interval of its main metric is at most 0.95 of the figure of the intact
reader, which is 1. A figure below 1 with an interval that reaches above 0.95 decides nothing, and has a question mark.
A task claims no faculty that only some of its cases need.

The status is 1 if a cell is not as claimed; the claims hold on each of several seeds. `--out DIR` writes a heat map.
Each model runs by its name, too: `--model=reader`, `--model=defect:colour-blind`.

A defect that no task claims to catch is a gap of the drawn tasks: none of them names a thing by a synonym.

What released benchmarks need is on [a page of its own](benchmarks/needs.md).

<!-- Written by scripts/write_sensitivity.py; change the code or the claims, then run it. -->

## Defects

| defect | what is broken | faculty |
|---|---|---|
{defects}

## What each task needs

| task | faculties | faculties that some of its cases need |
|---|---|---|
{needs}

## The matrix

The main metric of each task for each defect, seed 0. A dot is the figure of the intact model, printed with its
interval behind the task's name. Below are the intervals of all other cells.

```text
{matrix}
```
"""


def page(matrix: str) -> str:
    """Return the page with this table."""
    return INTRODUCTION.format(defects="\n".join(_defects()), needs="\n".join(_needs()), matrix=matrix)


def table() -> str:
    """Make the matrix of all drawn tasks, and return it as the command prints it."""
    matrix: Matrix = asked(Options(folder=Path.cwd(), thresholds=None, results=Path("none")), tuple(NAMES))
    return "\n".join(lines(matrix))


def _defects() -> Iterator[str]:
    faculties = claims().faculties
    yield from (f"| `{name}` | {says} | {faculties[name]} |" for name, says in NAMES.items())


def _needs() -> Iterator[str]:
    known = claims()
    order = list(dict.fromkeys(known.faculties.values()))
    for task, needs in known.needs.items():
        some = sorted(known.some.get(task, ()), key=order.index)
        yield f"| `{task}` | {', '.join(sorted(needs, key=order.index))} | {', '.join(some)} |"


def main() -> int:
    """Write the page.

    Returns: the exit status.
    """
    PAGE.write_text(page(table()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
