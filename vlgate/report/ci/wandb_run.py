"""A run in Weights & Biases; ``WANDB_MODE``, ``WANDB_PROJECT`` and the others are wandb's own."""

from __future__ import annotations

import os

from vlgate.report.ci.trackers import PROJECT, Tracked


def log(tracked: Tracked) -> None:
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
