"""Run a generative model over images and prompts, each image once, and keep its states so that texts can continue."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

from vlgate.asking.image_prefetch import InputsAhead, inputs_ahead
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.inputs import moved, rgb_images
from vlgate.models.generative.prompts import Prompt, Prompter
from vlgate.models.text.text_only import log_probabilities
from vlgate.types import LazyImage

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


# An image is hundreds of tokens and a question a few dozen, so requests share what they have in common. Continuations
# get the same masks and positions as in the library's own ``generate``, so that padding and neighbours change nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    # ``cache`` holds the keys and values of n sequences. ``mask`` (n, length) is 0 for padding. ``next`` (n,
    # vocabulary) is the log-probability of each next token, in float64. ``shift`` (n, 1) is added to positions if
    # images take fewer positions than tokens (M-RoPE of Qwen2-VL and others). ``tiles`` (n, 1, images, tiles) is 1 for
    # the tiles that the following tokens attend to, in models that read images by cross attention (Llama 3.2 Vision).

    cache: Any
    mask: torch.Tensor
    next: torch.Tensor
    shift: torch.Tensor | None
    tiles: torch.Tensor | None = None


def read(model: Any, inputs: Mapping[str, Any]) -> State:
    mask = inputs["attention_mask"]
    # If images take fewer positions than tokens, the model computes positions itself and keeps the difference.
    placing: Any = next((one for one in (model, getattr(model, "model", None)) if hasattr(one, "get_rope_index")), None)
    placed = {} if placing is not None else {"position_ids": positions_of(mask)}
    output = model(**inputs, **placed, **_only_last(model), use_cache=True)
    output = getattr(output, "language_model_outputs", output)  # BLIP-2 and InstructBLIP have them inside theirs
    cache = _cache_of(output)
    if cache is None:
        raise ModelLoadError(f"a {type(model).__name__} keeps no cache of keys and values, and is not supported")
    shift = getattr(placing, "rope_deltas", None)
    seen = inputs.get("cross_attention_mask")
    tiles = None if seen is None else seen[:, -1:]
    return State(cache=cache, mask=mask, next=log_probabilities(output.logits[:, -1]), shift=shift, tiles=tiles)


def select(state: State, rows: Sequence[int]) -> State:
    """Copies of the states of sequences, one per entry of ``rows``; a continuation of one changes no other."""
    import torch

    index = torch.tensor(rows, device=state.mask.device)
    cache = copy.copy(state.cache)
    cache.layers = list(map(copy.copy, state.cache.layers))  # they share their tensors until they grow
    for layer in cache.layers:
        for name, value in list(vars(layer).items()):
            if isinstance(value, list | dict):  # layers of linear attention keep several states
                setattr(layer, name, copy.copy(value))
    joining = {"DynamicLayer", "DynamicSlidingWindowLayer"}  # they grow into new tensors
    if list(rows) != list(range(len(state.mask))) or {type(layer).__name__ for layer in cache.layers} - joining:
        cache.reorder_cache(index)  # puts new tensors into the copies
    shift = None if state.shift is None else state.shift[index]
    tiles = None if state.tiles is None else state.tiles[index]
    return State(cache=cache, mask=state.mask[index], next=state.next[index], shift=shift, tiles=tiles)


def go_on(model: Any, state: State, tokens: Sequence[Sequence[int]], *, filler: int) -> State:
    """Read further tokens, at least one per sequence; ``state`` must not be used afterwards."""
    width = max(map(len, tokens))
    rows = [[filler] * (width - len(row)) + list(row) for row in tokens]
    seen = [[0] * (width - len(row)) + [1] * len(row) for row in tokens]
    output, mask = _forward(model, state, rows, seen, **_only_last(model))
    following = log_probabilities(output.logits[:, -1])
    return State(cache=_cache_of(output), mask=mask, next=following, shift=state.shift, tiles=state.tiles)


def log_likelihoods(
    model: Any, state: State, tokens: Sequence[Sequence[int]], *, filler: int, ends: Sequence[int] = ()
) -> list[float]:
    """The log-likelihoods of continuations; ``state`` must not be used afterwards."""
    import torch

    # Padding comes last, so that no token follows it: layers with one running state (linear attention, short
    # convolutions) would take it in, whatever the mask says.
    width = max(map(len, tokens))
    rows = [list(row) + [filler] * (width - len(row)) for row in tokens]
    seen = [[1] * len(row) + [0] * (width - len(row)) for row in tokens]
    output, _ = _forward(model, state, rows, seen)
    found = []
    for row, ids in enumerate(tokens):  # row by row: all of them in float64 would take gigabytes
        after = log_probabilities(output.logits[row, : len(ids)])
        before = torch.cat([state.next[row : row + 1], after[:-1]])
        wanted = torch.tensor(ids, device=before.device)
        total = before.gather(1, wanted[:, None]).sum()
        found.append(total + after[-1, list(ends)].logsumexp(0) if ends else total)
    return [float(value) for value in torch.stack(found).cpu()]


def _forward(
    model: Any, state: State, rows: Sequence[Sequence[int]], seen: Sequence[Sequence[int]], **kept: int
) -> tuple[Any, torch.Tensor]:
    """Read rows of one length, by the language model if the whole cannot do without an image."""
    import torch

    device = state.mask.device
    mask = torch.cat([state.mask, torch.tensor(seen, device=device, dtype=state.mask.dtype)], dim=1)
    positions = positions_of(mask)
    if state.shift is not None:
        positions = positions + state.shift.to(device)
    pixels = inspect.signature(model.forward).parameters.get("pixel_values")
    model = model.language_model if pixels is not None and pixels.default is pixels.empty else model
    length = len(rows[0])
    tiles = {} if state.tiles is None else {"cross_attention_mask": state.tiles.expand(-1, length, -1, -1)}
    named = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
    output = model(
        input_ids=torch.tensor(rows, device=device), attention_mask=mask,
        position_ids=positions[:, -length:].contiguous(), use_cache=True, **{named: state.cache}, **tiles, **kept,
    )  # fmt: skip
    return output, mask


def positions_of(mask: torch.Tensor) -> torch.Tensor:
    """The positions of tokens, counted without padding, in the shape of ``mask`` (n, length)."""
    return (mask.long().cumsum(-1) - 1).clamp(min=0)


def _cache_of(output: Any) -> Any:
    """The cache in a model's output, None if it has none; transformers renamed it in 5.24."""
    new = getattr(output, "cache", None)
    return getattr(output, "past_key_values", None) if new is None else new


