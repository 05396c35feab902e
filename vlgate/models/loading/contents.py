"""What the files of a model hold, told without building it, so that a run that has all its replies need not load it.

Each function takes the weights after the colon of ``--model``, the folder that the user started in, and the default
weights. It returns a string that changes with every byte that the model is built from; empty if only building it tells.
"""

from __future__ import annotations

from pathlib import Path

from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.fingerprint import digest, digest_path


def checkpoint(weights: str, folder: Path, default: str) -> str:
    """Describe a checkpoint of transformers, whose options name no further files."""
    name, _, options = weights.partition("?")
    values = [part.partition("=")[2] for part in options.split("&") if part]
    if any((folder / Path(value).expanduser()).exists() for value in values):
        return ""
    return f"{hub.identity(hub.pretrained(name, folder, default=default))} {options}"


def embedded(weights: str, folder: Path, default: str) -> str:  # noqa: ARG001  # as above
    """Describe a model that lies in the package; ``default`` is the name of its folder."""
    from vlgate.models.embedded.tiny import checkpoint as place

    return "" if weights else digest_path(place(default))


def open_clip(weights: str, folder: Path, default: str) -> str:  # noqa: ARG001  # as above
    """Describe local weights of open_clip; open_clip itself knows where the others lie."""
    from vlgate.models.open_clip.names import parse

    source = parse(weights, folder)
    if source.path is None or source.kind not in ("file", "folder"):
        return ""
    return digest(source.kind, source.name, digest_path(source.path))
