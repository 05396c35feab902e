"""Write docs/shortcuts.md, which cases text alone solves: `python scripts/write_shortcuts.py --data DIR`.

DIR is a data folder with VALSE, CARETS, BLA, VL-CheckList and SugarCrepe, or parts of them. It takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path

import numpy as np

from vlgate.audit.shortcuts import PROBES, Shortcuts, by_luck, shortcuts
from vlgate.record.options import Options
from vlgate.run.planning import make_plan, sample
from vlgate.studies.analyses.shortcuts import chance_of
from vlgate.types import Ask, Match, Metric, Task

PAGE = Path(__file__).resolve().parents[1] / "docs" / "shortcuts.md"
SUITE = ("valse/*", "carets/*", "bla/*", "vl-checklist/*", "sugarcrepe/*", "winoground/*")
LIMIT = 2_000
"""The most cases of a task: a share is then within 0.022 of that of all cases, 19 times in 20."""
BEYOND = f"beyond --limit {LIMIT}"
QUOTED = 32
"""The most characters of a text of others that the page quotes."""

PAGE_TEXT = """\
# Text shortcuts

```console
vlgate analyse shortcuts RUN
```

`vlgate analyse shortcuts` asks three text-only probes which cases are solved without the image.
[The guide](guides/text-shortcuts.md) shows it on a run.

## The probes

| probe | what it reads | how |
|---|---|---|
| `words` | words and pairs of neighbours | naive Bayes, the text-only baseline of every run |
| `form` | length, rare words, numbers, negations, punctuation marks, "a" before a vowel | 14 marks of the text |
| | overlap with the other texts about its image, its place in the alphabet | 4 comparisons |
| `likelihood` | likelihood of the text | a causal language model: see below |

Of a question, `form` reads the words and the order of choices. `likelihood` takes trigrams of the true texts about
other images, interpolated with fixed weights (Jelinek and Mercer 1980). `--lm NAME` takes a causal model of
transformers instead, from a repository or a folder.

A conditional logit model (McFadden 1974) turns a probe's features into the probability of each candidate. The
**score** of a case is the probability of the truth; of several comparisons, the lowest. A probe **solves** a case
if the score is at least 0.75.

- Everything is cross-fitted by image, in ten folds (nested cross-validation).
- If each of six words is true equally often, a word that is rarely true elsewhere is true here. So that the probes do
  not learn such balance, words and likely texts speak only for a candidate, and a fold's weights count only if they
  raise the log-likelihood of the other folds by more than their number (Akaike 1974).
- With random truths, and with truths balanced exactly over two to twelve words, the probes are within 0.02 of chance
  at 40 to 1,000 cases (`benchmarks/shortcuts_at_chance.py`).
- A task with fewer than ten images has no scores.
- In a 2x2 such as Winoground's, each caption is true of one image and false of the other, so text solves no case.

## Cases that nobody solves blind

`vlgate analyse shortcuts RUN` prints a metric over three sets of cases: all, those that no probe solves, and
those without a sure probe.

The second set is a selection: cases that a probe gets *wrong* stay while solved ones go. A guessing model stays at
chance, but text alone, and a model with the same habits, reaches less. The column *text alone* has the best probe's
figure on the same cases. The third set drops a probe's sure cases whether right or wrong, and has no such effect.

## What was found

<!-- Written by scripts/write_shortcuts.py; change the code, then run it. -->

Available parts of the benchmarks: {counts}. Of a task
with more than {limit:,} cases, as many are drawn at random.

```console
python scripts/write_shortcuts.py --data DIR
```

The column of a probe has its accuracy on all cases, with the 95 % interval. *any*, *all three* and *none* have the
share of cases that at least one probe, all three, and no probe solve, *by luck* the share of *any* with random truths.

{table}

{not_run}

Winoground's captions are missing, because its release is gated. `scenes/word-swap`, the drawn task of its shape,
has {swaps}.

## The surest cases

The case of each task of which all three probes together are surest, and the words of only one of its texts.

