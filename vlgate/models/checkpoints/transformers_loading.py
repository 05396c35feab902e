"""Load models and processors of transformers completely or not at all, without running code of a checkpoint."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import damaged, one_line
from vlgate.models.checkpoints.device import pick_dtype
from vlgate.models.checkpoints.hub import PICKLED, SAFE, Pretrained, folder_of, holdings, read_config, weights_form
from vlgate.models.checkpoints.inputs import knows_words
from vlgate.models.checkpoints.quiet import no_bars
from vlgate.models.checkpoints.whole import check_complete, check_type


def load_model(
    cls: Any, source: Pretrained, *, device: str, dtype: str, may_miss: Collection[str] = (), **kwargs: Any
) -> Any:
    """Load a model of transformers with all of its weights, in evaluation mode.

    Args:
        cls: a model class of transformers.
        source: the place of the checkpoint.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.
        may_miss: regular expressions of weights that may be missing, because replies do not depend on them.
        kwargs: further arguments of ``cls.from_pretrained``.

    Pickled weights are read as tensors only, and code of a repository is never run.

    Raises: ModelLoadError if the checkpoint cannot be loaded or lacks a weight, which transformers would initialise at
        random with only a warning.
    """
    folder = folder_of(source)
    safe = _form_of(source) is SAFE
    if "config" not in kwargs:
        check_type(cls, source.asked, read_config(source))
    try:
        # Sizes that do not match are listed in ``info``; the error of transformers for them names no weight.
        with no_bars():
            model, info = cls.from_pretrained(
                str(folder), dtype=pick_dtype(dtype), use_safetensors=safe, weights_only=True, local_files_only=True,
                trust_remote_code=False, ignore_mismatched_sizes=True, output_loading_info=True, **kwargs,
            )  # fmt: skip
    except damaged() as error:
        raise ModelLoadError(_cannot(source, folder, cls.__name__, error)) from error
    check_complete(source.asked, cls.__name__, info, may_miss)
    try:
        return model.eval().to(device)
    except RuntimeError as error:
        raise ModelLoadError(
            f"{source.asked} cannot be moved to device={device!r} ({error}); try another --device"
        ) from error


def _form_of(source: Pretrained) -> tuple[str, ...]:
    try:
        return weights_form(folder_of(source))
    except ModelLoadError as error:
        if source.local:
            raise
        fetch = f"download the rest on a machine with a network (hf download {source.location})"
        raise ModelLoadError(f"{error}; {fetch}") from error


def _cannot(source: Pretrained, folder: Path, name: str, error: Exception) -> str:
    kind = type(error).__name__
    if kind == "UnpicklingError":  # torch's own message explains how to run the code in the pickle
        why = f"{PICKLED[0]} holds more than tensors, or is damaged, so it is not opened; convert it to safetensors"
    else:
        why = f"{kind}: {one_line(error)}"
    named = re.search(r"requires the (\S+) library", str(error)) if isinstance(error, ImportError) else None
    remedy = (
        f"pip install 'vlgate[hf]' {named[1].lower()}" if named else f"{holdings(folder)}; save or download it again"
    )
    return f"{name} cannot be loaded from {source.asked} (in {folder}): {why}; {remedy}"


def load_processor(cls: Any, source: Pretrained, **kwargs: Any) -> Any:
    """Load a processor, tokenizer or image processor of transformers; ``kwargs`` go to ``cls.from_pretrained``.

    Raises: ModelLoadError if it cannot be loaded, or if a tokenizer has no vocabulary: transformers would silently make
        one that maps every word to "unknown".
    """
    folder = folder_of(source)
    try:
        with no_bars():
            found = cls.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **kwargs)
    except damaged() as error:
        raise ModelLoadError(_cannot(source, folder, cls.__name__, error)) from error
    if not knows_words(getattr(found, "tokenizer", found)):
        raise ModelLoadError(
            f"the tokenizer of {source.asked} has no vocabulary: {holdings(folder)}; expected tokenizer.json or the "
            "files of the vocabulary; save the tokenizer into the folder of the weights"
        )
    return found
