"""Check that a checkpoint has all weights of a model; transformers initialises missing ones at random."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from vlgate.errors import ModelLoadError


def check_type(cls: Any, asked: str, config: Mapping[str, Any]) -> None:
    """Check that a checkpoint is of the architecture of a model class; transformers itself loads any architecture.

    Args:
        cls: a model class of transformers.
        asked: what the user wrote, for messages.
        config: the content of the checkpoint's ``config.json``.

    Raises: ModelLoadError if the architecture is another one.
    """
    wanted = getattr(getattr(cls, "config_class", None), "model_type", "")
    found = config.get("model_type", wanted)
    if wanted and found != wanted:
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {found!r}; {cls.__name__} needs {wanted!r}; name another "
            "checkpoint, or another --model"
        )


def check_complete(asked: str, name: str, info: Mapping[str, Any], may_miss: Collection[str]) -> None:
    """Check that no weight is missing or of another size.

    Args:
        asked: what the user wrote, for messages.
        name: the name of the model class.
        info: the loading info that ``from_pretrained(..., output_loading_info=True)`` returns.
        may_miss: regular expressions of weights that may be missing.

    Raises: ModelLoadError that names up to three of the weights.
    """
    lost = dict.fromkeys(info["missing_keys"], "missing")
    lost |= {key: f"of shape {tuple(has)} instead of {tuple(wants)}" for key, has, wants in info["mismatched_keys"]}
    some = [f"{key}: {why}" for key, why in sorted(lost.items()) if not any(re.fullmatch(p, key) for p in may_miss)]
    if some:
        surplus = (
            f"; it has {', '.join(sorted(info['unexpected_keys'])[:3])} instead" if info["unexpected_keys"] else ""
        )
        count = f"{len(some)} weight{'s' if len(some) > 1 else ''}"
        raise ModelLoadError(
            f"{asked} lacks {count} of {name} ({', '.join(some[:3])}){surplus}; they would be "
            f"random numbers, and so would the replies; name a checkpoint that was trained as {name}"
        )
