"""Write the model cards of ``tiny-lxmert`` and ``tiny-clip``: run the drawn tasks of ten seeds on both and their twins.

``make train`` calls this after the training; the twins are in ``build/train``. Two runs go on at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from train.cards import Figure, card
from train.recipe import CLIP, LXMERT

from vlgate.metrics.shapes import headlines

ROOT = Path(__file__).resolve().parents[1]
SEEDS = range(10)
TWINS: Mapping[str, str] = {LXMERT: "train.blank:lxmert", CLIP: "train.blank:clip"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the suite: a model on the drawn tasks of a seed."""

    model: str
    seed: int
    results: Path


def main() -> None:
    """Run the suite and write the cards."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--out", type=Path, default=ROOT / "fixtures/checkpoints", help="folder of the two models")
    parser.add_argument("--work", type=Path, default=ROOT / "build/train", help="folder of the twins")
    parser.add_argument("--only", choices=[LXMERT, CLIP], help="write one of the cards")
    given = parser.parse_args()
    for name in [given.only] if given.only else [LXMERT, CLIP]:
        family = "lxmert" if name == LXMERT else "open_clip"
        results = given.work / "results"
        models = {"own": f"{family}:{given.out / name}", "twin": f"{TWINS[name]}:{given.work / name}"}
        runs = [
            Run(model=model, seed=seed, results=results / f"{name}-{which}-{seed}")
            for which, model in models.items()
            for seed in SEEDS
        ]
        with ThreadPoolExecutor(2) as pool:
            found = list(pool.map(figures, runs))
        text = card(name, found[: len(SEEDS)], found[len(SEEDS) :])
        (given.out / name / "README.md").write_text(text, encoding="utf-8")


def figures(run: Run) -> dict[str, Figure]:
    """Run the suite, unless its results are there, and return the main metric of each task.

    Raises: RuntimeError if the run ends without figures.
    """
    file = run.results / "metrics.json"
    if not file.is_file():
        _ask(run)
    tasks: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))["tasks"]
    return {name: _headline(task) for name, task in tasks.items()}


def _ask(run: Run) -> None:
    options = ["--suite=scenes/*", f"--model={run.model}", f"--seed={run.seed}", f"--results={run.results}"]
    options += ["--controls=none", "--cache=off"]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--overwrite", *options]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")])}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if not (run.results / "metrics.json").is_file():
        raise RuntimeError(f"the suite did not run:\n{ended.stdout}\n{ended.stderr}")


def _headline(task: Mapping[str, Any]) -> Figure:
    name = next(name for name in headlines() if name in task["metrics"])
    metric = task["metrics"][name]
    kinds = {
        kind.removeprefix("question_type="): (found["acc_original"]["value"], found["acc_original"]["n"])
        for kind, found in task["slices"].items()
        if kind.startswith("question_type=")
    }
    return Figure(
        metric=name,
        value=metric["value"],
        low=metric["low"],
        high=metric["high"],
        n=metric["n"],
        deff=metric["deff"],
        chance=metric["chance"],
        kinds=kinds,
    )


if __name__ == "__main__":
    main()
