"""The time that the cost model predicts for a run, against the time that the run takes, for models of two kinds.

The seconds per image and text, or per pair, are measured on a fifth of the cases of embedded scenes, in this process,
and ``vlgate.run.census`` makes a prediction of them. Then the whole run is started as a user starts it. Both are CPU
seconds, from the first case to the last::

    python benchmarks/proofs/hours.py tiny-clip tiny-lxmert
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from vlgate.asking.adapters import match_adapter
from vlgate.models.loading.registry import load
from vlgate.record.options import DEFAULT_BATCH, Options
from vlgate.run.census import Rates, counts_of
from vlgate.run.planning import make_plan
from vlgate.types import Match, Task

ROOT = Path(__file__).parents[2]
EVERY = 5  # one case in so many is measured
WARMING = 8  # requests
SUITE = ("scenes/foil-it", "scenes/existence", "scenes/attributes", "scenes/relations", "scenes/word-swap")
CLOCK = """
import time

starts, ends = [], []

def pytest_runtest_logreport(report):
    if report.when == "setup" and not starts:
        starts.append(time.process_time())
    ends[:] = [time.process_time()]

def pytest_sessionfinish(session):
    with open("seconds", "w") as file:
        file.write(str(ends[0] - starts[0]))
"""


def main() -> None:
    """Predict, run, print."""
    for name in sys.argv[1:] or ["tiny-clip", "tiny-lxmert"]:
        with tempfile.TemporaryDirectory() as folder:
            options = Options(
                folder=Path(folder), model=name, suite=SUITE, thresholds=None, results=Path(folder) / "out"
            )
            tasks = make_plan(options).tasks
            counts, rates = counts_of(tasks), measured_rates(load(name, folder=Path(folder)).model, tasks)
            predicted, taken = rates.seconds(counts), run(Path(folder), name)
        print(f"hours: {name}: {counts.images:,} images, {counts.texts:,} texts, {counts.requests:,} requests")
        print(
            f"hours: {name}: {rates.image * 1e3:.2f} ms an image, "
            f"{rates.text * 1e3:.2f} a text, {rates.pair * 1e3:.2f} a pair"
        )
        hours = f"{predicted / 3600:.4f} h predicted, {taken / 3600:.4f} h measured"
        print(f"hours: {name}: {hours}, {predicted / taken:.2f} x", flush=True)


def measured_rates(model: Any, tasks: Sequence[Task]) -> Rates:
    """Measure a fifth of the requests that are matches."""
    pairs = [
        request
        for task in tasks
        for case in task.cases[::EVERY]
        for request in case.requests
        if isinstance(request, Match)
    ]
    if match_adapter(model) != "encode":
        return Rates(pair=each(model.match, pairs))
    images, texts = list(dict.fromkeys(pair.image for pair in pairs)), list(dict.fromkeys(pair.text for pair in pairs))
    return Rates(image=each(model.encode_images, images), text=each(model.encode_texts, texts))


def each(method: Callable[[Sequence[Any]], object], items: Sequence[Any]) -> float:
    """The CPU seconds for each item, in full batches; a few items more warm up, because a model may keep features."""
    method(items[:WARMING])
    items = items[WARMING:]
    start = process_time()
    for first in range(0, len(items), DEFAULT_BATCH):
        method(items[first : first + DEFAULT_BATCH])
    return (process_time() - start) / len(items)


def run(folder: Path, name: str) -> float:
    """The CPU seconds of a run from its first case to its last."""
    (folder / "clock.py").write_text(CLOCK)
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", "-p", "no:cacheprovider", "-p", "clock"]
    given = [f"--model={name}", f"--suite={','.join(SUITE)}", "--results=out", "--cache=off", "--health=off"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}
    done = subprocess.run([*command, *given], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if not (folder / "out/metrics.json").exists():
        raise SystemExit(f"hours: the run ended with {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    if not json.loads((folder / "out/metrics.json").read_text())["complete"]:
        raise SystemExit("hours: the run is not complete")
    return float((folder / "seconds").read_text())


if __name__ == "__main__":
    main()
