"""How far figures of ``--quick`` lie from those of all cases: `python benchmarks/quick_error.py [--draws 400]`.

Recorded verdicts on each case are drawn from again and again, as ``--quick`` does, and at random: those of two models
on BiVLC, of GPT-4V and LLaVA on ColorSwap, and of GPT-4V on SugarCrepe, as their authors release them (``--data``). Of
each figure are printed what it is over all cases, and how far the samples are off: on average, and in 95 of 100 draws.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from run_all import Row

from vlgate.images.files import missing_image
from vlgate.record.options import QUICK_CASES
from vlgate.run.planning import sample
from vlgate.run.sampling import quick_sample
from vlgate.types import Case, Match, Task

DATA = Path(__file__).parents[2] / "shared/data"
BAR = 1.02
"""The mean ratio of errors that is allowed; 400 draws tell it to 0.01."""
_FIRST = {"image": re.compile(r"(?i)(?:^|\()\s*([AB])\b"), "caption": re.compile(r"(?i)\b(first|second)\b")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A task and a model's recorded verdicts on its cases: 1 or 0 by metric and id of the case."""

    model: str
    task: Task
    verdicts: Mapping[str, Mapping[str, float]]


def recorded(data: Path) -> Iterator[Recorded]:
    """Yield the recorded verdicts that a data folder has."""
    for file in sorted((data / "more/bivlc/results").glob("BiVLC_*.csv")):
        with file.open(newline="") as stream:
            rows = list(csv.DictReader(stream))
        for kind in ("replace", "swap", "add"):
            some = {str(number): row for number, row in enumerate(rows) if row["type"] == kind}
            said = {
                name: {one: float(row[f"{name}_score"] == "True") for one, row in some.items()}
                for name in ("text", "image", "group")
            }
            tags = {one: {"subtype": row["subtype"]} for one, row in some.items()}
            yield Recorded(model=file.stem.removeprefix("BiVLC_"), task=_task(f"bivlc/{kind}", tags), verdicts=said)
    for file in sorted((data / "more/colorswap/vlm_results").glob("*.json")):
        found = {str(row["id"]): _both(row) for row in json.loads(file.read_text())}
        yield Recorded(
            model=file.stem,
            task=_task("colorswap/test", {one: {} for one in found}),
            verdicts={file.stem.partition("-")[0]: found},
        )
    for file in sorted((data / "recorded-outputs/sugarcrepe-gpt4v/negative-first").glob("gpt4v-*.json")):
        right = {one: float(row["correct"]) for one, row in json.loads(file.read_text()).items()}
        name = file.stem.removeprefix("gpt4v-")
        task = _task(f"sugarcrepe/{name}", {one: {} for one in right})
        yield Recorded(model="gpt4v", task=task, verdicts={"acc_r": right})


def _both(row: Mapping[str, Any]) -> float:
    """Whether both answers of a record are right: the option or the image that an answer names first counts."""
    asked = "image" if "response_image_1" in row else "caption"
    named = [_FIRST[asked].search(row[f"response_{asked}_{which}"]) for which in (1, 2)]
    said = [found[1].lower() if found else "" for found in named]
    return float(said == [row[f"log_{which}"]["correct_answer"].lower() for which in (1, 2)])


def _task(name: str, tags: Mapping[str, Mapping[str, str]]) -> Task:
    image = missing_image("any", ())
    asked = tuple(Match(image=image, text=text) for text in ("true", "false"))
    cases = tuple(Case(id=one, requests=asked, truths=(True, False), tags=tag) for one, tag in tags.items())
    return Task(id=name, capability="foil", shape="pair", cases=cases)


def errors(one: Recorded, draws: int) -> dict[str, tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
    """Return by metric the figure over all cases, and how far ``--quick`` and a plain sample are off in each draw."""
    quick = [[case.id for case in quick_sample(one.task, f"{draw}").cases] for draw in range(draws)]
    plain = [[case.id for case in sample(one.task, QUICK_CASES, f"{draw}").cases] for draw in range(draws)]
    found = {}
    for metric, verdict in one.verdicts.items():
        whole = float(np.mean(list(verdict.values())))
        off = [np.array([np.mean([verdict[case] for case in ids]) - whole for ids in draw]) for draw in (quick, plain)]
        found[metric] = (whole, off[0], off[1])
    return found


def kept(task: Task, draws: int) -> tuple[float, float]:
    """Return in what share of the draws ``--quick`` and a plain sample have a case of every slice."""
    slices = {part for case in task.cases for part in case.tags.items()}

    def whole(some: Task) -> bool:
        return {part for case in some.cases for part in case.tags.items()} == slices

    return (
        float(np.mean([whole(quick_sample(task, f"{draw}")) for draw in range(draws)])),
        float(np.mean([whole(sample(task, QUICK_CASES, f"{draw}")) for draw in range(draws)])),
    )


def main(arguments: Sequence[str]) -> int:
    """Print a line per figure, then the ratio of the errors of both samples.

    Returns: the exit status: 1 if ``--quick`` is farther off than a plain sample of as many cases.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=400, metavar="N")
    parser.add_argument("--data", type=Path, default=DATA, metavar="DIR")
    given = parser.parse_args(arguments)
    ratios, off = [], []
    for one in recorded(given.data):
        for metric, (whole, quick, plain) in errors(one, given.draws).items():
            mean, most = np.abs(quick).mean(), np.quantile(np.abs(quick), 0.95)
            ratios.append(float(np.sqrt((quick**2).mean() / (plain**2).mean())))
            off.append(np.abs(quick))
            print(
                f"{one.task.id} {metric} of {one.model}: {whole:.3f} over {len(one.task.cases):,} cases; off by "
                f"{mean:.3f}, in 95 % at most {most:.3f}, on average {quick.mean():+.3f}; "
                f"plain {np.abs(plain).mean():.3f}"
            )
        if any(case.tags for case in one.task.cases):
            quick_kept, plain_kept = kept(one.task, min(100, given.draws))
            print(f"{one.task.id}: a case of every slice in {quick_kept:.2f} of draws; plain {plain_kept:.2f}")
    if not ratios:
        print(f"quick sample: skipped, because {given.data} has no recorded verdicts")
        return 0
    every = np.concatenate(off)
    print(f"{len(ratios)} figures: off by {every.mean():.3f}, in 95 % at most {np.quantile(every, 0.95):.3f}")
    row = Row(
        what="--quick: error of a figure, against a plain sample", ratio=float(np.mean(ratios)), bar=BAR, most=True
    )
    print(row)
    return int(not row.holds)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
