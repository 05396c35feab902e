"""Run the blocks of a model through ``torch.compile``, for ``--compile on``.

Only the repeated blocks are compiled. They do most of the work, one compilation serves all of them and all sizes, and
it applies to every method of the model.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
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
    """A part of a model that knows how to compile itself."""

    def compile(self) -> None:
        """Compile this part in place."""


def compiled(loaded: LoadedModel, device: str) -> LoadedModel:
    """Compile the torch modules of a loaded model, in place.

    The search goes through the model's attributes, and through those of objects of the model's own package or of
    vlgate, in lists, mappings and partial functions too. An object with its own ``compile`` method compiles itself.
    """
    packages = {"vlgate", _package(loaded.model)}
    parts = list(_parts(loaded.model, packages)) if "torch" in sys.modules else []
    if not parts:
        raise ModelLoadError(f"model={loaded.name!r} holds no torch module to compile; leave --compile out")
    _try(device)
    for compile_part in parts:
        compile_part()
    return replace(loaded, fingerprint=digest(loaded.fingerprint, "compiled"))


def blocks(module: nn.Module) -> list[nn.Module]:
    """Return the parts of a module to compile: its repeated blocks, or itself and its children if it has none.

    Blocks are repeated if all parts of a list are of one class and have weights of the same shapes. A block that takes
    a cache of keys and values looks different to the compiler in each layer, and the compiler gives up after eight; of
    such a block, only the parts that take no cache are returned.
    """
    from torch import nn

    lists = [one for one in module.modules() if isinstance(one, nn.ModuleList | nn.Sequential) and _repeats(one)]
    inner = {id(part) for one in lists for part in one.modules() if part is not one}
    found = [part for one in lists if id(one) not in inner for block in one for part in _without_cache(block)]
    return found or [module, *module.children()]


def _repeats(found: nn.ModuleList | nn.Sequential) -> bool:
    kinds = {(type(block), tuple(weight.shape for weight in block.parameters())) for block in found}
    return len(found) > 1 and len(kinds) == 1 and _has_parts(found[0])


def _without_cache(block: nn.Module) -> list[nn.Module]:
    if not _takes_cache(block):
        return [block]
    return [part for part in block.children() if _has_parts(part) and not _takes_cache(part)]


def _has_parts(module: nn.Module) -> bool:
    return any(True for _ in module.children())


def _takes_cache(module: nn.Module) -> bool:
    return not _CACHES.isdisjoint(inspect.signature(module.forward).parameters)


def modules_of(model: object) -> list[nn.Module]:
    """Return the torch modules that a model of any protocol holds, searched for as in ``compiled``."""
    if "torch" not in sys.modules:  # a model without torch never loads it
        return []
    from torch import nn

    return [part for part in _held(model, {"vlgate", _package(model)}, set()) if isinstance(part, nn.Module)]


def _parts(held: object, packages: set[str]) -> Iterator[Callable[[], None]]:
    from torch import nn

    for part in _held(held, packages, set()):
        if isinstance(part, nn.Module):
            yield from (partial(block.compile, **_limit()) for block in blocks(part))
        else:
            yield part.compile


def _held(held: object, packages: set[str], seen: set[int]) -> Iterator[Any]:
    """Yield the torch modules of an object, and the parts of it that compile themselves."""
    from torch import nn

    if id(held) in seen:
        return
    seen.add(id(held))
    if isinstance(held, nn.Module) or (_package(held) in packages and isinstance(held, Compiles)):
        yield held
    else:
        for other in _inside(held, packages):
            yield from _held(other, packages, seen)


def _inside(held: object, packages: set[str]) -> Iterator[object]:
    if isinstance(held, Mapping):
        yield from held.values()
    elif isinstance(held, list | tuple):
        yield from held
    elif isinstance(held, partial):
        yield from (held.func, *held.args, *held.keywords.values())
    elif inspect.ismethod(held):
        yield held.__self__
    elif _package(held) in packages and not isinstance(held, type):
        yield from getattr(held, "__dict__", {}).values()
        slots = (name for cls in type(held).__mro__ for name in getattr(cls, "__slots__", ()))
        yield from (getattr(held, name, None) for name in slots)


def _limit() -> dict[str, int]:
    import torch

    return {"recompile_limit": _SHAPES} if "recompile_limit" in inspect.signature(torch.compile).parameters else {}


def _package(held: object) -> str:
    return type(held).__module__.partition(".")[0]


def _try(device: str) -> None:
    """Compile something small, so that a missing compiler is reported now and not in the middle of the run."""
    import torch

    try:
        torch.compile(torch.nn.functional.relu)(torch.zeros(8, device=device))
    except Exception as error:
        why = next(iter(str(error).strip().splitlines()), "")
        raise ModelLoadError(
            f"torch.compile does not work on this machine ({type(error).__name__}: {why}); it needs a C++ compiler for "
            "the CPU and Triton for a GPU; install it, or leave --compile out"
        ) from error
