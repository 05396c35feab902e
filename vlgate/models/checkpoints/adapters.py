"""Apply an adapter of PEFT (LoRA, IA3, ...) to its base model, and merge it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.damaged import damaged, one_line
from vlgate.models.checkpoints.hub import ADAPTER, Pretrained, folder_of


def merged(model: Any, source: Pretrained, base: Pretrained) -> tuple[Any, str]:
    """Merge the adapter of a checkpoint into its base model.

    Args:
        model: the base model, which changes.
        source: the checkpoint with the adapter.
        base: the checkpoint of the base model; ``source`` if both are in one folder.

    Returns: the model, and a note for the readers of the results.
    Raises: ModelLoadError if the adapter cannot be merged, lacks weights, or has weights that the model does not take.
    """
    folder = folder_of(source)
    try:
        import peft

        settings = peft.PeftConfig.from_pretrained(str(folder))
        kind = str(settings.peft_type).rpartition(".")[2]
        if settings.is_prompt_learning:
            raise ModelLoadError(
                f"{source.asked} holds an adapter of kind {kind}, which changes the prompt and cannot be merged into "
                "weights; serve it with peft, and name it openai:URL#NAME, or write an adapter of your own "
                "(package.module:callable)"
            )
        with warnings.catch_warnings():  # peft warns of what is checked below
            warnings.simplefilter("ignore")
            wrapped = peft.PeftModel(model, settings)
            info = wrapped.load_adapter(str(folder), "default")
            if info.missing_keys and info.unexpected_keys:
                model = _renamed(wrapped.unload(), source)
            else:
                _check(source, info)
                model = wrapped.merge_and_unload(safe_merge=True)
    except damaged() as error:
        raise ModelLoadError(
            f"the adapter of {source.asked} cannot be applied to {base.asked} ({type(error).__name__}: "
            f"{one_line(error)}); check that {ADAPTER} names its base model, and that peft is as new as the one that "
            "saved it, or merge the adapter and save the result"
        ) from error
    on = "the weights beside it" if base is source else base.asked
    return model, f"the adapter of {Path(source.asked).name} ({kind}) was merged into {on} by peft {peft.__version__}"


def _renamed(model: Any, source: Pretrained) -> Any:
    """Merge an adapter whose weights have the names of an earlier transformers, which transformers itself converts."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    _check(source, model.load_adapter(str(folder_of(source))))
    for name, layer in list(model.named_modules()):
        if isinstance(layer, BaseTunerLayer):
            layer.merge(safe_merge=True)
            parent, _, child = name.rpartition(".")
            setattr(model.get_submodule(parent), child, layer.get_base_layer())
    return model


def _check(source: Pretrained, info: Any) -> None:
    for keys, what in (
        (info.missing_keys, "lacks"),
        (info.unexpected_keys, "has, and the base model does not take,"),
    ):
        if keys:
            count = f"{len(keys)} weight{'s' if len(keys) > 1 else ''}"
            raise ModelLoadError(
                f"the adapter of {source.asked} {what} {count} ({', '.join(sorted(keys)[:3])}); name the base model "
                "that it was trained on, or merge the adapter into it and save the result"
            )
