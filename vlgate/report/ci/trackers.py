"""What a tracker of experiments gets of a run, whichever it is, and the choice of trackers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from vlgate import __version__
from vlgate.errors import OptionError, UnknownNameError, described
from vlgate.record.folder import titled
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult, TaskResult
from vlgate.report.ci.release import release

# the trackers by the package that they need: each is a module with ``log(tracked)``
TRACKERS: Mapping[str, str] = MappingProxyType(
    {"mlflow": "vlgate.report.ci.mlflow_run", "wandb": "vlgate.report.ci.wandb_run"}
)
# the project or experiment of a run, unless the tracker's own variable of the environment names another
PROJECT = "vlgate"
_FILES = ("report.html", "summary.md", "metrics.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """A run as a tracker takes it."""

    name: str
    # ``<task>/<metric>`` with its interval, ``.low`` and ``.high``, ``.n``, ``.chance`` and ``.blind``, and the counts
    # of the gates; the model, the decision about the release and that of each gate.
    numbers: Mapping[str, float]
    words: Mapping[str, str]
    files: tuple[Path, ...]


def check_trackers(names: Sequence[str]) -> None:
    """Check that trackers are known, and that their packages are installed; none is imported."""
    for name in names:
        if name not in TRACKERS:
            raise UnknownNameError("tracker in --log-to", name, TRACKERS)
        if find_spec(name) is None:
            raise OptionError(f"--log-to={name}: {name} is not installed; run pip install 'vlgate[{name}]'")


def log_to(names: Sequence[str], run: RunResult, model: ModelCard, options: Options) -> list[str]:
    tracked = tracked_run(run, model, options) if names else None
    problems = []
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the tracker are not about this run
                import_module(TRACKERS[name]).log(tracked)
        except Exception as error:  # noqa: BLE001  # a tracker, its server or the network may raise anything
            problems.append(f"--log-to={name}: the run could not be logged ({described(error)})")
    return problems


def tracked_run(run: RunResult, model: ModelCard, options: Options) -> Tracked:
    outcomes = [decision.outcome for decision in run.decisions]
    numbers: dict[str, float] = {f"gates/{what}": outcomes.count(what) for what in ("pass", "fail", "inconclusive")}
    for result in run.results:
        numbers.update(_numbers(result))
    words = {
        "model": titled(model.name, model.weights),
        "fingerprint": model.fingerprint,
        "vlgate": __version__,
        "seed": str(options.seed),
        "release": release(run, model).word,
        **{f"gate/{one.gate.id}": one.outcome for one in run.decisions if one.outcome != "not run"},
    }
    files = tuple(file for name in _FILES if (file := options.results / name).is_file())
    return Tracked(name=options.results.resolve().name, numbers=numbers, words=words, files=files)


def _numbers(result: TaskResult) -> Iterator[tuple[str, float]]:
    for name, metric in result.metrics.items():
        key = f"{result.task.id}/{name}"
        yield key, metric.value
        yield f"{key}.low", metric.low
        yield f"{key}.high", metric.high
        yield f"{key}.n", metric.n
        if name in result.chance:
            yield f"{key}.chance", result.chance[name]
        if name in result.blind:
            yield f"{key}.blind", result.blind[name].value
