"""Measure how often each method of ``--explain`` points at the object that decides, and write the rates and their page.

    python scripts/write_explanations.py [CASES]

For each embedded model, ``CASES`` right cases of each drawn task are explained, drawn by seed 0.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from io import BytesIO
from itertools import groupby
from pathlib import Path

import numpy as np
from PIL import Image

from vlgate.explaining.changes import images_of
from vlgate.explaining.explain import Told, explain, subjects
from vlgate.explaining.rates import Hit, Rate, rate
from vlgate.explaining.truth import hits
from vlgate.fixtures.reader.reading import Reading
from vlgate.inference.predictor import ModelPredictor
from vlgate.judging.verdicts import judge
from vlgate.report.explanations.heat_map import heat_map
from vlgate.run.loading import load_model
from vlgate.run.options import Options
from vlgate.run.planning import make_plan
from vlgate.seeds import generator
from vlgate.types import Batch, Task

ROOT = Path(__file__).parents[1]
RATES = ROOT / "vlgate/explaining/rates.toml"
PAGE = ROOT / "docs/explanations.md"
MODELS = ("tiny-lxmert", "tiny-clip")
CASES = 6
GAP = 12
IMAGE = ROOT / "docs/images/explanation.png"
EXAMPLE = ("tiny-lxmert", "scenes/relations", "059")
"""The case of the image: its model, task and id."""
BEGIN, END = "<!-- rates: scripts/write_explanations.py -->", "<!-- end of the rates -->"
_HEAD = """\
# How often each method points at the object that decides, in right answers about the drawn scenes.
# Written by scripts/write_explanations.py.
"""


def main() -> None:
    """Measure, and write both files."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    rates = [one for name in MODELS for one in measured(name, cases)]
    RATES.write_text(_HEAD + "".join(f"\n[[rate]]\n{_toml(one)}" for one in rates), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    IMAGE.write_bytes(example())
    PAGE.write_text(f"{before}{BEGIN}\n{table(rates, cases)}{END}{after}", encoding="utf-8")


def measured(name: str, cases: int) -> Iterator[Rate]:
    """Yield the rate of each method for a model."""
    options = Options(folder=ROOT, model=name, thresholds=None, results=ROOT, device="cpu")
    tasks = make_plan(options).tasks
    _, predictor = load_model(options, tasks, 0)
    reading = Reading()
    found = [one for task in tasks for one in _hits(task, predictor, reading, cases)]
    for method, some in groupby(sorted(found, key=lambda one: one[0]), key=lambda one: one[0]):
        yield rate(name, method, [one for _, one in some])


def example() -> bytes:
    """Return the image of the page as PNG: the case, what its verdict depends on, and what the model attends to."""
    model, name, id_ = EXAMPLE
    options = Options(folder=ROOT, model=model, suite=(name,), thresholds=None, results=ROOT, device="cpu")
    [task] = make_plan(options).tasks
    _, predictor = load_model(options, [task], 0)
    batch = Batch(task=task, positions=(next(n for n, case in enumerate(task.cases) if case.id == id_),))
    [verdict] = judge(batch, predictor.predict(batch.cases[0].requests))
    [found] = explain(subjects([(name, task.shape, verdict)], predictor.model), predictor, predictor.model)
    image = images_of(verdict.case)[0].load()
    parts = [part for one in found.findings if one.method == "hide boxes" for part in one.measured]
    hidden = np.array([part.effect for part in parts], dtype=np.float64)
    maps = [
        heat_map(image, [part.box for part in parts if part.box is not None], hidden),
        heat_map(image, found.attended[0].boxes, np.array(found.attended[0].weights), seen=True),
    ]
    shown = [image, *(Image.open(BytesIO(one)) for one in maps)]
    whole = Image.new("RGB", (sum(one.width + GAP for one in shown) - GAP, max(one.height for one in shown)), "white")
    for number, one in enumerate(shown):
        whole.paste(one, (number * (image.width + GAP), 0))
    stream = BytesIO()
    whole.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def table(rates: Sequence[Rate], cases: int) -> str:
    """Return the rates as a table, with what a random part or object reaches in brackets."""
    lines = [
        f"Right answers to at most {cases} cases of each drawn task, seed 0. In brackets: a random part or object.",
        "",
        "| model | method | images | touches | points | leads |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{one.model}` | {one.method} | {one.n} | {one.touches:.0%} ({one.chance_touches:.0%}) "
        f"| {one.points:.0%} ({one.chance_points:.0%}) | {one.leads:.0%} ({one.chance_leads:.0%}) |"
        for one in rates
    ]
    return "\n".join([*lines, ""])


def _hits(task: Task, predictor: ModelPredictor, reading: Reading, cases: int) -> list[tuple[str, Hit]]:
    order = generator(f"0:explain:{task.id}").permutation(len(task.cases))[: 4 * cases]
    batch = Batch(task=task, positions=tuple(int(place) for place in order))
    said = predictor.predict(request for case in batch.cases for request in case.requests)
    right: list[Told] = [(task.id, task.shape, verdict) for verdict in judge(batch, said) if verdict.right][:cases]
    by_id = {verdict.case.id: verdict.case for _, _, verdict in right}
    asked = [
        replace(one, changes=tuple(change for change in one.changes if change.part.box is not None))
        for one in subjects(right, predictor.model)
    ]
    explained = explain(asked, predictor, predictor.model)
    return [found for one in explained for found in hits(one, by_id[one.case], reading)]


def _toml(one: Rate) -> str:
    return "".join(f"{name} = {value!r}\n".replace("'", '"') for name, value in asdict(one).items())


if __name__ == "__main__":
    main()
