"""LXMERT as what it can do: match by its matching head, answer by its answering head, or both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.answer_lists import AnswerList
from vlgate.models.region_inputs import RegionInputs, asked_text
from vlgate.types import Ask, FloatArray, Match

if TYPE_CHECKING:
    import torch

MATCH = 1
"""The place of "match" in ``cross_relationship_score``: its pretraining labels a caption of the picture 1."""
TRAINED = 20
"""Tokens a text in all of its training, which began from scratch: it never learnt a place behind them."""


class Lxmert:
    """What LXMERT says of pictures and texts; ``cut_texts`` holds the texts so far that lost their end."""

    def __init__(self, model: Any, inputs: RegionInputs, *, fingerprint: str) -> None:
        """Take a model of transformers in evaluation mode, and what makes its inputs."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._inputs = inputs

    @property
    def note(self) -> str:
        """What a reader of the results must know."""
        if self._inputs.length <= TRAINED:
            return self._inputs.source.note
        return (
            f"{self._inputs.source.note}; texts of more than {TRAINED} tokens, with which it was trained, go in whole "
            f"(?max_length={TRAINED} cuts them, as its release does)"
        )

    def _scored(self, requests: Sequence[Match] | Sequence[Ask], texts: Sequence[str], head: Any) -> FloatArray:
        """What a head of the model makes of each request, shape (n, outputs)."""
        import torch

        regions = self._inputs.regions([request.picture for request in requests])
        seen = {"visual_feats": regions.features, "visual_pos": regions.boxes, "visual_attention_mask": regions.mask}
        tokens, cut = self._inputs.tokens(texts)
        with torch.inference_mode():
            # The head alone: the pretraining's other heads would score 30,522 words at each place of each text.
            pooled = self._model.lxmert(**seen, **tokens).pooled_output
            scores: torch.Tensor = head(pooled).float().cpu().double()
        self.cut_texts.update(compress(map(asked_text, requests), cut))
        return np.asarray(scores.numpy(), dtype=np.float64)


class LxmertMatcher(Lxmert):
    """LXMERT's matching head: the score is the logit of "match" less that of "no match"; yes where it is above 0."""

    decision_threshold = 0.0

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs.

        Returns: scores of shape (n,).
        Raises: PictureError or NoReplyError where a picture has no regions.
        """
        scores = self._scored(pairs, [pair.text for pair in pairs], self._model.cls.seq_relationship)
        return np.asarray(scores[:, MATCH] - scores[:, 1 - MATCH], dtype=np.float64)


class LxmertAnswerer(Lxmert):
    """LXMERT's answering head over a list of answers; see ``AnswerList``."""

    def __init__(self, model: Any, inputs: RegionInputs, answers: AnswerList, *, fingerprint: str) -> None:
        """Take the names of the model's answers as well."""
        super().__init__(model, inputs, fingerprint=fingerprint)
        self._answers = answers

    @property
    def note(self) -> str:
        """What a reader of the results must know, of the choices that the model cannot give as well."""
        return "; ".join(filter(None, (super().note, self._answers.note)))

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Answer questions.

        Returns: n answers, each one of the question's choices where it has any; ``TIED`` where the best score the same.
        Raises: PictureError or NoReplyError where a picture has no regions; NoReplyError where a choice is none of the
            model's answers.
        """
        self._answers.check(questions)
        texts = [question.question for question in questions]
        return self._answers.choose(self._scored(questions, texts, self._model.answer_head), questions)


class LxmertPretrained(LxmertMatcher, LxmertAnswerer):
    """The pretrained model with its answers named: it matches and answers."""
