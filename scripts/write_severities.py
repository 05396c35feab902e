"""Write docs/severities.md, accuracy by severity of a perturbation: `python scripts/write_severities.py`.

It asks the trained models about the same drawn cases at every severity, which takes a quarter of an hour.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from severities.curves import Curve, curves, right
from severities.figure import figure
from severities.page import page

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.metrics.stats import proportion
from vlgate.models.loading.registry import load
from vlgate.perturb.images import PERTURBATIONS
from vlgate.perturb.question_tests import VISUAL
from vlgate.sources.scenes.made import tasks as question_tasks
from vlgate.sources.scenes.scenes import shipped
from vlgate.types import Task

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, FIGURE = DOCS / "severities.md", DOCS / "images" / "severities.svg"
MODELS = ("tiny-lxmert", "tiny-clip")
TASKS = ("existence", "foil-it", "attributes", "attribute-state")
"""Tasks that ask for what is in the image; all of them are solved by ``tiny-lxmert``."""
SEEDS = range(12)
"""The seeds of the questions about images with a hidden background: 16 questions each."""
FAMILIES = tuple(
    sorted(
        {
            perturbation.family
            for perturbation in PERTURBATIONS.values()
            if perturbation.name == f"{perturbation.family}-1"
        }
    )
)


def predictor(name: str) -> ModelPredictor:
    """Load a model of the package."""
    loaded = load(name, folder=Path.cwd(), device="cpu")
    return ModelPredictor(model=loaded.model, name=name, caller=Caller(name=name, size=64), seed=0)


def table(found: Mapping[str, Sequence[Curve]]) -> Iterator[str]:
    """Yield a row for each model and family: the accuracy at each severity, and where it rises."""
    for model, all_curves in found.items():
        for curve in all_curves:
            figures = (f"{point.value:.2f} ({point.low:.2f} to {point.high:.2f})" for point in curve.points)
            rises = ", ".join(f"{mild} to {strong}" for mild, strong in curve.rises) or "none"
            yield f"| `{model}` | {curve.family} | {' | '.join(figures)} | {rises} |"


def hidden(model: ModelPredictor) -> Iterator[str]:
    """Yield a row for each perturbation of the background: the accuracy before and after it."""
    made = [task for seed in SEEDS for task in question_tasks(("visual-inv",), seed)]
    for name in VISUAL:
        asked = [_about(task, name) for task in made]
        before, after = (right(model, asked, fact) for fact in ("acc_original", "acc_perturbed"))
        both = (proportion(np.asarray(values)) for values in (before, after))
        figures = " | ".join(f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})" for one in both)
        yield f"| `{name}` | {len(before)} | {figures} |"


def _about(task: Task, name: str) -> Task:
    cases = tuple(case for case in task.cases if case.tags["perturbation"] == name)
    return Task(id=task.id, capability=task.capability, shape=task.shape, cases=cases)


def main() -> int:
    """Write the page and the figure.

    Returns: the exit status: 1 if a curve rises beyond chance.
    """
    tasks = [task for name in TASKS for task in shipped([f"scenes/{name}"])]
    found = {name: tuple(curves(predictor(name), tasks, FAMILIES)) for name in MODELS}
    FIGURE.write_text(figure(found), encoding="utf-8")
    rows = hidden(predictor(MODELS[0]))
    PAGE.write_text(page("\n".join(table(found)), "\n".join(rows)), encoding="utf-8")
    return 1 if any(curve.rises for some in found.values() for curve in some) else 0


if __name__ == "__main__":
    sys.exit(main())
