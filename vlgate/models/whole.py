"""Whether a checkpoint fills a model of transformers: the library fills what it lacks at random, and only warns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from vlgate.errors import ModelLoadError


def check_type(cls: Any, asked: str, config: Mapping[str, Any]) -> None:
    """Hold a checkpoint's architecture against a model class, which takes any as far as the names of weights agree.

    Args:
        cls: a model class of transformers.
        asked: what the user wrote, for messages.
        config: the content of the checkpoint's ``config.json``.

    Raises: ModelLoadError where it is another.
    """
    wanted = getattr(getattr(cls, "config_class", None), "model_type", "")
    found = config.get("model_type", wanted)
    if wanted and found != wanted:
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {found!r}; {cls.__name__} needs {wanted!r}; name another "
            "checkpoint, or the model that reads this one"
        )


def check_complete(asked: str, name: str, info: Mapping[str, Any], may_miss: Collection[str]) -> None:
    """Look for weights that are missing or of another size.

    Args:
        asked: what the user wrote, for messages.
        name: of the model class.
        info: what ``from_pretrained(..., output_loading_info=True)`` says.
        may_miss: regular expressions of the weights that need not be there.

    Raises: ModelLoadError that names some of them.
    """
    lost = dict.fromkeys(info["missing_keys"], "missing")
    lost |= {key: f"of shape {tuple(has)} instead of {tuple(wants)}" for key, has, wants in info["mismatched_keys"]}
    some = [f"{key}: {why}" for key, why in sorted(lost.items()) if not any(re.fullmatch(p, key) for p in may_miss)]
    if some:
        surplus = f"; it has {', '.join(sorted(info['unexpected_keys'])[:3])}" if info["unexpected_keys"] else ""
        raise ModelLoadError(
            f"{asked} lacks {len(some)} weights of {name} ({', '.join(some[:3])}){surplus}; they would be "
            f"random numbers, and so would the replies; name a checkpoint that was trained as a {name}"
        )
