"""Refuse texts that hold a control token of a model, such as ``<image>``, ``<|im_end|>`` or ``[MASK]``.

A tokenizer reads such a word as the token itself, not as text: a question ends in its middle, an image is expected
although there is none, and CLIP reads a text up to the first end token only. Whether that raises depends on the other
texts of the batch, so such texts are refused before any of them is read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from vlgate.errors import NoReplyError


class ControlTokens:
    """The control tokens of a tokenizer, and how texts are searched for them."""

    def __init__(self, tokenizer: Any, *, template: str = "", processor: object = None) -> None:
        added = _added(tokenizer)
        named = {name: special or name in template for name, (special, _) in added.items()}
        named |= dict.fromkeys(_placeholders(processor), True)
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
        """The first control token in some texts; empty if there is none."""
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


def _placeholders(processor: object) -> list[str]:
    """The tokens that a processor replaces in a text, such as its ``image_token``."""
    names = [name for name in getattr(processor, "__dict__", {}) if name.endswith("_token")]
    tasks = getattr(processor, "tasks_answer_post_processing_type", ())  # Florence-2's
    return [*(value for name in names if isinstance(value := getattr(processor, name), str)), *tasks]
