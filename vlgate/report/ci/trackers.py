"""What a tracker of experiments gets of a run, whichever it is, and the choice of trackers."""

import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import time

from vlgate import __version__
from vlgate.errors import OptionError, UnknownNameError, described
from vlgate.record.folder import titled
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult
from vlgate.report.ci.release import release

# the project or experiment of a run, unless the tracker's own variable of the environment names another
PROJECT = "vlgate"
_AT_ONCE = 100  # parameters and tags in one call; MLflow takes no more, and 1,000 metrics
_FILES = ("report.html", "summary.md", "metrics.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    name: str
    # ``<task>/<metric>`` with its ``.low``, ``.high``, ``.n``, ``.chance`` and ``.blind``, and the counts of the gates.
    numbers: Mapping[str, float]
    words: Mapping[str, str]  # the model, the decision about the release and that of each gate
    files: tuple[Path, ...]


def check_trackers(names: Sequence[str]) -> None:
    for name in names:
        if name not in TRACKERS:
            raise UnknownNameError("tracker in --log-to", name, TRACKERS)
        if find_spec(name) is None:
            raise OptionError(f"--log-to={name}: {name} is not installed; run pip install 'vlgate[{name}]'")


def log_to(names: Sequence[str], run: RunResult, model: ModelCard, options: Options) -> list[str]:
    if not names:
        return []
    tracked = tracked_run(run, model, options)
    problems = []
    for name in names:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # those of the tracker are not about this run
                TRACKERS[name](tracked)
        except Exception as error:  # noqa: BLE001  # a tracker, its server or the network may raise anything
            problems.append(f"--log-to={name}: the run could not be logged ({described(error)})")
    return problems


def tracked_run(run: RunResult, model: ModelCard, options: Options) -> Tracked:
    outcomes = [decision.outcome for decision in run.decisions]
    numbers: dict[str, float] = {f"gates/{what}": outcomes.count(what) for what in ("pass", "fail", "inconclusive")}
    for result in run.results:
        for name, metric in result.metrics.items():
            key = f"{result.task.id}/{name}"
            numbers[key] = metric.value
            numbers |= {f"{key}.{part}": getattr(metric, part) for part in ("low", "high", "n")}
            if name in result.chance:
                numbers[f"{key}.chance"] = result.chance[name]
            if name in result.blind:
                numbers[f"{key}.blind"] = result.blind[name].value
    words = {
        "model": titled(model.name, model.weights),
        "fingerprint": model.fingerprint,
        "vlgate": __version__,
        "seed": str(options.seed),
        "release": release(run, model).word,
        **{f"gate/{decision.gate.id}": decision.outcome for decision in run.decisions if decision.outcome != "not run"},
    }
    files = tuple(file for name in _FILES if (file := options.results / name).is_file())
    return Tracked(name=options.results.resolve().name, numbers=numbers, words=words, files=files)


def _log_to_mlflow(tracked: Tracked) -> None:
    # MLFLOW_TRACKING_URI, MLFLOW_EXPERIMENT_NAME and the others are MLflow's own, and so are wandb's below.
    from mlflow import MlflowClient
    from mlflow.entities import Metric, RunTag

    def key(name: str) -> str:  # of the characters that MLflow takes; a variant of a metric has an @
        return re.sub(r"[^\w./ -]", "_", name)

    client = MlflowClient()
    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    known = client.get_experiment_by_name(experiment)
    where = client.create_experiment(experiment) if known is None else known.experiment_id
    run = client.create_run(where, run_name=tracked.name).info.run_id
    now = round(time() * 1000)
    metrics = [Metric(key(name), value, now, 0) for name, value in tracked.numbers.items()]
    tags = [RunTag(key(name), value) for name, value in tracked.words.items()]
    for start in range(0, max(len(metrics), len(tags)), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        client.log_batch(run, metrics=metrics[part], tags=tags[part])
    for file in tracked.files:
        client.log_artifact(run, str(file))
    client.set_terminated(run)


def _log_to_wandb(tracked: Tracked) -> None:
    import wandb

    session = wandb.init(
        project=os.environ.get("WANDB_PROJECT") or PROJECT,
        name=tracked.name,
        job_type="gate",
        config=dict(tracked.words),
        tags=[tracked.words["release"].lower()],
        settings=wandb.Settings(console="off", silent=True, x_disable_stats=True),
    )
    session.summary.update(dict(tracked.numbers))
    artifact = wandb.Artifact("vlgate-report", type="report")
    for file in tracked.files:
        artifact.add_file(str(file))
    session.log_artifact(artifact)
    session.finish()


# by the package that each needs
TRACKERS: Mapping[str, Callable[[Tracked], None]] = {"mlflow": _log_to_mlflow, "wandb": _log_to_wandb}
