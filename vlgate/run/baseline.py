"""The text-only baseline: what it is trained on in addition to a task, and how its figures are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vlgate.metrics import bla
from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.models.reference.blind import Lesson
from vlgate.run.options import Options
from vlgate.run.planning import EMBEDDED
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.registry import read_tasks
from vlgate.sources.scene_graphs.generated import GENERATED
from vlgate.types import Metric, Task

_OTHER_SEED = 1_000_003  # added to the run's seed; a user who tries neighbouring seeds does not meet it
_GRAPHS = "scene-graphs"
_PREFERENCES = frozenset(name for names in bla.METRICS.values() for name in names) - {"sen_acc", "set_acc"}
_UNDIRECTED = _PREFERENCES | LOWER_IS_BETTER


def lessons(tasks: Sequence[Task], options: Options) -> dict[str, Sequence[Lesson]]:
    """Generate the generated tasks among some tasks again with another seed, so that a baseline can be trained on them.

    A cross-validated baseline is below chance on tasks that are balanced on purpose; one that is trained on independent
    cases is not. Drawn scenes have images of their own. Questions from scene graphs are made from each half of the
    graphs, and those of one half judge the images of the other. If a half has too few questions, there is no lesson.

    Returns: what to learn from, by task id; tasks that are not generated are absent.
    """
    wanted = {task.id for task in tasks}
    read = ReadOptions(
        folders=options.data,
        seed=options.seed + _OTHER_SEED,
        wanted=lambda name: name in wanted and name.startswith(f"{EMBEDDED}/"),
        pairs=options.pairs,
        missing_images=options.missing_images,
    )
    found: dict[str, Sequence[Lesson]] = {task.id: (Lesson(cases=task.cases),) for task in read_tasks(read)}
    tests = [test for test in GENERATED if f"{_GRAPHS}/{test}" in wanted]
    if tests:  # the import takes 0.1 s, because it loads the ontology and the generator
        from vlgate.sources.scene_graphs.halves import further_cases, half_of

        for test, halves in further_cases(read, tests).items():
            found[f"{_GRAPHS}/{test}"] = [
                Lesson(cases=cases, judges=lambda key, half=half: half_of(key) != half)  # type: ignore[misc]
                for half, cases in enumerate(halves)
            ]
    return found


def raised(found: Mapping[str, Metric], chance: Mapping[str, float]) -> dict[str, Metric]:
    """Raise the text-only model's figures to chance.

    A model that reads the texts can also guess, so a figure below chance is an accident of ties or of training, and
    not a finding. Metrics for which higher is not better stay as they are.
    """
    return {
        name: metric
        if name in _UNDIRECTED or metric.value >= chance.get(name, 0.0)
        else replace(metric, low=min(metric.low, chance[name]), value=chance[name], high=max(metric.high, chance[name]))
        for name, metric in found.items()
    }
