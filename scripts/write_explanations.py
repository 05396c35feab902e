"""Measure how often each method of ``--explain`` points at the object that decides, and write the rates and their page.

    python scripts/write_explanations.py [CASES]

For each embedded model, ``CASES`` right cases of each drawn task are explained for each of ``SEEDS``, with which
nothing was tuned: what is hidden and how was chosen on the scenes of seed 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from vlgate.asking.items import images_of_case
from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.reader.reading import Reading
from vlgate.judging.verdicts import judge
from vlgate.probes.explaining.deciding import hits
from vlgate.probes.explaining.explain import Told, explain, subjects
from vlgate.probes.explaining.rates import WORDS, Hit, Rate, rate
from vlgate.record.options import Options
from vlgate.report.explanations import heat_map
from vlgate.run.loading import load_model
from vlgate.run.planning import make_plan
from vlgate.seeds import generator
from vlgate.types import Batch, Task

ROOT = Path(__file__).parents[1]
RATES = ROOT / "vlgate/probes/explaining/rates.toml"
PAGE = ROOT / "docs/explanations.md"
MODELS = ("tiny-lxmert", "tiny-clip")
CASES = 3
SEEDS = (4, 5)
GAP = 12
IMAGE = ROOT / "docs/images/explanation.png"
KINDS = {
    "things": ("existence", "foil-it", "ontological-inv", "negation-dir", "occlusion-dir", "visual-inv"),
    "counts": ("counting-", "plurality"),
    "attributes": ("attribute", "object-size", "antonym-dir"),
    "places": ("relations", "depth", "object-location", "mirror-inv"),
    "people": ("action", "actant", "relation-action", "coreference", "active", "coordination", "relative"),
    "word order and form": ("word-swap", "order-inv", "rephrase-inv"),
}
"""The kinds of tasks, by how their names begin."""
EXAMPLE = ("tiny-lxmert", "scenes/relations", "059")
"""The case of the image: its model, task and id."""
BEGIN, END = "<!-- rates: scripts/write_explanations.py -->", "<!-- end of the rates -->"
_MEASURED = ("hide windows", "hide boxes", "hide segments", "exchange between images", WORDS)
Found = tuple[str, str, Hit]
"""A task, a method, and whether the method is right about one image of a case, or about its words."""
_HEAD = """\
# How often each method points at the object that decides, in right answers about the drawn scenes.
# Written by scripts/write_explanations.py.
"""


def main() -> None:
    """Measure, and write both files."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    jobs = [(name, seed, cases) for name in MODELS for seed in SEEDS]
    with ProcessPoolExecutor(max_workers=2) as pool:
        found = list(pool.map(found_in, *zip(*jobs, strict=True)))
    by_model = {
        name: [one for job, some in zip(jobs, found, strict=True) if job[0] == name for one in some] for name in MODELS
    }
    rates = [one for name, some in by_model.items() for one in rates_of(name, some)]
    RATES.write_text(_HEAD + "".join(f"\n[[rate]]\n{_toml(one)}" for one in rates), encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    IMAGE.write_bytes(example())
    tables = f"{table(rates, cases)}\n{kinds(by_model)}"
    PAGE.write_text(f"{before}{BEGIN}\n{tables}{END}{after}", encoding="utf-8")


def found_in(name: str, seed: int, cases: int) -> list[Found]:
    """Return the task, the method and the hit of each explained image, for a model and the scenes of a seed."""
    options = Options(folder=ROOT, model=name, thresholds=None, results=ROOT, device="cpu", seed=seed)
    tasks = make_plan(options).tasks
    _, predictor = load_model(options, tasks, 0)
    reading = Reading()
    return [(task.id, *hit) for task in tasks for hit in _hits(task, predictor, reading, cases)]


def rates_of(name: str, found: Sequence[Found]) -> Iterator[Rate]:
    """Yield the rate of each method for a model."""
    for method in dict.fromkeys(sorted(method for _, method, _ in found)):
        yield rate(name, method, [one for _, by, one in found if by == method])


def kind_of(task: str) -> str:
    """Return the kind of a task.

    Raises: StopIteration for a task that no kind names.
    """
    name = task.partition("/")[2]
    return next(kind for kind, starts in KINDS.items() if name.startswith(starts))


def kinds(by_model: Mapping[str, Sequence[Found]]) -> str:
    """Return a table of how often the object leads, by kind of task."""
    lines = [
        "By kind of task, how often the object that decides leads, with the 95 % interval:",
        "",
        "| model | method | kind of task | images | leads |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, found in by_model.items():
        for method in dict.fromkeys(method for _, method, _ in found if method.startswith("hide")):
            for kind in KINDS:
                hits = [one for task, by, one in found if by == method and kind_of(task) == kind]
                if hits:
                    one = rate(name, method, hits)
                    says = f"{one.leads:.0%} ({one.low:.0%} to {one.high:.0%})"
                    lines.append(f"| `{name}` | {method} | {kind} | {one.n} | {says} |")
    return "\n".join([*lines, ""])


def example() -> bytes:
    """Return the image of the page as PNG: the case, what its verdict depends on, and what the model attends to."""
    model, name, id_ = EXAMPLE
    options = Options(folder=ROOT, model=model, suite=(name,), thresholds=None, results=ROOT, device="cpu")
    [task] = make_plan(options).tasks
    _, predictor = load_model(options, [task], 0)
    batch = Batch(task=task, positions=(next(n for n, case in enumerate(task.cases) if case.id == id_),))
    [verdict] = judge(batch, predictor.predict(batch.cases[0].requests))
    [found] = explain(subjects([(name, task.shape, verdict)], predictor.model), predictor, predictor.model)
    image = images_of_case(verdict.case)[0].load()
    measured = [one for finding in found.findings if finding.method == "hide segments" for one in finding.of_image(0)]
    maps = [heat_map(image, boxes, effects) for _, boxes, effects in measured]
    maps.append(heat_map(image, found.attended[0].boxes, np.array(found.attended[0].weights), seen=True))
    shown = [image, *(Image.open(BytesIO(map_)) for map_ in maps)]
    whole = Image.new("RGB", (sum(one.width + GAP for one in shown) - GAP, max(one.height for one in shown)), "white")
    for number, one in enumerate(shown):
        whole.paste(one, (number * (image.width + GAP), 0))
    stream = BytesIO()
    whole.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def table(rates: Sequence[Rate], cases: int) -> str:
    """Return the rates as a table, with what a random part or object reaches in brackets."""
    head = (
        f"Right answers to at most {cases} cases of each drawn task and seed, seeds {' and '.join(map(str, SEEDS))}. "
        "In brackets: a random part or object. *leads* has its 95 % interval. A row for words counts cases."
    )
    lines = [
        head,
        "",
        "| model | method | images | touches | points | leads |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in rates:
        leads = f"{one.leads:.0%}, {one.low:.0%} to {one.high:.0%} ({one.chance_leads:.0%})"
        on_image = f"{one.touches:.0%} ({one.chance_touches:.0%}) | {one.points:.0%} ({one.chance_points:.0%})"
        lines.append(
            f"| `{one.model}` | {one.method} | {one.n} | {'- | -' if one.method == WORDS else on_image} | {leads} |"
        )
    return "\n".join([*lines, ""])


def _hits(task: Task, predictor: ModelPredictor, reading: Reading, cases: int) -> list[tuple[str, Hit]]:
    order = generator(f"0:explain:{task.id}").permutation(len(task.cases))[: 4 * cases]
    batch = Batch(task=task, positions=tuple(int(place) for place in order))
    said = predictor.predict(request for case in batch.cases for request in case.requests)
    right: list[Told] = [(task.id, task.shape, verdict) for verdict in judge(batch, said) if verdict.right][:cases]
    by_id = {verdict.case.id: verdict.case for _, _, verdict in right}
    asked = [
        replace(subject, changes=tuple(change for change in subject.changes if change.method in _MEASURED))
        for subject in subjects(right, predictor.model)
    ]
    explained = explain(asked, predictor, predictor.model)
    return [hit for one in explained for hit in hits(one, by_id[one.case], task.shape, reading)]


def _toml(one: Rate) -> str:
    fields = {"model": one.model, "method": one.method, "n": one.n} | asdict(one)
    return "".join(f"{name} = {value!r}\n".replace("'", '"') for name, value in fields.items())


if __name__ == "__main__":
    main()
