"""What a generative model has read so far, kept so that several texts can go on from it.

A picture is hundreds of tokens and a question a few dozen: what is common to requests is read once. Continuations are
masked and placed exactly as the library's own ``generate`` does it, so that padding and neighbours change nothing.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What a model has read of n sequences.

    ``cache`` holds their keys and values, ``mask`` (n, length) is 1 where a token was read, ``next`` (n, vocabulary)
    the log-probabilities of the token that comes now, float64, and ``shift`` (n, 1) what is added to positions where
    pictures take fewer positions than tokens (the M-RoPE of Qwen2-VL and its kin); None elsewhere.
    """

    cache: Any
    mask: torch.Tensor
    next: torch.Tensor
    shift: torch.Tensor | None


def read(model: Any, inputs: Mapping[str, Any]) -> State:
    """Read whole prompts with their pictures.

    Args:
        model: an image-text-to-text model of transformers.
        inputs: what its processor made of n prompts, padded on the left.
    """
    mask = inputs["attention_mask"]
    core = getattr(model, "model", model)
    placed = {} if hasattr(core, "get_rope_index") else {"position_ids": _positions(mask)}
    output = model(**inputs, **placed, **_only_last(model), use_cache=True)
    if getattr(output, "past_key_values", None) is None:
        raise ModelLoadError(f"a {type(model).__name__} keeps no cache of what it has read, and is not supported")
    shift = getattr(core, "rope_deltas", None)
    return State(cache=output.past_key_values, mask=mask, next=_log_probabilities(output.logits[:, -1]), shift=shift)


def select(state: State, rows: Sequence[int]) -> State:
    """The states of some sequences, each as often as it is named; what goes on from one does not touch another."""
    import torch

    index = torch.tensor(rows, device=state.mask.device)
    cache = copy.copy(state.cache)
    cache.layers = [_apart(layer) for layer in state.cache.layers]
    cache.reorder_cache(index)  # which puts new tensors into the copies
    shift = None if state.shift is None else state.shift[index]
    return State(cache=cache, mask=state.mask[index], next=state.next[index], shift=shift)


def _apart(layer: Any) -> Any:
    """A layer of a cache that can be filled on its own; the tensors are shared until then."""
    other = copy.copy(layer)
    for name, value in vars(layer).items():
        if isinstance(value, list | dict):  # layers of linear attention keep several states
            setattr(other, name, copy.copy(value))
    return other


def go_on(model: Any, state: State, tokens: Sequence[Sequence[int]], *, filler: int) -> State:
    """Read further tokens, at least one a sequence; ``state`` cannot be used any more.

    Args:
        model: as for ``read``.
        state: what was read of n sequences.
        tokens: n sequences of token ids.
        filler: the token of padding.
    """
    output, mask = _forward(model, state, tokens, filler, only_last=True)
    shift, cache = state.shift, output.past_key_values
    return State(cache=cache, mask=mask, next=_log_probabilities(output.logits[:, -1]), shift=shift)


def log_likelihoods(
    model: Any, state: State, tokens: Sequence[Sequence[int]], *, filler: int, ends: Sequence[int] = ()
) -> list[float]:
    """How likely continuations are; ``state`` cannot be used any more.

    Args:
        model: as for ``read``.
        state: what was read of n sequences.
        tokens: n continuations, of at least one token each.
        filler: the token of padding.
        ends: the tokens one of which must follow; empty where anything may.

    Returns: n sums of log-probabilities, natural logarithms.
    """
    import torch

    output, _ = _forward(model, state, tokens, filler, only_last=False)
    found = []
    for row, ids in enumerate(tokens):  # row by row: all of them in float64 would be gigabytes
        after = _log_probabilities(output.logits[row, -len(ids) :])
        before = torch.cat([state.next[row : row + 1], after[:-1]])
        wanted = torch.tensor(ids, device=before.device)
        total = before.gather(1, wanted[:, None]).sum()
        found.append(total + after[-1, list(ends)].logsumexp(0) if ends else total)
    return [float(value) for value in torch.stack(found).cpu()]


def _forward(
    model: Any, state: State, tokens: Sequence[Sequence[int]], filler: int, *, only_last: bool
) -> tuple[Any, torch.Tensor]:
    import torch

    width = max(map(len, tokens))
    device = state.mask.device
    ids = torch.tensor([[filler] * (width - len(row)) + list(row) for row in tokens], device=device)
    new = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in tokens], device=device)
    mask = torch.cat([state.mask, new.to(state.mask.dtype)], dim=1)
    positions = _positions(mask)
    if state.shift is not None:
        positions = positions + state.shift.to(device)
    kept = _only_last(model) if only_last else {}
    output = model(
        input_ids=ids, attention_mask=mask, position_ids=positions[:, -width:].contiguous(),
        past_key_values=state.cache, use_cache=True, **kept,
    )  # fmt: skip
    return output, mask


def _positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


def _only_last(model: Any) -> dict[str, int]:
    """Logits of all of a picture's tokens would fill the memory, and nobody reads them."""
    return {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}


def _log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    return logits.double().log_softmax(-1)
