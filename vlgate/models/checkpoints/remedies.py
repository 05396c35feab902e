"""What to do about a checkpoint that transformers cannot load, by the reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from vlgate.inference.batching import out_of_memory
from vlgate.models.checkpoints.hub import SERVE

OWN = "write an adapter of your own (package.module:callable)"
_UNQUANTISED = f"name the checkpoint that it was made from, or {SERVE}"
_PACKAGES = {
    "aqlm": "aqlm", "auto-round": "auto-round", "awq": "gptqmodel", "bitsandbytes": "bitsandbytes accelerate",
    "compressed-tensors": "compressed-tensors", "eetq": "eetq", "gptq": "optimum gptqmodel", "hqq": "hqq",
    "quanto": "optimum-quanto", "quark": "amd-quark", "torchao": "torchao", "vptq": "vptq",
}  # fmt: skip


def quantised(config: Mapping[str, Any]) -> str:
    """Return the method by which transformers takes a checkpoint to be quantised; empty if it does not.

    Args:
        config: the content of its ``config.json``.

    >>> quantised({"text_config": {"quantization_config": {"quant_method": "awq"}}})
    'awq'
    """
    text = config.get("text_config")
    for part in (config, text if isinstance(text, dict) else {}):
        settings = part.get("quantization_config")
        if isinstance(settings, dict) and settings:
            bits = settings.get("load_in_4bit") or settings.get("load_in_8bit")
            return "bitsandbytes" if bits else str(settings.get("quant_method") or "an unnamed method")
    return ""


def why_and_remedy(error: BaseException, config: Mapping[str, Any]) -> tuple[str, str]:
    """Return why a checkpoint cannot be loaded, and what helps.

    Args:
        error: what transformers raised.
        config: the content of ``config.json``; empty if there is none.

    Returns: two parts of a message. The first is empty if the words of the error itself are the best; both are if the
        reason is not known.
    """
    text, kind, method = str(error), config.get("model_type"), quantised(config)
    why = remedy = ""
    if out_of_memory(error):
        remedy = memory_remedy()
    elif "trust_remote_code" in text or "custom code" in text:
        why = f"a {kind} needs custom code from its repository, and no such code is run here"
        remedy = (
            "name a conversion for transformers itself (such as a repository whose name ends in -hf), "
            f"{SERVE}, or {OWN}"
        )
    elif method and isinstance(error, ImportError | RuntimeError | ValueError):
        named = re.search(r"pip install ([^`)]+)", text)
        packages = named[1].strip().removeprefix("-U ") if named else _PACKAGES.get(method, "")
        remedy = f"it is quantised ({method}): {f'pip install {packages}, ' if packages else ''}{_UNQUANTISED}"
    elif "does not recognize this architecture" in text:
        why = f"the installed transformers does not know the model_type {kind!r}"
        remedy = f"pip install --upgrade transformers, {SERVE}, or {OWN}"
    elif "Unrecognized configuration class" in text:
        why = f"transformers has no such model of model_type {kind!r}"
        remedy = f"name another --model (vlgate models lists them), {SERVE}, or {OWN}"
    elif isinstance(error, ImportError) and (named := re.search(r"requires the (\S+) library", text)):
        remedy = f"pip install 'vlgate[hf]' {named[1].lower()}"
    return why, remedy


def memory_remedy() -> str:
    """Return what helps if a model does not fit the memory of its device.

    >>> memory_remedy().partition(",")[0]
    'run with --dtype bfloat16'
    """
    return (
        "run with --dtype bfloat16, which takes half of the memory, on another --device, on several GPUs "
        f"(vlm:...?device_map=auto), or {SERVE}"
    )
