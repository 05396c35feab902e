"""Models and processors of transformers, loaded whole or not at all; nothing that a checkpoint brings is run."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.damaged import damaged, one_line
from vlgate.models.device import pick_dtype
from vlgate.models.hub import PICKLED, SAFE, Pretrained, folder_of, holdings, read_config, weights_form
from vlgate.models.inputs import knows_words
from vlgate.models.quiet import no_bars
from vlgate.models.whole import check_complete, check_type


def load_model(
    cls: Any, source: Pretrained, *, device: str, dtype: str, may_miss: Collection[str] = (), **kwargs: Any
) -> Any:
    """Load a model of transformers with every one of its weights, in evaluation mode.

    Args:
        cls: a model class of transformers.
        source: where the checkpoint is.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.
        may_miss: regular expressions of the weights that need not be there, since replies do not depend on them.
        kwargs: handed to ``cls.from_pretrained``.

    Raises: ModelLoadError, also where a weight is missing: the library would make it up at random and only warn. A
        pickle is read as tensors only; code of a repository is never run.
    """
    folder = folder_of(source)
    safe = _form_of(source) is SAFE
    if "config" not in kwargs:
        check_type(cls, source.asked, read_config(source))
    try:
        # Sizes that do not match come back in ``info``; the library's own error for them names none.
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
        raise ModelLoadError(f"{source.asked} does not go onto device={device!r} ({error}); try another") from error


def _form_of(source: Pretrained) -> tuple[str, ...]:
    try:
        return weights_form(folder_of(source))
    except ModelLoadError as error:
        if source.local:
            raise
        fetch = f"fetch the rest where there is a network (hf download {source.location})"
        raise ModelLoadError(f"{error}; {fetch}") from error


def _cannot(source: Pretrained, folder: Path, name: str, error: Exception) -> str:
    kind = type(error).__name__
    if kind == "UnpicklingError":  # torch's own message tells how to run what is in it
        why = f"{PICKLED[0]} holds more than tensors, or is damaged, and is not opened; convert it to safetensors"
    else:
        why = f"{kind}: {one_line(error)}"
    named = re.search(r"requires the (\S+) library", str(error)) if isinstance(error, ImportError) else None
    remedy = f"pip install 'vlgate[hf]' {named[1].lower()}" if named else f"{holdings(folder)}; save or fetch it anew"
    return f"{name} cannot be loaded from {source.asked} (in {folder}): {why}; {remedy}"


def load_processor(cls: Any, source: Pretrained, **kwargs: Any) -> Any:
    """Load a processor, tokenizer or image processor of transformers; ``kwargs`` go to ``cls.from_pretrained``.

    Raises: ModelLoadError, also where a tokenizer comes without its vocabulary: the library makes one up to which all
        words are unknown, and says nothing.
    """
    folder = folder_of(source)
    try:
        with no_bars():
            found = cls.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **kwargs)
    except damaged() as error:
        raise ModelLoadError(_cannot(source, folder, cls.__name__, error)) from error
    if not knows_words(getattr(found, "tokenizer", found)):
        raise ModelLoadError(
            f"the tokenizer of {source.asked} knows no words: {holdings(folder)}; expected tokenizer.json or the "
            "vocabulary's own files; save the tokenizer beside the weights"
        )
    return found
