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
from vlgate.models.likelihood import log_probabilities

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
    # Where pictures take fewer positions than tokens, the model places them itself and remembers the difference.
    placing: Any = next((one for one in (model, getattr(model, "model", None)) if hasattr(one, "get_rope_index")), None)
    placed = {} if placing is not None else {"position_ids": _positions(mask)}
    output = model(**inputs, **placed, **_only_last(model), use_cache=True)
    if getattr(output, "past_key_values", None) is None:
        raise ModelLoadError(f"a {type(model).__name__} keeps no cache of what it has read, and is not supported")
    shift = getattr(placing, "rope_deltas", None)
    return State(cache=output.past_key_values, mask=mask, next=log_probabilities(output.logits[:, -1]), shift=shift)


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
    rows = [[filler] * before + list(row) for row, before in _with_gaps(tokens)]
    seen = [[0] * before + [1] * len(row) for row, before in _with_gaps(tokens)]
    output, mask = _forward(model, state, rows, seen, **_only_last(model))
    shift, cache = state.shift, output.past_key_values
    return State(cache=cache, mask=mask, next=log_probabilities(output.logits[:, -1]), shift=shift)


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

    # Padding stands at the end, where no token sees it: layers that keep one running state (linear attention, short
    # convolutions) would take it in, whatever the mask says.
    rows = [list(row) + [filler] * behind for row, behind in _with_gaps(tokens)]
    seen = [[1] * len(row) + [0] * behind for row, behind in _with_gaps(tokens)]
    output, _ = _forward(model, state, rows, seen)
    found = []
    for row, ids in enumerate(tokens):  # row by row: all of them in float64 would be gigabytes
        after = log_probabilities(output.logits[row, : len(ids)])
        before = torch.cat([state.next[row : row + 1], after[:-1]])
        wanted = torch.tensor(ids, device=before.device)
        total = before.gather(1, wanted[:, None]).sum()
        found.append(total + after[-1, list(ends)].logsumexp(0) if ends else total)
    return [float(value) for value in torch.stack(found).cpu()]


def _with_gaps(tokens: Sequence[Sequence[int]]) -> list[tuple[Sequence[int], int]]:
    """Each row, with how many tokens of padding make it as long as the longest."""
    width = max(map(len, tokens))
    return [(row, width - len(row)) for row in tokens]


def _forward(
    model: Any, state: State, rows: Sequence[Sequence[int]], seen: Sequence[Sequence[int]], **kept: int
) -> tuple[Any, torch.Tensor]:
    """Read rows of one length; ``seen`` is 0 where they are padding."""
    import torch

    device = state.mask.device
    mask = torch.cat([state.mask, torch.tensor(seen, device=device, dtype=state.mask.dtype)], dim=1)
    positions = _positions(mask)
    if state.shift is not None:
        positions = positions + state.shift.to(device)
    output = model(
        input_ids=torch.tensor(rows, device=device), attention_mask=mask,
        position_ids=positions[:, -len(rows[0]) :].contiguous(), past_key_values=state.cache, use_cache=True, **kept,
    )  # fmt: skip
    return output, mask


def _positions(mask: torch.Tensor) -> torch.Tensor:
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


def _only_last(model: Any) -> dict[str, int]:
    """Logits of all of a picture's tokens would fill the memory, and nobody reads them."""
    return {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}
