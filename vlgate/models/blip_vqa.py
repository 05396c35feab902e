"""``blip-vqa:WEIGHTS``: BLIP, which writes its answer (Li et al. 2022, section 5.3).

A question is answered by the one of its choices that the decoder would write with the highest probability: the sum of
its tokens' log probabilities, its end included. The authors' ``rank_answer`` (salesforce/BLIP) sums the same tokens'
training loss; its label smoothing of 0.1 adds a tenth of the mean over the vocabulary to each, which puts long answers
further back. With ``?mode=open`` after the weights, and for questions without choices, the answer is what the decoder
writes itself, taking the likeliest token each time (the authors search with three beams). A question begins with
``[ENC]``, as the authors' does; ``?first=cls`` is for checkpoints that were trained in transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.answering import QuestionAnswerer
from vlgate.models.blip import FIRST, NOTES, encoded, first_token
from vlgate.models.checkpoints import Architecture, check_local, checked_option, loaded
from vlgate.models.hub import Pretrained, pretrained, split_options
from vlgate.models.matching import Inputs, Preparation
from vlgate.models.trial import tried
from vlgate.models.vqa_choices import MODES, best, restricted
from vlgate.types import Ask, FloatArray

if TYPE_CHECKING:
    import torch

DEFAULT = "Salesforce/blip-vqa-base"
LONGEST = 20  # tokens of an answer that the decoder writes
_ANSWERING = Architecture(kind="blip", model="BlipForQuestionAnswering", processor="BlipProcessor")


class WrittenReplies:
    """Answers that a decoder would write, or writes."""

    def __init__(self, model: Any, prepare: Preparation, *, first: str, mode: str) -> None:
        """Take a ``BlipForQuestionAnswering``; ``mode`` is one of ``MODES``, ``first`` one of ``FIRST``."""
        self.note = NOTES[first]
        self._model = model
        self._prepare = prepare
        self._first = first_token(model, first)
        self._mode = mode
        self._read = lru_cache(maxsize=4096)(self._tokens)

    def check(self, questions: Sequence[Ask]) -> None:
        """Nothing is refused: whatever is a choice can be written."""

    def _tokens(self, choices: tuple[str, ...]) -> list[tuple[int, ...]]:
        return [tuple(ids) for ids in self._prepare.tokenizer(list(choices))["input_ids"]]

    def reply(self, inputs: Inputs, questions: Sequence[Ask]) -> list[str]:
        """The likeliest of each question's choices, or what the decoder writes.

        The decoder of transformers 5.23 looks at a question's padding, whatever mask it is given; questions of one
        length go into it together, so that there is none.
        """
        states = encoded(self._model, inputs, self._first)
        lengths = inputs.attention_mask.sum(dim=1).tolist()
        offered = [question.choices if restricted(question, self._mode) else () for question in questions]
        scores: list[FloatArray] = [np.zeros(1)] * len(questions)
        for length in sorted(set(lengths)):
            same = [place for place, other in enumerate(lengths) if other == length]
            held, free = [place for place in same if offered[place]], [place for place in same if not offered[place]]
            if held:
                likely = self._likelihoods(states[held, :length], [offered[place] for place in held])
                for place, values in zip(held, likely, strict=True):
                    scores[place] = values
            if free:
                for place, answer in zip(free, self._written(states[free, :length]), strict=True):
                    offered[place] = (answer,)
        return best(offered, scores)

    def _likelihoods(self, states: torch.Tensor, choices: Sequence[tuple[str, ...]]) -> list[FloatArray]:
        """The log probability of each choice of n questions of one length.

        Choices that are the same to the tokenizer are computed once, so that they score exactly the same.
        """
        read = [self._read(some) for some in choices]
        told = [dict(zip(tokens, some, strict=True)) for tokens, some in zip(read, choices, strict=True)]
        found = self._sums(states, [list(texts.values()) for texts in told])
        known = [dict(zip(texts, sums, strict=True)) for texts, sums in zip(told, found, strict=True)]
        return [np.array([sums[ids] for ids in tokens]) for tokens, sums in zip(read, known, strict=True)]

    def _sums(self, states: torch.Tensor, texts: Sequence[Sequence[str]]) -> list[FloatArray]:
        """The log probability of each of n questions' texts, all in one batch."""
        import torch

        numbers = [len(some) for some in texts]
        tokens = self._prepare.tokens([text for some in texts for text in some])
        ids = tokens["input_ids"].clone()
        ids[:, 0] = self._model.decoder_start_token_id
        logits = self._model.text_decoder(
            input_ids=ids,
            attention_mask=tokens["attention_mask"],
            encoder_hidden_states=states.repeat_interleave(torch.tensor(numbers, device=states.device), dim=0),
            use_cache=False,
        ).logits[:, :-1]
        said = torch.log_softmax(logits.float(), dim=-1).gather(2, ids[:, 1:, None])[..., 0].double()
        whole = (said * tokens["attention_mask"][:, 1:]).sum(dim=1).cpu().numpy().astype(np.float64)
        return np.split(whole, np.cumsum(numbers)[:-1])

    def _written(self, states: torch.Tensor) -> list[str]:
        """What the decoder writes to n questions of one length."""
        import torch

        text = self._model.config.text_config
        tokens = self._model.text_decoder.generate(
            input_ids=torch.full((len(states), 1), self._model.decoder_start_token_id, device=states.device),
            eos_token_id=text.sep_token_id,
            pad_token_id=text.pad_token_id,
            encoder_hidden_states=states,
            do_sample=False,
            num_beams=1,
            max_new_tokens=min(LONGEST, self._prepare.length - 1),
        )
        answers: list[str] = self._prepare.tokenizer.batch_decode(tokens[:, 1:], skip_special_tokens=True)
        return [answer.strip() for answer in answers]


def _parsed(weights: str, folder: Path) -> tuple[Pretrained, str, str]:
    name, options = split_options(weights, ("mode", "first"))
    mode = checked_option("mode", options.get("mode", MODES[0]), MODES)
    first = checked_option("first", options.get("first", "enc"), FIRST)
    return pretrained(name, folder, default=DEFAULT), mode, first


def check(weights: str, folder: Path) -> None:
    """Say whether local weights are there and the options known; imports no torch.

    Raises: ModelLoadError.
    """
    check_local(_parsed(weights, folder)[0], _ANSWERING)


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> QuestionAnswerer:
    """Load a BLIP that answers questions.

    Args:
        weights: a hub repository or a local folder (``DEFAULT`` where empty), then ``?mode=open`` for answers that
            are not held to the question's choices, and ``&first=cls``.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    source, mode, first = _parsed(weights, folder)
    model, processor, what = loaded(_ANSWERING, source, device=device, dtype=dtype)
    prepare = Preparation(processor, model.config.text_config.max_position_embeddings, model)
    replies = WrittenReplies(model, prepare, first=first, mode=mode)
    return tried(QuestionAnswerer(replies, prepare, fingerprint=f"{what} {mode} {first}"), source.asked)
