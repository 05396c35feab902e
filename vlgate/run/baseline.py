"""The text-only baseline: what it is trained on in addition to a task, and how its figures are reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from vlgate.metrics import bla
from vlgate.run.options import Options
from vlgate.run.planning import EMBEDDED
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.registry import read_tasks
from vlgate.types import Metric, Task

_OTHER_SEED = 1_000_003  # added to the run's seed; a user who tries neighbouring seeds does not meet it
_UNDIRECTED = frozenset(name for names in bla.METRICS.values() for name in names) - {"sen_acc", "set_acc"}


def further(tasks: Sequence[Task], options: Options) -> list[Task]:
    """Generate the drawn scenes among some tasks again with another seed, so that a baseline can be trained on them.

    A cross-validated baseline is below chance on tasks that are balanced on purpose; one that is trained on independent
    cases is not.
    """
    wanted = {task.id for task in tasks if task.id.startswith(f"{EMBEDDED}/")}
    if not wanted:
        return []
    return read_tasks(ReadOptions(folders=(), seed=options.seed + _OTHER_SEED, wanted=wanted.__contains__))


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
