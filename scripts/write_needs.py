"""Write docs/benchmarks/needs.md, what released benchmarks need of a model: `python scripts/write_needs.py --data DIR`.

DIR is a data folder with VALSE, VL-CheckList and SugarCrepe, or parts of them. It takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from vlgate.record.options import Options
from vlgate.studies.sensitivity.matrix import LEAST, NAMES, Cell, Matrix, asked, counted, table
from vlgate.studies.sensitivity.readings import READINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "needs.md"
SUITE = ("valse/*", "sugarcrepe/*", "vl-checklist/*")
LIMIT = 1000
BLIND = ("constant", "random", "blind", "prefers-short", "prefers-long", "prefers-frequent")
"""The models that do not look at the image; they are asked."""

PAGE_TEXT = """\
# What the instruments need

A model that cannot tell a caption from its foil can only guess. So the share of an instrument's cases in which a
defect makes caption and foil the same text says how much the instrument needs the broken faculty, and bounds what a
model with this defect can reach: `acc_r` is at most 1 less half of this share.

`vlgate analyse sensitivity --data DIR` computes it. No photograph has a scene graph that a [reader](../sensitivity.md)
could look at, so the labels say what is true: a model with a defect is right, unless caption and foil say the same to
it. Then it guesses, which counts 1/2. A text is its words in a base form, without articles. Forms of one word count as
one, because a foil with another number has other forms of its verb. The rules use a dictionary and the tables of the
ontology, not a parser, so a few texts are misread; caption and foil are misread alike.

Only defects of reading that rules on words describe can be told this way. What a model sees of an image, which synonyms
and classes of things it knows, and whom a pronoun means cannot be told from two texts.

<!-- Written by scripts/write_needs.py; change the code, then run it. -->

```console
vlgate analyse sensitivity --data DIR --suite '{suite}' --limit {limit}
```

## Defects of reading

| defect | what is broken |
|---|---|
{defects}

## What each instrument needs

At most {limit:,} cases each, of the files at hand: a part of the releases. Behind each defect stand the share of cases
in which caption and foil are the same text to it, if that is {least} or more, and the `acc_r` that follows, with its
95 % interval.

| instrument | cases | defects |
|---|---|---|
{needs}

What stands out:

- SugarCrepe's `swap_obj` is a test of word order, and VALSE's `actant-swap` is one in half of its cases: in the others
  a foil has other words, too. Of the other instruments, less than one case in a hundred needs word order.
- `existence` and `coreference-standard` need negation, or the answer, and nothing else; `coreference-standard` has that
  answer behind the tenth word. `counting-balanced` and `plurality` need numbers and quantifiers. A third or more of
  `counting-balanced` can be solved by a model that tells only none, one and several apart.
- A fourth of `add_obj` is a thing added behind "and".
- The attributes and relations of VL-CheckList need words other than nouns, and never their order. The foils of
  its objects often differ in more than the noun: another adjective, or paraphrases of the other nouns.

## All figures

`acc_r` of each defect. A dot is 1.00: the defect changes nothing. A caption that equals its foil is a guess for every
model, as in some records of VL-CheckList. The first six models were asked. They see no image,
and a tie of theirs is a miss.

```text
{matrix}
```
"""


def page(needs: str, matrix: str) -> str:
    """Return the page with these rows and this matrix."""
    return PAGE_TEXT.format(
        suite=",".join(SUITE),
        limit=LIMIT,
        least=f"{LEAST:.0%}".replace("%", " %"),
        defects="\n".join(f"| `{name}` | {NAMES[name]} |" for name in READINGS),
        needs=needs,
        matrix=matrix,
    )


def rows(found: Matrix) -> Iterator[str]:
    """Yield a row for each task: its cases, and the defects that make some of them a guess."""
    for task in found.tasks:
        cells = [cell for (name, _), cell in found.cells.items() if name == task]
        guessed = sorted(((cell.guessed or 0.0, cell) for cell in cells), key=lambda one: -one[0])
        shown = [_shown(share, cell) for share, cell in guessed if share >= LEAST]
        yield f"| `{task}` | {cells[0].metric.n:,} | {'; '.join(shown) or 'none of these'} |"


def _shown(share: float, cell: Cell) -> str:
    metric = cell.metric
    return f"`{cell.defect}` {100 * share:.0f} %: {metric.value:.2f} ({metric.low:.2f} to {metric.high:.2f})"


def main() -> int:
    """Write the page.

    Returns: the exit status.
    """
    parser = argparse.ArgumentParser(description="Write docs/benchmarks/needs.md.")
    parser.add_argument("--data", type=Path, required=True, help="a data folder with the benchmarks")
    given = parser.parse_args()
    options = Options(
        folder=Path.cwd(), data=(given.data,), suite=SUITE, limit=LIMIT, thresholds=None, results=Path("none")
    )
    found = asked(options, (*BLIND, *READINGS))
    PAGE.write_text(page("\n".join(rows(found)), "\n".join((*table(found), "", *counted(found)))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