{examples}
"""
HEADS = ("task", "cases", "chance", *PROBES, "any", "all three", "none", "by luck")


def main(arguments: Sequence[str]) -> int:
    """Write the page.

    Returns: the exit status.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", action="append", required=True, type=Path, metavar="DIR")
    given = parser.parse_args(arguments)
    folders = tuple(folder.resolve() for folder in given.data)
    drawn = next(iter(tasks_of((), ("scenes/word-swap",))))
    found = [(task, shortcuts(task)) for task in tasks_of(folders, SUITE)]
    rows = [row(task, one, by_luck(task)) for task, one in found if not one.note]
    PAGE.write_text(page(found, rows, shortcuts(drawn)), encoding="utf-8")
    return 0


def tasks_of(folders: tuple[Path, ...], suite: tuple[str, ...]) -> Iterator[Task]:
    """Yield the tasks of some data folders, with at most LIMIT cases each."""
    here = Path.cwd()
    for pattern in suite:
        if folders and not any((folder / pattern.partition("/")[0]).is_dir() for folder in folders):
            continue
        options = Options(folder=here, data=folders, suite=(pattern,), thresholds=None, results=here)
        yield from (sample(task, LIMIT, f"0:shortcuts:{task.id}") for task in make_plan(options).tasks)


def page(found: Sequence[tuple[Task, Shortcuts]], rows: Sequence[str], drawn: Shortcuts) -> str:
    """Return the text of the page."""
    counts: dict[str, int] = {}
    for task, _ in found:
        counts[task.benchmark] = counts.get(task.benchmark, 0) + len(task.cases) + task.left_out.get(BEYOND, 0)
    heads = [_line(HEADS), _line(["---", *["---:"] * (len(HEADS) - 1)])]
    surest = [line for task, one in found if not one.note for line in _surest(task, one)]
    return PAGE_TEXT.format(
        limit=LIMIT,
        counts=", ".join(f"{name} {number:,} cases" for name, number in counts.items()),
        table="\n".join([*heads, *rows]),
        not_run="\n".join(f"- `{task.id}` ({len(task.cases)} cases): {one.note}" for task, one in found if one.note),
        swaps=f"{int((drawn.solved_blind > 0).sum())} of {len(drawn.cases)} solved cases",
        examples="\n".join(["| task | case | only true | only false |", "|---|---|---|---|", *surest]),
    )


def row(task: Task, one: Shortcuts, luck: float) -> str:
    """Return the line of a task in the table."""
    reached = [one.reached(probe) for probe in PROBES]
    counts, chance = one.solved_blind, chance_of(task)
    share = one.share(counts > 0)
    return _line(
        [
            f"`{task.id}`",
            f"{len(task.cases):,}",
            "-" if chance is None else f"{chance:.2f}",
            *(
                "-" if metric is None else f"{metric.value:.2f} ({metric.low:.2f}-{metric.high:.2f})"
                for metric in reached
            ),
            "-" if share is None else f"{share.value:.2f} ({share.low:.2f}-{share.high:.2f})",
            f"{float((counts == len(PROBES)).mean()):.2f}",
            f"{float((counts == 0).mean()):.2f}",
            "-" if isnan(luck) else f"{luck:.3f}",
        ]
    )


def _measured(metric: Metric | None) -> str:
    return "-" if metric is None else f"{metric.value:.2f} ({metric.low:.2f}-{metric.high:.2f})"


def _surest(task: Task, one: Shortcuts) -> Iterator[str]:
    place = int(np.argmax(one.scores.prod(axis=1)))
    if not one.solved_blind[place]:
        return
    case = task.cases[place]
    if isinstance(case.requests[0], Ask):
        questions = [request.question for request in case.requests if isinstance(request, Ask)]
        yield _line([f"`{task.id}`", f"`{case.id}`", _quoted(str(case.truths[0])), f"asked: {_quoted(questions[0])}"])
        return
    true, false = (
        [word for r, truth in zip(case.requests, case.truths, strict=True) if truth is side and isinstance(r, Match)
         for word in r.text.split()]
        for side in (True, False)
    )  # fmt: skip
    only = [" ".join(word for word in words if word not in others) for words, others in ((true, false), (false, true))]
    yield _line([f"`{task.id}`", f"`{case.id}`", *map(_quoted, only)])


def _quoted(text: str) -> str:
    plain = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return (plain if len(plain) <= QUOTED else f"{plain[: QUOTED - 3]}...") or "(nothing)"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