def _only_last(model: Any) -> dict[str, int]:
    """Ask for the last token's logits only: those of all of an image's tokens would fill the memory."""
    return {"logits_to_keep": 1} if "logits_to_keep" in inspect.signature(model.forward).parameters else {}


Shown = LazyImage | tuple[LazyImage, ...]  # the image of a prompt, or several in their order
Asked = tuple[Shown, Prompt]
# Families in which a token attends only to earlier ones, so that questions can share an image's states; a test checks
# each. PaliGemma is not one of them: its image tokens attend to the question.
SHARED = frozenset(
    {
        "aria", "fast_vlm", "glm4v", "idefics3", "internvl", "kimi_k25", "llava", "llava_next", "llava_onevision",
        "mistral3", "mllama", "perception_lm", "qwen2_5_vl", "qwen2_vl", "qwen3_vl", "smolvlm",
    }
)  # fmt: skip


class PromptReader:
    def __init__(self, model: Any, processor: Any, *, filler: int) -> None:
        kind = model.config.model_type
        self.prompter = Prompter(processor, kind)
        self._model = model
        self._processor = processor
        self._filler = filler
        self._shares = kind in SHARED
        self._image_token = getattr(model.config, "image_token_id", getattr(model.config, "image_token_index", None))
        self.inputs_ahead = InputsAhead(make=self._inputs, device=model.device)
        # A tokenizer must not be used in two threads at a time.
        self._beside = copy.deepcopy(processor) if inputs_ahead(self) else processor

    def read(self, prompts: Sequence[Asked]) -> State:
        images = list(dict.fromkeys(image for image, _ in prompts))
        shared = self._read_shared(images, prompts) if self._shares and len(images) < len(prompts) else None
        return read(self._model, self.inputs(prompts)) if shared is None else shared

    def _read_shared(self, images: Sequence[Shown], prompts: Sequence[Asked]) -> State | None:
        heads = {prompt.head for _, prompt in prompts}
        if len(heads) > 1 or not (head := heads.pop()):
            return None
        start = self.prompter.ids(head)
        wholes = [self.prompter.ids(prompt.text) for _, prompt in prompts]
        # The text that follows may change the head's last tokens ("\n" and "Is" as one token).
        columns = zip(start, *wholes, strict=False)
        kept = sum(1 for _ in takewhile(lambda tokens: len(set(tokens)) == 1, columns))
        if self._image_token not in start[:kept] or self._image_token in start[kept:]:
            return None
        inputs = self.inputs([(image, Prompt(head=head, tail="")) for image in images])
        dropped = start[kept:]
        if dropped and any(row[-len(dropped) :] != dropped for row in inputs["input_ids"].tolist()):
            return None
        width = inputs["input_ids"].shape[1]
        inputs = {
            name: value[:, : width - len(dropped)] if getattr(value, "shape", ())[1:] == (width,) else value
            for name, value in inputs.items()
        }
        place = {image: row for row, image in enumerate(images)}
        state = select(read(self._model, inputs), [place[image] for image, _ in prompts])
        return go_on(self._model, state, [whole[kept:] for whole in wholes], filler=self._filler)

    def inputs(self, prompts: Sequence[Asked]) -> dict[str, Any]:
        return self.inputs_ahead.of(tuple(prompts))

    def _inputs(self, prompts: Sequence[Asked]) -> dict[str, Any]:
        each = [(shown,) if isinstance(shown, LazyImage) else shown for shown, _ in prompts]
        flat = iter(rgb_images([image for images in each for image in images]))
        texts = [prompt.text for _, prompt in prompts]
        made = self.processed(self._beside, [list(islice(flat, len(images))) for images in each], texts)
        return {
            name: moved(value, self._model.device, self._model.dtype)
            for name, value in made.items()
            if hasattr(value, "is_floating_point") and name != "labels"
        }

    def processed(self, processor: Any, images: Sequence[Sequence[Image]], texts: Sequence[str]) -> Mapping[str, Any]:
        with warnings.catch_warnings():
            # PaliGemma's processor makes labels, which are not used, in a way that numpy 2 warns about.
            warnings.filterwarnings("ignore", message="__array__ implementation", category=DeprecationWarning)
            made: Mapping[str, Any] = processor(
                text=list(texts), images=[list(some) for some in images], padding=True, return_tensors="pt",
                add_special_tokens=self.prompter.special,
            )  # fmt: skip
        return made
