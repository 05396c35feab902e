"""The parts of an open_clip model: the network with its weights, its tokenizer, and what prepares its pictures."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError
from vlgate.models.damaged import DAMAGED, damaged, one_line
from vlgate.models.inputs import knows_words
from vlgate.models.open_clip_names import CONFIG, Source
from vlgate.models.open_clip_published import preprocessing, quick_gelu

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

PRECISIONS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}


def refuse_code(source: Source) -> None:
    """A configuration from elsewhere may ask transformers to run the code of a repository.

    Raises: ModelLoadError, also where the configuration cannot be read.
    """
    import open_clip

    try:
        written = json.dumps(dict(open_clip.get_model_config(source.name)))
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: {CONFIG} of {source.name} cannot be read ({one_line(error)}); save it anew"
        ) from error
    if "trust_remote_code" in written:
        raise ModelLoadError(f"open_clip: the configuration of {source.name} asks to run its own code; it is refused")


def create(source: Source, file: Path | None, *, device: str, dtype: str, seed: int) -> Any:
    """The network, with its weights, in evaluation mode.

    Args:
        source: where it comes from.
        file: its weights, for messages; None where it is untrained.
        device: a name that ``torch.device`` takes.
        dtype: a key of ``PRECISIONS``.
        seed: for an untrained one.

    Raises: ModelLoadError.
    """
    try:
        return _created(source, device, dtype, seed).eval()
    except damaged() as error:
        raise ModelLoadError(_cannot(source, file, error)) from error


def _cannot(source: Source, file: Path | None, error: Exception) -> str:
    import open_clip
    from huggingface_hub import constants

    tower = open_clip.get_model_config(source.name).get("text_cfg", {})
    named = tower.get("hf_model_name") if isinstance(tower, dict) else None
    if named and isinstance(error, OSError):
        return (
            f"open_clip: no text tower for {source.name}: looked for config.json of {named} in "
            f"{constants.HF_HUB_CACHE} ({one_line(error)}); fetch it where there is a network "
            f"(hf download {named} config.json)"
        )
    return (
        f"open_clip: {source.name} cannot be built from {file or 'its configuration'} ({type(error).__name__}: "
        f"{one_line(error)}); name the architecture of these weights, or save both anew"
    )


def _created(source: Source, device: str, dtype: str, seed: int) -> Any:
    import open_clip
    import torch

    untrained = source.kind == "random"
    with torch.random.fork_rng(devices=[]) if untrained else nullcontext(), warnings.catch_warnings():
        # Weights that were trained with QuickGELU get it. A configuration that has it and a tag that does not say so
        # (roberta-ViT-B-32) is right as it stands, though open_clip warns.
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
            force_quick_gelu=quick_gelu(source),
            force_preprocess_cfg=preprocessing(source.name) if source.kind in ("file", "random") else None,
        )


def tokenizer_of(source: Source) -> Any:
    """What makes tokens of texts, shape (n, context).

    Raises: ModelLoadError where it is not there, or has no vocabulary.
    """
    import open_clip

    try:
        found = open_clip.get_tokenizer(source.name)
    except DAMAGED as error:
        raise ModelLoadError(_no_tokenizer(source, one_line(error))) from error
    inner = getattr(found, "tokenizer", None)
    if inner is not None:
        inner.padding_side = "right"  # as in training, whatever was saved: positions count from the left
        if not knows_words(inner):
            raise ModelLoadError(_no_tokenizer(source, "found one that knows no words"))
    # A way of training drops words at random from texts that are too long.
    found.reduction_fn = None
    return found


def _no_tokenizer(source: Source, why: str) -> str:
    import open_clip
    from huggingface_hub import constants

    named = open_clip.get_model_config(source.name)["text_cfg"].get("hf_tokenizer_name", "")
    place = source.path if source.kind == "folder" else f"{named} in {constants.HF_HUB_CACHE}"
    return (
        f"open_clip: no tokenizer for {source.name}: looked for {place} ({why}); "
        f"fetch it where there is a network (hf download {named}), or save it into the model's own folder"
    )


def transform_of(source: Source, model: Any) -> Callable[[Image], torch.Tensor]:
    """What prepares a picture for a model, without anything random.

    Raises: ModelLoadError where the model's configuration asks for what open_clip does not know.
    """
    from open_clip.transform import PreprocessCfg, image_transform_v2

    settings = model.visual.preprocess_cfg
    try:
        found: Callable[[Image], torch.Tensor] = image_transform_v2(PreprocessCfg(**settings), is_train=False)
    except DAMAGED as error:
        raise ModelLoadError(
            f"open_clip: pictures cannot be prepared for {source.name} as preprocess_cfg={settings!r} says "
            f"({type(error).__name__}); mend its {CONFIG}"
        ) from error
    return found
