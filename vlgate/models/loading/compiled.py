"""Run the blocks of a model through ``torch.compile``, for ``--compile on``.

Only the repeated blocks are compiled. They do most of the work, one compilation serves all of them and all sizes, and
it applies to every method of the model.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.fingerprint import digest
from vlgate.models.loading.registry import LoadedModel

if TYPE_CHECKING:
    from torch import nn

_CACHES = {"cache", "past_key_values", "past_key_value", "layer_past"}
# Compilations allowed per block. Torch's default of 8 is too few if the text and the image encoder share a block class.
_SHAPES = 64


@runtime_checkable
class Compiles(Protocol):
    def compile(self) -> None:
        """Compile this part in place."""


def compiled(loaded: LoadedModel, device: str) -> LoadedModel:
    parts = list(_held(loaded.model, {"vlgate", _package(loaded.model)}, set())) if "torch" in sys.modules else []
    if not parts:
        raise ModelLoadError(f"model={loaded.name!r} holds no torch module to compile; leave --compile out")
    import torch

    # Compile something small, so that a missing compiler is reported now and not in the middle of the run.
    try:
        torch.compile(torch.nn.functional.relu)(torch.zeros(8, device=device))
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), "")
        raise ModelLoadError(
            f"torch.compile does not work on this machine ({type(error).__name__}: {why}); it needs a C++ compiler for "
            "the CPU and Triton for a GPU; install it, or leave --compile out"
        ) from error
    limited = "recompile_limit" in inspect.signature(torch.compile).parameters
    for part in parts:
        if isinstance(part, torch.nn.Module):
            for block in blocks(part):
                block.compile(**{"recompile_limit": _SHAPES} if limited else {})
        else:
            part.compile()
    return replace(loaded, fingerprint=digest(loaded.fingerprint, "compiled"))


def blocks(module: nn.Module) -> list[nn.Module]:
    """Return the parts of a module to compile: its repeated blocks, or itself and its children if it has none."""
    from torch import nn

    lists = []
    for part in module.modules():
        if isinstance(part, nn.ModuleList | nn.Sequential) and len(part) > 1 and any(True for _ in part[0].children()):
            # Blocks are repeated if all parts of a list are of one class and have weights of the same shapes.
            kinds = {(type(block), tuple(weight.shape for weight in block.parameters())) for block in part}
            lists += [part] if len(kinds) == 1 else []
    inner = {id(part) for listed in lists for part in listed.modules() if part is not listed}
    found: list[nn.Module] = []
    for block in (block for listed in lists if id(listed) not in inner for block in listed):
        # A block that takes a cache of keys and values looks different to the compiler in each layer, and the compiler
        # gives up after eight; of such a block, only the parts that take no cache are compiled.
        parts = [part for part in block.children() if any(True for _ in part.children())]
        found += [part for part in parts if not _takes_cache(part)] if _takes_cache(block) else [block]
    return found or [module, *module.children()]


def _takes_cache(module: nn.Module) -> bool:
    return not _CACHES.isdisjoint(inspect.signature(module.forward).parameters)


def modules_of(model: object) -> list[nn.Module]:
    if "torch" not in sys.modules:  # a model without torch never loads it
        return []
    from torch import nn

    return [part for part in _held(model, {"vlgate", _package(model)}, set()) if isinstance(part, nn.Module)]


def _held(held: object, packages: set[str], seen: set[int]) -> Iterator[Any]:
    """Yield the torch modules of an object, and the parts of it that compile themselves, within ``packages`` only."""
    from torch import nn

    if id(held) in seen:
        return
    seen.add(id(held))
    inside: Iterable[object] = ()
    if isinstance(held, nn.Module) or (_package(held) in packages and isinstance(held, Compiles)):
        yield held
    elif isinstance(held, Mapping):
        inside = held.values()
    elif isinstance(held, list | tuple):
        inside = held
    elif isinstance(held, partial):
        inside = (held.func, *held.args, *held.keywords.values())
    elif inspect.ismethod(held):
        inside = (held.__self__,)
    elif _package(held) in packages and not isinstance(held, type):
        slots = [name for cls in type(held).__mro__ for name in getattr(cls, "__slots__", ())]
        inside = (*getattr(held, "__dict__", {}).values(), *(getattr(held, name, None) for name in slots))
    for other in inside:
        yield from _held(other, packages, seen)


def _package(held: object) -> str:
    return type(held).__module__.partition(".")[0]
