"""A run in MLflow; ``MLFLOW_TRACKING_URI``, ``MLFLOW_EXPERIMENT_NAME`` and the others are MLflow's own."""

from __future__ import annotations

import os
import re
from time import time

from vlgate.report.ci.trackers import PROJECT, Tracked

_AT_ONCE = 100  # parameters and tags in one call; MLflow takes no more, and 1,000 metrics


def log(tracked: Tracked) -> None:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, RunTag

    client = MlflowClient()
    experiment = os.environ.get("MLFLOW_EXPERIMENT_NAME") or PROJECT
    known = client.get_experiment_by_name(experiment)
    where = client.create_experiment(experiment) if known is None else known.experiment_id
    run = client.create_run(where, run_name=tracked.name).info.run_id
    now = round(time() * 1000)
    metrics = [Metric(_key(name), value, now, 0) for name, value in tracked.numbers.items()]
    tags = [RunTag(_key(name), value) for name, value in tracked.words.items()]
    for start in range(0, len(metrics), _AT_ONCE):
        client.log_batch(run, metrics=metrics[start : start + _AT_ONCE])
    for start in range(0, len(tags), _AT_ONCE):
        client.log_batch(run, tags=tags[start : start + _AT_ONCE])
    for file in tracked.files:
        client.log_artifact(run, str(file))
    client.set_terminated(run)


def _key(name: str) -> str:
    # A name of the characters that MLflow takes; a variant of a metric has an @
    return re.sub(r"[^\w./ -]", "_", name)
