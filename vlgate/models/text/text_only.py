"""The common parts of language models that see no image, and the refusal of texts that hold a control token."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.checkpoints.hub import Pretrained, identity, read_config
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import load_model, load_processor

if TYPE_CHECKING:
    import torch


def log_probabilities(logits: torch.Tensor) -> torch.Tensor:
    """The log-softmax over the last axis (natural logarithms), in the widest type of the logits' device."""
    return logits.to(widest(logits.device)).log_softmax(-1)


def widest(device: torch.device) -> torch.dtype:
    """The floating-point type for sums: float64, but float32 on Apple's GPUs, which lack float64."""
    import torch

    return torch.float32 if device.type == "mps" else torch.float64


# The largest relative change of a causal model's earlier logits if the last token changes; only rounding may cause one.
MOST_APART = 0.01


def check_left_to_right(model: Any, asked: str) -> None:
    # transformers also loads BERT as a causal model, although its tokens see the token that they should predict
    import torch

    last = model.get_input_embeddings().num_embeddings - 1
    ids = torch.tensor([[1, 2, 1, 3, 2], [1, 2, 1, 3, last]], device=model.device)
    with torch.inference_mode():
        one, other = model(input_ids=ids, use_cache=False).logits[:, :-1].float()
    if not (one - other).abs().max().item() <= MOST_APART * one.abs().max().item():
        raise ModelLoadError(
            f"{asked} is a {model.config.model_type} that sees the tokens that it should predict, so it has no "
            "perplexity; name a causal model, or use masked:NAME for the pseudo-perplexity"
        )


def longest_text(model: Any, tokenizer: Any, endless: int) -> int:
    """How many tokens a model takes, special tokens included; ``endless`` if no limit is known."""
    limits = [getattr(model.config, name, None) for name in ("max_position_embeddings", "n_positions")]
    found = [limit for limit in (*limits, tokenizer.model_max_length) if isinstance(limit, int) and 0 < limit < endless]
    # RoBERTa and its relatives number positions from the padding token's id + 1.
    places = getattr(getattr(model.base_model, "embeddings", None), "position_embeddings", None)
    padding = getattr(places, "padding_idx", None)
    if places is not None and padding is not None:
        found.append(places.num_embeddings - padding - 1)
    return min(found, default=endless)


ENDLESS = 10**9  # more than any limit; a tokenizer without a limit has 10^30


class TextModel:
    def __init__(self, model: Any, tokenizer: Any, *, note: str, fingerprint: str) -> None:
        self.note = note
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._tokenizer = tokenizer
        self._control = ControlTokens(tokenizer)
        self._longest = longest_text(model, tokenizer, ENDLESS)

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        return [tuple(row) for row in self._rows(texts)]

    def _rows(self, texts: Sequence[str]) -> Sequence[Sequence[int]]:
        raise NotImplementedError

    def _cut(self, texts: Sequence[str], rows: Sequence[Sequence[int]]) -> list[Sequence[int]]:
        self.cut_texts.update(compress(texts, (len(row) > self._longest for row in rows)))
        return [row[: self._longest] for row in rows]


def padded(rows: Sequence[Sequence[int]], device: Any, filler: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids and their mask, padded on the right, shape (n, length)."""
    import torch

    width = max(map(len, rows))
    ids = torch.tensor([[*row, *[filler] * (width - len(row))] for row in rows], device=device)
    mask = torch.tensor([[1] * len(row) + [0] * (width - len(row)) for row in rows], device=device)
    return ids, mask


def refuse_short(texts: Sequence[str], short: Sequence[bool]) -> None:
    positions = [index for index, too_short in enumerate(short) if too_short]
    if positions:
        raise NoReplyError(positions, f"the text {texts[positions[0]]!r} has too few tokens to have a perplexity")


def loaded(source: Pretrained, cls: str, device: str, dtype: str) -> tuple[Any, Any, str]:
    transformers = library("transformers")
    read_config(source)  # a folder without one holds no model, and says so before its tokenizer does
    tokenizer = load_processor(transformers.AutoTokenizer, source)
    model = load_model(getattr(transformers, cls), source, device=device, dtype=dtype)
    known = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > known:
        raise ModelLoadError(
            f"the tokenizer of {source.asked} has {len(tokenizer)} tokens, but the model has embeddings for {known}; "
            "save the tokenizer that it was trained with into the folder of the weights"
        )
    return model, tokenizer, f"{identity(source)} {transformers.__version__} {dtype} {cls}"


# Refuse texts that hold a control token of a model, such as ``<image>``, ``<|im_end|>`` or ``[MASK]``.
# A tokenizer reads such a word as the token itself, not as text: a question ends in its middle, an image is expected
# although there is none, and CLIP reads a text up to the first end token only. Whether that raises depends on the
# other texts of the batch, so such texts are refused before any of them is read.
class ControlTokens:
    def __init__(self, tokenizer: Any, *, template: str = "", processor: object = None) -> None:
        added = _added(tokenizer)
        named = {name: special or name in template for name, (special, _) in added.items()}
        placeholders = [name for name in getattr(processor, "__dict__", {}) if name.endswith("_token")]
        values = [value for name in placeholders if isinstance(value := getattr(processor, name), str)]
        tasks = getattr(processor, "tasks_answer_post_processing_type", ())  # Florence-2's
        named |= dict.fromkeys((*values, *tasks), True)
        # a letter or a word is read as text
        bare = {name: name.strip() for name, control in named.items() if control}
        self._raw = sorted(name for name, text in bare.items() if len(text) > 1 and not text.replace(" ", "").isalnum())
        self._clean: Callable[[str], str] = getattr(tokenizer, "clean_fn", str)
        inner = getattr(tokenizer, "tokenizer", tokenizer)
        normalizer: Any = getattr(getattr(inner, "backend_tokenizer", None), "normalizer", None)
        self._normal: Callable[[str], str] = str if normalizer is None else normalizer.normalize_str
        self._normalized = {self._normal(name): name for name in self._raw if added.get(name, (True, False))[1]}

    def check(self, texts: Sequence[Collection[str]]) -> None:
        tokens = {index: token for index, some in enumerate(texts) if (token := self._first(some))}
        remedy = "a control token of the model, which does not read it as text; write the text without it"
        reasons = {place: f"a text holds {token!r}, {remedy}" for place, token in tokens.items()}
        if reasons:
            raise NoReplyError(reasons, next(iter(reasons.values())), reasons)

    def _first(self, texts: Collection[str]) -> str:
        for text in map(self._clean, texts):
            # Prompts have single spaces, which some tokens hold, such as Emu3's <|image start|>.
            spaced = f"{text}\0{' '.join(text.split())}"
            normal = self._normal(spaced) if self._normalized else ""
            raw = next((token for token in self._raw if token in spaced), "")
            if token := raw or next((name for key, name in self._normalized.items() if key in normal), ""):
                return token
        return ""


def _added(tokenizer: Any) -> dict[str, tuple[bool, bool]]:
    """The added tokens of a tokenizer; of each, whether it is special, and looked for in normalized texts."""
    inner = getattr(tokenizer, "tokenizer", tokenizer)  # open_clip wraps tokenizers of transformers
    decoder = getattr(inner, "added_tokens_decoder", None)
    if decoder is not None:
        return {token.content: (token.special, token.normalized) for token in decoder.values()}
    numbers = getattr(inner, "all_special_ids", ())  # open_clip's own, which looks for them after lower-casing
    return {inner.decoder[number]: (True, False) for number in numbers if number in getattr(inner, "decoder", {})}
