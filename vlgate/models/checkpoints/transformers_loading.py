"""Load models, processors and PEFT adapters of transformers completely or not at all, with remedies."""

import importlib.util
import re
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vlgate.asking.batching import out_of_memory
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.device import pick_dtype
from vlgate.models.checkpoints.inputs import knows_words
from vlgate.models.checkpoints.load_errors import damaged, one_line
from vlgate.models.checkpoints.whole import check_complete, check_meaning, check_precision, check_type, left_out


@contextmanager
def no_bars() -> Iterator[None]:
    from transformers.utils import logging

    # The hook for new bars, because ``disable_progress_bar()`` also hides the download progress of huggingface_hub.
    # Versions of transformers without that hook still draw their bars.
    if not hasattr(logging, "set_tqdm_hook"):
        yield
        return
    before = logging.set_tqdm_hook(lambda bar, args, kwargs: bar(*args, **{**kwargs, "disable": True}))
    try:
        yield
    finally:
        logging.set_tqdm_hook(before)


OWN = "write an adapter of your own (package.module:callable)"
MEMORY_REMEDY = (
    "run with --dtype bfloat16, which takes half of the memory, on another --device, on several GPUs "
    f"(vlm:...?device_map=auto), or {hub.SERVE}"
)
_UNQUANTISED = f"name the checkpoint that it was made from, or {hub.SERVE}"
_PACKAGES = {
    "aqlm": "aqlm", "auto-round": "auto-round", "awq": "gptqmodel", "bitsandbytes": "bitsandbytes accelerate",
    "compressed-tensors": "compressed-tensors", "eetq": "eetq", "gptq": "optimum gptqmodel", "hqq": "hqq",
    "quanto": "optimum-quanto", "quark": "amd-quark", "torchao": "torchao", "vptq": "vptq",
}  # fmt: skip


def quantised(config: Mapping[str, Any]) -> str:
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        settings = part.get("quantization_config")
        if isinstance(settings, dict) and settings:
            bits = settings.get("load_in_4bit") or settings.get("load_in_8bit")
            return "bitsandbytes" if bits else str(settings.get("quant_method") or "an unnamed method")
    return ""


def why_and_remedy(error: BaseException, config: Mapping[str, Any]) -> tuple[str, str]:
    """Return why a checkpoint cannot be loaded (empty: the error itself says it), and what helps (empty: unknown)."""
    text, kind, method = str(error), config.get("model_type"), quantised(config)
    why = remedy = ""
    if out_of_memory(error):
        remedy = MEMORY_REMEDY
    elif "trust_remote_code" in text or "custom code" in text:
        why = f"a {kind} needs custom code from its repository, and no such code is run here"
        remedy = (
            "name a conversion for transformers itself (such as a repository whose name ends in -hf), "
            f"{hub.SERVE}, or {OWN}"
        )
    elif method and isinstance(error, ImportError | RuntimeError | ValueError):
        named = re.search(r"pip install ([^`)]+)", text)
        packages = named[1].strip().removeprefix("-U ") if named else _PACKAGES.get(method, "")
        remedy = f"it is quantised ({method}): {f'pip install {packages}, ' if packages else ''}{_UNQUANTISED}"
    elif "does not recognize this architecture" in text:
        why = f"the installed transformers does not know the model_type {kind!r}"
        remedy = f"pip install --upgrade transformers, {hub.SERVE}, or {OWN}"
    elif "Unrecognized configuration class" in text:
        why = f"transformers has no such model of model_type {kind!r}"
        remedy = f"name another --model (vlgate models lists them), {hub.SERVE}, or {OWN}"
    elif isinstance(error, ImportError) and (named := re.search(r"requires the (\S+) library", text)):
        remedy = f"pip install 'vlgate[hf]' {named[1].lower()}"
    return why, remedy


def merged(model: Any, source: hub.Pretrained, base: hub.Pretrained) -> tuple[Any, str]:
    folder = hub.folder_of(source)
    try:
        import peft
        from peft.tuners.tuners_utils import BaseTunerLayer

        settings = peft.PeftConfig.from_pretrained(str(folder))
        kind = str(settings.peft_type).rpartition(".")[2]
        if settings.is_prompt_learning:
            raise ModelLoadError(
                f"{source.asked} holds an adapter of kind {kind}, which changes the prompt and cannot be merged into "
                f"weights; serve it with peft, and name it openai:URL#NAME, or {OWN}"
            )
        with warnings.catch_warnings():  # peft warns of what is checked below
            warnings.simplefilter("ignore")
            wrapped = peft.PeftModel(model, settings)
            info = wrapped.load_adapter(str(folder), "default")
            if info.missing_keys and info.unexpected_keys:
                # The names are those of an earlier transformers, which transformers itself converts.
                model = wrapped.unload()
                _check(source, model.load_adapter(str(folder)))
                for name, layer in list(model.named_modules()):
                    if isinstance(layer, BaseTunerLayer):
                        layer.merge(safe_merge=True)
                        parent, _, child = name.rpartition(".")
                        setattr(model.get_submodule(parent), child, layer.get_base_layer())
            else:
                _check(source, info)
                model = wrapped.merge_and_unload(safe_merge=True)
    except damaged() as error:
        raise ModelLoadError(
            f"the adapter of {source.asked} cannot be applied to {base.asked} ({type(error).__name__}: "
            f"{one_line(error)}); check that {hub.ADAPTER} names its base model, and that peft is as new as the one "
            "that saved it, or merge the adapter and save the result"
        ) from error
    on = "the weights beside it" if base is source else base.asked
    return model, f"the adapter of {Path(source.asked).name} ({kind}) was merged into {on} by peft {peft.__version__}"


