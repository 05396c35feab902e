"""Computes replies of encoder-decoders: Florence-2, and BLIP-2 and InstructBLIP with Flan-T5.

The encoder reads image and prompt, and the decoder writes the reply after its own first tokens. Nothing is kept between
two calls: a reply is one pass through the whole network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models.generative.engine import Engine
from vlgate.models.generative.reading import Asked
from vlgate.models.text.likelihood import log_probabilities
from vlgate.types import FloatArray


class EncoderDecoder(Engine):
    """An encoder-decoder of transformers with its processor."""

    # Encoders with learned positions (BART's in Florence-2) count them from the left.
    padding_side = "right"

    def __init__(self, model: Any, processor: Any) -> None:
        """Take an image-text-to-text model in evaluation mode.

        Raises: ModelLoadError if the first token of its decoder is not known, and as ``Engine``.
        """
        self._begin = _first_tokens(model, processor.tokenizer)
        super().__init__(model, processor)
        self.prompter.separate = True

    def next_of(self, prompts: Sequence[Asked], groups: Sequence[Sequence[int]]) -> FloatArray:
        """Return the probability that the reply begins with one of a group of tokens; see ``Engine.next_of``."""
        import torch

        distinct = {prompt: place for place, prompt in enumerate(dict.fromkeys(prompts))}
        with torch.inference_mode():
            begun = self._logits(list(distinct), [()] * len(distinct))
            likely = log_probabilities(begun[:, -1])
            rows = torch.stack([likely[:, list(group)].logsumexp(-1).exp() for group in groups], dim=1).cpu().numpy()
        return np.asarray(rows[[distinct[prompt] for prompt in prompts]], dtype=np.float64)

    def likelihoods(self, wanted: Sequence[tuple[Asked, tuple[int, ...]]], *, ended: bool = False) -> FloatArray:
        """Return the log-likelihoods of replies; see ``Engine.likelihoods``."""
        import torch

        found = np.zeros(len(wanted))
        size = max(1, len(dict.fromkeys(prompt for prompt, _ in wanted)))
        order = sorted(range(len(wanted)), key=lambda number: len(wanted[number][1]))
        with torch.inference_mode():
            for start in range(0, len(order), size):
                part = order[start : start + size]
                replies = [wanted[number][1] for number in part]
                logits = self._logits([wanted[number][0] for number in part], replies)[:, len(self._begin) - 1 :]
                for number, row, reply in zip(part, logits, replies, strict=True):
                    likely = log_probabilities(row[: len(reply) + 1])
                    total = likely[range(len(reply)), list(reply)].sum()
                    end = likely[-1, list(self._stops)].logsumexp(0) if ended else 0.0
                    found[number] = float(total + end)
        return found

    def _logits(self, prompts: Sequence[Asked], replies: Sequence[Sequence[int]]) -> Any:
        """The logits after each token of the decoder, shape (n, length, vocabulary), with padding on the right."""
        import torch

        longest = max(map(len, replies))
        rows = [[*self._begin, *reply, *[self._filler] * (longest - len(reply))] for reply in replies]
        inputs = self._reader.inputs([image for image, _ in prompts], [prompt.text for _, prompt in prompts])
        return self._model(**inputs, decoder_input_ids=torch.tensor(rows, device=self._model.device)).logits

    def _begun(self, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
        import torch

        first = torch.tensor([self._begin] * len(inputs["input_ids"]), device=self._model.device)
        return {**inputs, "decoder_input_ids": first}, len(self._begin)

    def _greedy(self, **settings: Any) -> Any:
        return super()._greedy(decoder_start_token_id=self._begin[0], **settings)


def _first_tokens(model: Any, tokenizer: Any) -> list[int]:
    """The tokens that a reply follows: the decoder's own, and the one that the tokenizer writes before each text."""
    inner = getattr(model, "language_model", None)
    named = (model.generation_config, getattr(inner, "generation_config", None), text_config(model), model.config)
    starts = [getattr(one, "decoder_start_token_id", None) for one in named]
    start = next((token for token in starts if token is not None), None)
    if start is None:
        raise ModelLoadError(
            f"the configuration of this {model.config.model_type} names no decoder_start_token_id; save the "
            "config.json and generation_config.json that the model was published with"
        )
    before = tokenizer("a")["input_ids"][:1]  # BART was trained on texts with <s> before them
    return [int(start), *(token for token in before if token == tokenizer.bos_token_id)]


def text_config(model: Any) -> Any:
    """Return the configuration of a model's language model; its own if it has no other."""
    return getattr(model.config, "text_config", None) or model.config


def engine_for(model: Any, processor: Any) -> Engine:
    """Return the engine for an image-text-to-text model in evaluation mode.

    Raises: ModelLoadError if the model is of a kind that is not supported.
    """
    second = model.config.is_encoder_decoder or text_config(model).is_encoder_decoder
    return (EncoderDecoder if second and hasattr(processor, "tokenizer") else Engine)(model, processor)
