"""VisualBERT as what it can do: match by its sentence-image head, or answer.

Each published checkpoint was trained on the features of a detector of its own, none of them the one that LXMERT's come
from (``DETECTORS``).
"""

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
"""The place of "match" among the two logits of the published checkpoints.

The release's ``coco_dataset.py`` labels a caption of the same picture 1. Its docstring and that of transformers say 0,
as of BERT's next sentences; with 0 the published COCO checkpoint is right less often than by chance, and the authors
answer that the order is flipped (uclanlp/visualbert, issue 26).
"""
_SAYS = ("transformers documents it", "the release's loader labels it")
DETECTORS = (
    "uclanlp/visualbert-vqa* take 2048 numbers a box (Pythia's detector, fc6, 100 boxes), visualbert-nlvr2* 1024 "
    "(Detectron's Mask R-CNN of ResNet-101-FPN, up to 144 boxes), visualbert-vcr* 512 (a ResNet-50 trained with them)"
)


class VisualBert:
    """What VisualBERT says of pictures and texts; ``cut_texts`` holds the texts so far that lost their end."""

    def __init__(self, model: Any, inputs: RegionInputs, box_type: int, *, fingerprint: str) -> None:
        """Take a model of transformers in evaluation mode, what makes its inputs, and the token type of boxes."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._inputs = inputs
        self._box_type = box_type

    @property
    def note(self) -> str:
        """What a reader of the results must know."""
        return f"{self._inputs.source.note}; published VisualBERTs were trained on other features: {DETECTORS}"

    def _scored(self, requests: Sequence[Match] | Sequence[Ask], texts: Sequence[str]) -> FloatArray:
        """What the model's head makes of each request, shape (n, outputs); boxes it does not see."""
        import torch

        regions = self._inputs.regions([request.picture for request in requests])
        seen = {"visual_embeds": regions.features, "visual_attention_mask": regions.mask}
        tokens, cut = self._inputs.tokens(texts)
        with torch.inference_mode():
            types = torch.full_like(regions.mask, self._box_type)
            scores = self._head({**tokens, **seen, "visual_token_type_ids": types})
            found = scores.float().cpu().double().numpy()
        self.cut_texts.update(compress(map(asked_text, requests), cut))
        return np.asarray(found, dtype=np.float64)

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        raise NotImplementedError


class VisualBertMatcher(VisualBert):
    """VisualBERT's sentence-image head: the logit of "match" less that of "no match"; yes where it is above 0.

    It was trained to say of a second caption whether it is of the picture too. Here the text stands alone.
    """

    decision_threshold = 0.0

    def __init__(self, model: Any, inputs: RegionInputs, box_type: int, match: int, *, fingerprint: str) -> None:
        """Take the place of "match" among the head's two logits as well."""
        super().__init__(model, inputs, box_type, fingerprint=fingerprint)
        self._match = match

    @property
    def note(self) -> str:
        """What a reader of the results must know, the side of the match among it."""
        says, other = _SAYS[self._match], _SAYS[1 - self._match]
        read = f"logit {self._match} is read as the match, as {says} (match={1 - self._match}: as {other})"
        return f"{super().note}; {read}"

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs.

        Returns: scores of shape (n,).
        Raises: PictureError or NoReplyError where a picture has no regions.
        """
        scores = self._scored(pairs, [pair.text for pair in pairs])
        return np.asarray(scores[:, self._match] - scores[:, 1 - self._match], dtype=np.float64)

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        # The head alone: the pretraining's other head would score 30,522 words at each place, and at each box.
        logits: torch.Tensor = self._model.cls.seq_relationship(self._model.visual_bert(**inputs).pooler_output)
        return logits


class VisualBertAnswerer(VisualBert):
    """VisualBERT's answering head over a list of answers; see ``AnswerList``.

    The head reads the last token before the end. That is a mask, as in the release's ``vqa_dataset.py``, whose
    questions have no commas, and one question mark at their end.
    """

    def __init__(
        self, model: Any, inputs: RegionInputs, box_type: int, answers: AnswerList, *, fingerprint: str
    ) -> None:
        """Take the names of the model's answers as well."""
        super().__init__(model, inputs, box_type, fingerprint=fingerprint)
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
        return self._answers.choose(self._scored(questions, [_written(one.question) for one in questions]), questions)

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self._model(**inputs).logits
        return logits


def _written(question: str) -> str:
    """A question as its training had it: Pythia's tokenizer drops commas and question marks, the loader adds one."""
    return f"{question.replace(',', '').replace('?', '')} ?"