def _check(source: hub.Pretrained, info: Any) -> None:
    for keys, what in ((info.missing_keys, "lacks"), (info.unexpected_keys, "has, and the base model does not take,")):
        if keys:
            count = f"{len(keys)} weight{'s' if len(keys) > 1 else ''}"
            raise ModelLoadError(
                f"the adapter of {source.asked} {what} {count} ({', '.join(sorted(keys)[:3])}); name the base model "
                "that it was trained on, or merge the adapter into it and save the result"
            )


NOTES = "vlgate_notes"  # the attribute of a loaded model with notes for the readers of the results, a tuple of strings


def load_model(
    cls: Any, source: hub.Pretrained, *, device: str, dtype: str, may_miss: Collection[str] = (), **kwargs: Any
) -> Any:
    """Load a model of transformers with all of its weights, in evaluation mode; an adapter is merged into it."""
    # Pickled weights are read as tensors only, and code of a repository is never run. With accelerate, weights go to a
    # GPU one by one, so that the memory of the machine need not hold them all.
    form, base = _form_of(source), hub.weights_of(source)
    folder, config = hub.folder_of(base), hub.read_config(base)
    if "config" not in kwargs:
        check_type(cls, source.asked, config)
    _check_precision(source, folder, form, config)
    kwargs |= _placed(kwargs, device, folder)
    failures: tuple[type[Exception], ...] = (*damaged(), MemoryError)
    try:
        # Sizes that do not match are listed in ``info``; the error of transformers for them names no weight.
        with no_bars():
            model, info = cls.from_pretrained(
                str(folder), dtype=pick_dtype(dtype), use_safetensors=form is hub.SAFE, weights_only=True,
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
    if (hub.folder_of(source) / hub.ADAPTER).is_file():
        model, note = merged(model, source, base)
        notes.append(note)
    if kwargs.get("device_map") == "auto":
        devices = {str(where) for where in getattr(model, "hf_device_map", {"": model.device}).values()}
        notes.append(f"its layers lie on {', '.join(sorted(devices))} (device_map=auto)")
    setattr(model, NOTES, tuple(filter(None, notes)))
    model = model.eval()
    try:
        return model if "device_map" in kwargs else model.to(device)
    except (RuntimeError, ValueError) as error:
        remedy = MEMORY_REMEDY if out_of_memory(error) else "try another --device"
        raise ModelLoadError(f"{source.asked} cannot be moved to device={device!r} ({error}); {remedy}") from error


def _check_precision(source: hub.Pretrained, folder: Path, form: tuple[str, ...], config: Mapping[str, Any]) -> None:
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
            f"was made from, or {hub.SERVE}"
        )


def _placed(kwargs: Mapping[str, Any], device: str, folder: Path) -> dict[str, Any]:
    given: dict[str, Any] = {}
    accelerate = importlib.util.find_spec("accelerate") is not None
    if "device_map" in kwargs and not accelerate:
        raise ModelLoadError("device_map=auto needs accelerate, which is not installed; pip install accelerate")
    if "device_map" not in kwargs and device.startswith("cuda") and accelerate:
        given["device_map"] = {"": device}
    if (folder / hub.ADAPTER).is_file():
        # With peft, transformers would apply it and tell nothing of the base model; it looks for it in this folder.
        given["adapter_kwargs"] = {"subfolder": "no adapter"}
    return given


def _form_of(source: hub.Pretrained) -> tuple[str, ...]:
    try:
        return hub.weights_form(hub.folder_of(source))
    except ModelLoadError as error:
        if source.local or not re.search(r" lacks \d+ file|; expected one of ", str(error)):
            raise
        fetch = f"download the rest on a machine with a network (hf download {source.location})"
        raise ModelLoadError(f"{error}; {fetch}") from error


def _cannot(source: hub.Pretrained, folder: Path, name: str, error: BaseException) -> str:
    config = hub.read_config(source) if (folder / hub.CONFIG).is_file() else {}
    why, remedy = why_and_remedy(error, config)
    kind = type(error).__name__
    if kind == "UnpicklingError":  # torch's own message explains how to run the code in the pickle
        why = f"{hub.PICKLED[0]} holds more than tensors, or is damaged, so it is not opened; convert it to safetensors"
    return (
        f"{name} cannot be loaded from {source.asked} (in {folder}): {why or f'{kind}: {one_line(error)}'}; "
        f"{remedy or f'{hub.holdings(folder)}; save or download it again'}"
    )


def load_processor(cls: Any, source: hub.Pretrained, **kwargs: Any) -> Any:
    folder = hub.parts_folder(source, tokenizer_only="Tokenizer" in cls.__name__)
    try:
        with no_bars():
            processor = cls.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **kwargs)
    except damaged() as error:
        raise ModelLoadError(_cannot(source, folder, cls.__name__, error)) from error
    if not knows_words(getattr(processor, "tokenizer", processor)):
        raise ModelLoadError(
            f"the tokenizer of {source.asked} has no vocabulary: {hub.holdings(folder)}; expected tokenizer.json or "
            "the files of the vocabulary; save the tokenizer into the folder of the weights"
        )
    return processor


def classes_of(*parts: Any) -> str:
    # Image processors on torchvision and on Pillow differ in the last digits of the pixels; so do fast and slow ones.
    held = [getattr(part, name, None) for part in parts for name in ("image_processor", "tokenizer")]
    return " ".join(type(part).__name__ for part in (*parts, *held) if part is not None)
