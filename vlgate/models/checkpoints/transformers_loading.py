"""Load models and processors of transformers completely or not at all, without running code of a checkpoint."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.inference.batching import out_of_memory
from vlgate.models.checkpoints.adapters import merged
from vlgate.models.checkpoints.damaged import damaged, one_line
from vlgate.models.checkpoints.device import pick_dtype
from vlgate.models.checkpoints.hub import (
    ADAPTER,
    CONFIG,
    PICKLED,
    SAFE,
    SERVE,
    Pretrained,
    folder_of,
    holdings,
    parts_folder,
    read_config,
    weights_form,
    weights_of,
)
from vlgate.models.checkpoints.inputs import knows_words
from vlgate.models.checkpoints.quiet import no_bars
from vlgate.models.checkpoints.remedies import memory_remedy, quantised, why_and_remedy
from vlgate.models.checkpoints.whole import check_complete, check_meaning, check_precision, check_type, left_out

NOTES = "vlgate_notes"
"""The attribute of a loaded model with notes for the readers of the results, a tuple of strings."""


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
        kwargs: further arguments of ``cls.from_pretrained``; ``device_map="auto"`` spreads the model over several GPUs.

    Pickled weights are read as tensors only, and code of a repository is never run. With accelerate, weights go to a
    GPU one by one, so that the memory of the machine need not hold them all. An adapter is merged into its base model.

    Returns: the model; its attribute ``NOTES`` says which weights were left out and which adapter was merged.
    Raises: ModelLoadError if the checkpoint cannot be loaded, lacks a weight, which transformers would initialise at
        random with only a warning, or has weights that matter and that the model does not take.
    """
    form, base = _form_of(source), weights_of(source)
    folder, config = folder_of(base), read_config(base)
    if "config" not in kwargs:
        check_type(cls, source.asked, config)
    _check_precision(source, folder, form, config)
    kwargs |= _placed(kwargs, device, folder)
    failures: tuple[type[Exception], ...] = (*damaged(), MemoryError)
    try:
        # Sizes that do not match are listed in ``info``; the error of transformers for them names no weight.
        with no_bars():
            model, info = cls.from_pretrained(
                str(folder), dtype=pick_dtype(dtype), use_safetensors=form is SAFE, weights_only=True,
                local_files_only=True, trust_remote_code=False, ignore_mismatched_sizes=True, output_loading_info=True,
                **kwargs,
            )  # fmt: skip
    except failures as error:
        raise ModelLoadError(_cannot(source, folder, cls.__name__, error)) from error
    name = type(model).__name__
    check_meaning(source.asked, info["unexpected_keys"])
    check_complete(source.asked, cls.__name__, info, may_miss)
    notes = [left_out(source.asked, name, info["unexpected_keys"], config.get("architectures") or ())]
    if method := quantised(config):
        notes.append(f"the checkpoint is quantised ({method})")
    if (folder_of(source) / ADAPTER).is_file():
        model, note = merged(model, source, base)
        notes.append(note)
    notes.append(_spread(model) if kwargs.get("device_map") == "auto" else "")
    setattr(model, NOTES, tuple(filter(None, notes)))
    return _moved(model.eval(), source, device) if "device_map" not in kwargs else model.eval()


def _spread(model: Any) -> str:
    devices = {str(device) for device in getattr(model, "hf_device_map", {"": model.device}).values()}
    return f"its layers lie on {', '.join(sorted(devices))} (device_map=auto)"


def _check_precision(source: Pretrained, folder: Path, form: tuple[str, ...], config: Mapping[str, Any]) -> None:
    from transformers.quantizers.auto import AUTO_QUANTIZER_MAPPING

    method = quantised(config)
    if not method:
        try:
            check_precision(source.asked, folder, form)
        except damaged():
            return  # loading it says what is wrong
    elif AUTO_QUANTIZER_MAPPING.keys().isdisjoint((method, f"{method}_8bit")):
        raise ModelLoadError(
            f"{source.asked} is quantised by {method}, which transformers does not read; name the checkpoint that it "
            f"was made from, or {SERVE}"
        )


def _placed(kwargs: Mapping[str, Any], device: str, folder: Path) -> dict[str, Any]:
    """Further arguments of ``from_pretrained``: the device of each weight, and that it applies no adapter."""
    given: dict[str, Any] = {}
    accelerate = importlib.util.find_spec("accelerate") is not None
    if "device_map" in kwargs and not accelerate:
        raise ModelLoadError("device_map=auto needs accelerate, which is not installed; pip install accelerate")
    if "device_map" not in kwargs and device.startswith("cuda") and accelerate:
        given["device_map"] = {"": device}
    if (folder / ADAPTER).is_file():
        # With peft, transformers would apply it and tell nothing of the base model; it looks for it in this folder.
        given["adapter_kwargs"] = {"subfolder": "no adapter"}
    return given


def _moved(model: Any, source: Pretrained, device: str) -> Any:
    try:
        return model.to(device)
    except (RuntimeError, ValueError) as error:
        remedy = memory_remedy() if out_of_memory(error) else "try another --device"
        raise ModelLoadError(f"{source.asked} cannot be moved to device={device!r} ({error}); {remedy}") from error


def _form_of(source: Pretrained) -> tuple[str, ...]:
    try:
        return weights_form(folder_of(source))
    except ModelLoadError as error:
        if source.local or not re.search(r" lacks \d+ file|; expected one of ", str(error)):
            raise
        fetch = f"download the rest on a machine with a network (hf download {source.location})"
        raise ModelLoadError(f"{error}; {fetch}") from error


def _cannot(source: Pretrained, folder: Path, name: str, error: BaseException) -> str:
    config = read_config(source) if (folder / CONFIG).is_file() else {}
    why, remedy = why_and_remedy(error, config)
    kind = type(error).__name__
    if kind == "UnpicklingError":  # torch's own message explains how to run the code in the pickle
        why = f"{PICKLED[0]} holds more than tensors, or is damaged, so it is not opened; convert it to safetensors"
    return (
        f"{name} cannot be loaded from {source.asked} (in {folder}): {why or f'{kind}: {one_line(error)}'}; "
        f"{remedy or f'{holdings(folder)}; save or download it again'}"
    )


def load_processor(cls: Any, source: Pretrained, **kwargs: Any) -> Any:
    """Load a processor, tokenizer or image processor of transformers; ``kwargs`` go to ``cls.from_pretrained``.

    An adapter without a processor of its own takes that of its base model.

    Raises: ModelLoadError if it cannot be loaded, or if a tokenizer has no vocabulary: transformers would silently make
        one that maps every word to "unknown".
    """
    folder = parts_folder(source, tokenizer_only="Tokenizer" in cls.__name__)
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


def classes_of(*parts: Any) -> str:
    """Return the names of the classes of processors and of what they hold, for a fingerprint.

    Image processors on torchvision and on Pillow differ in the last digits of the pixels, and so do fast and slow ones.
    """
    held = [getattr(part, name, None) for part in parts for name in ("image_processor", "tokenizer")]
    return " ".join(type(part).__name__ for part in (*parts, *held) if part is not None)
