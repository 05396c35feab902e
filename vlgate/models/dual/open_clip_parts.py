"""The parts of an open_clip model: network, tokenizer, image transform, and settings from its list of weights."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.inputs import knows_words
from vlgate.models.checkpoints.load_errors import DAMAGED, damaged, one_line
from vlgate.models.dual.open_clip_weights import CONFIG, OpenClipName

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


_PREPROCESSING = ("mean", "std", "interpolation", "resize_mode")


def assumptions(source: OpenClipName) -> str:
    """Return a note on the settings that a file of weights lacks, and on which the published weights disagree."""
    import open_clip

    if source.kind != "file":
        return ""
    published = _published(source.name)
    taken = []
    own = open_clip.get_model_config(source.name).get("quick_gelu")
    if len({bool(config.get("quick_gelu")) for config in published}) > 1 and not own:
        taken.append(f"GELU (name {source.name}-quickgelu for QuickGELU)")
    if len({_of_images(config) for config in published}) > 1:
        taken.append("open_clip's default preparation of images")
    if not taken:
        return ""
    return f"a file of weights lacks some settings of {source.name}; assumed: {' and '.join(taken)}"


def preprocessing(arch: str) -> dict[str, Any]:
    """Return the preparation of images for an architecture, if all of its published weights agree on it; else empty."""
    # A file of weights does not contain it, and by default open_clip would prepare images for SigLIP as for CLIP.
    published = _published(arch)
    agreed = len({_of_images(config) for config in published}) == 1
    return {name: published[0][name] for name in _PREPROCESSING} if agreed else {}


def _published(arch: str) -> list[dict[str, Any]]:
    import open_clip

    return [open_clip.get_pretrained_cfg(arch, tag) for tag in open_clip.list_pretrained_tags_by_model(arch)]


def _of_images(config: dict[str, Any]) -> str:
    return json.dumps({name: config[name] for name in _PREPROCESSING})


PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def refuse_code(source: OpenClipName) -> None:
    import open_clip

    try:
        written = json.dumps(dict(open_clip.get_model_config(source.name)))
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: {CONFIG} of {source.name} cannot be read ({one_line(error)}); save it again"
        ) from error
    if "trust_remote_code" in written:
        raise ModelLoadError(
            f"open_clip: the configuration of {source.name} sets trust_remote_code, which vlgate refuses; remove it"
        )


def create(source: OpenClipName, file: Path | None, *, device: str, dtype: str, seed: int) -> Any:
    import open_clip
    import torch
    from huggingface_hub import constants

    untrained = source.kind == "random"
    # Weights need QuickGELU if the tag says so, or all published ones of the architecture, as of RN50.
    published = _published(source.name) if source.kind == "file" else []
    quick = bool(published) and all(config.get("quick_gelu") for config in published)
    if source.kind == "tag":
        quick = bool(open_clip.get_pretrained_cfg(source.name, source.tag).get("quick_gelu"))
    try:
        with torch.random.fork_rng(devices=[]) if untrained else nullcontext(), warnings.catch_warnings():
            # open_clip also warns if only the configuration has QuickGELU and the tag does not say so
            # (roberta-ViT-B-32), which is right.
            warnings.filterwarnings("ignore", message="QuickGELU mismatch")
            if untrained:
                torch.default_generator.manual_seed(seed)
            return open_clip.create_model(
                source.name,
                {"tag": source.tag, "file": str(source.path)}.get(source.kind),
                precision=PRECISIONS[dtype],
                device=device,
                load_weights=not untrained,
                require_pretrained=not untrained,
                pretrained_text=False,
                force_quick_gelu=quick,
                force_preprocess_cfg=preprocessing(source.name) if source.kind in ("file", "random") else None,
            ).eval()
    except damaged() as error:
        tower = open_clip.get_model_config(source.name).get("text_cfg", {})
        named = tower.get("hf_model_name") if isinstance(tower, dict) else None
        if named and isinstance(error, OSError):
            raise ModelLoadError(
                f"open_clip: no text tower for {source.name}: looked for config.json of {named} in "
                f"{constants.HF_HUB_CACHE} ({one_line(error)}); download it on a machine with a network "
                f"(hf download {named} config.json)"
            ) from error
        raise ModelLoadError(
            f"open_clip: {source.name} cannot be built from {file or 'its configuration'} ({type(error).__name__}: "
            f"{one_line(error)}); name the architecture of these weights, or save both again"
        ) from error


def tokenizer_of(source: OpenClipName) -> Any:
    import open_clip

    try:
        tokenizer = open_clip.get_tokenizer(source.name)
    except DAMAGED as error:
        raise ModelLoadError(_no_tokenizer(source, one_line(error))) from error
    inner = getattr(tokenizer, "tokenizer", None)
    if inner is not None:
        inner.padding_side = "right"  # as in training, whatever was saved: positions are counted from the left
        if not knows_words(inner):
            raise ModelLoadError(_no_tokenizer(source, "found one without a vocabulary"))
    # Some configurations drop words at random from texts that are too long; that is for training only.
    tokenizer.reduction_fn = None
    return tokenizer


def _no_tokenizer(source: OpenClipName, why: str) -> str:
    import open_clip
    from huggingface_hub import constants

    named = open_clip.get_model_config(source.name)["text_cfg"].get("hf_tokenizer_name", "")
    place = source.path if source.kind == "folder" else f"{named} in {constants.HF_HUB_CACHE}"
    return (
        f"open_clip: no tokenizer for {source.name}: looked for {place} ({why}); "
        f"download it on a machine with a network (hf download {named}), or save it into the model's own folder"
    )


def transform_of(source: OpenClipName, model: Any) -> Callable[[Image], torch.Tensor]:
    """Return the function that prepares an image for a model, without random augmentation."""
    from open_clip.transform import PreprocessCfg, image_transform_v2

    settings = model.visual.preprocess_cfg
    try:
        transform: Callable[[Image], torch.Tensor] = image_transform_v2(PreprocessCfg(**settings), is_train=False)
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: preprocess_cfg={settings!r} of {source.name} is not valid ({type(error).__name__}); "
            f"correct its {CONFIG}"
        ) from error
    return transform
