"""Reading and judging every task of a data folder with a model that takes no time: cases per second after start-up.

``--data DIR`` names the folder (default: ``../shared/data`` next to the checkout). To compare machines, the script also
prints the time of parsing the JSON of the folder's benchmarks alone.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import numpy as np
from run_all import Row

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor, score
from vlgate.judging.verdicts import judge
from vlgate.record.options import Options
from vlgate.run.planning import make_plan
from vlgate.types import Ask, FloatArray, Match

# The released ones only: question_pairs measures the time of making cases from scene graphs.
BENCHMARKS = ("valse", "winoground", "carets", "bla", "vl-checklist", "sugarcrepe", "foil-it")


class Free:
    """Replies at once."""

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Numbers that sometimes tie."""
        return np.arange(len(pairs), dtype=np.float64) % 7

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """The first choice."""
        return [question.choices[0] for question in questions]


def main() -> None:
    """Read, ask, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared/data")
    data = parser.parse_args().data
    if not data.is_dir():
        print(f"reading_and_judging: skipped, there is no {data}; name a data folder with --data")
        return
    start = perf_counter()
    for name in BENCHMARKS:
        for file in (data / name).rglob("*.json"):
            json.loads(file.read_bytes())
    parse = perf_counter() - start
    suite = tuple(f"{name}/*" for name in BENCHMARKS if (data / name).is_dir())
    options = Options(
        folder=Path(), suite=suite, data=(data.resolve(),), items="batch", thresholds=Path(), results=Path()
    )
    start = perf_counter()
    plan = make_plan(options)
    gc.freeze()
    read = perf_counter() - start
    scorer = ModelPredictor(model=Free(), name="free", caller=Caller(name="free", size=64))
    cases = sum(len(judge(batch, score(scorer, batch))) for batch in plan.batches.values())
    seconds = perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"reading_and_judging: {cases:,} cases, {cases / seconds:,.0f} per second, bar 50,000 (reading {read:.2f} s)")
    print(f"reading_and_judging: {seconds / parse:.1f} x the time of parsing the JSON alone ({parse:.2f} s)")
    print(Row(what="cases read and judged in a second against 50,000", ratio=cases / seconds / 50_000, bar=1))
    print(Row(what="reading and judging against parsing the JSON alone, in time", ratio=seconds / parse))
    print(f"reading_and_judging: peak memory {memory:.0f} MB, bar 1,500")


if __name__ == "__main__":
    main()
