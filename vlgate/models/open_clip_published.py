"""What open_clip's list of published weights says of an architecture, where a file of weights says nothing."""

from __future__ import annotations

import json
from typing import Any

from vlgate.models.open_clip_names import Source

_PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")


def unsaid(source: Source) -> str:
    """What a file of weights does not say and its architecture's published weights do not agree on, in words.

    Returns: "" where nothing had to be taken for granted.
    """
    if source.kind != "file":
        return ""
    published = _published(source.name)
    taken = []
    if len({bool(config.get("quick_gelu")) for config in published}) > 1 and not _has_quick_gelu(source.name):
        taken.append(f"GELU ({source.name}-quickgelu has the other)")
    if len({_of_pictures(config) for config in published}) > 1:
        taken.append("pictures prepared as open_clip does where nothing is said")
    if not taken:
        return ""
    return f"a file of weights does not say how {source.name} was trained; taken for granted: {' and '.join(taken)}"


def quick_gelu(source: Source) -> bool:
    """Whether weights need QuickGELU, though their architecture does not say so (RN50, of which all published do)."""
    import open_clip

    if source.kind == "tag":
        return bool(open_clip.get_pretrained_cfg(source.name, source.tag).get("quick_gelu"))
    published = _published(source.name) if source.kind == "file" else []
    return bool(published) and all(config.get("quick_gelu") for config in published)


def preprocessing(arch: str) -> dict[str, Any]:
    """How pictures are prepared for an architecture, where all of its published weights agree.

    A file of weights does not say it, and open_clip would prepare pictures for SigLIP as for CLIP. Empty where they
    do not agree: open_clip then takes its default.
    """
    published = _published(arch)
    agreed = len({_of_pictures(config) for config in published}) == 1
    return {name: published[0][name] for name in _PREPROCESSING} if agreed else {}


def _published(arch: str) -> list[dict[str, Any]]:
    import open_clip

    return [open_clip.get_pretrained_cfg(arch, tag) for tag in open_clip.list_pretrained_tags_by_model(arch)]


def _of_pictures(config: dict[str, Any]) -> str:
    return json.dumps({name: config[name] for name in _PREPROCESSING})


def _has_quick_gelu(arch: str) -> bool:
    import open_clip

    return bool(open_clip.get_model_config(arch).get("quick_gelu"))
