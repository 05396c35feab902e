"""Take the settings that a file of weights lacks from open_clip's list of published weights."""

from __future__ import annotations

import json
from typing import Any

from vlgate.models.open_clip.names import OpenClipName

_PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")


def assumptions(source: OpenClipName) -> str:
    """Return a note on the settings that had to be assumed.

    A file of weights does not contain them, and the published weights of its architecture disagree on them.

    Returns: "" if nothing was assumed.
    """
    if source.kind != "file":
        return ""
    published = _published(source.name)
    taken = []
    if len({bool(config.get("quick_gelu")) for config in published}) > 1 and not _has_quick_gelu(source.name):
        taken.append(f"GELU (name {source.name}-quickgelu for QuickGELU)")
    if len({_of_images(config) for config in published}) > 1:
        taken.append("open_clip's default preparation of images")
    if not taken:
        return ""
    return f"a file of weights lacks some settings of {source.name}; assumed: {' and '.join(taken)}"


def quick_gelu(source: OpenClipName) -> bool:
    """Return whether weights need QuickGELU although their architecture does not say so, as all published RN50 do."""
    import open_clip

    if source.kind == "tag":
        return bool(open_clip.get_pretrained_cfg(source.name, source.tag).get("quick_gelu"))
    published = _published(source.name) if source.kind == "file" else []
    return bool(published) and all(config.get("quick_gelu") for config in published)


def preprocessing(arch: str) -> dict[str, Any]:
    """Return the preparation of images for an architecture, if all of its published weights agree on it.

    A file of weights does not contain it, and by default open_clip would prepare images for SigLIP as for CLIP. Empty
    if the published weights disagree; open_clip then uses its default.
    """
    published = _published(arch)
    agreed = len({_of_images(config) for config in published}) == 1
    return {name: published[0][name] for name in _PREPROCESSING} if agreed else {}


def _published(arch: str) -> list[dict[str, Any]]:
    import open_clip

    return [open_clip.get_pretrained_cfg(arch, tag) for tag in open_clip.list_pretrained_tags_by_model(arch)]


def _of_images(config: dict[str, Any]) -> str:
    return json.dumps({name: config[name] for name in _PREPROCESSING})


def _has_quick_gelu(arch: str) -> bool:
    import open_clip

    return bool(open_clip.get_model_config(arch).get("quick_gelu"))
