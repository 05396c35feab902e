"""VisualBERT as a matcher by its sentence-image head, or as an answerer.

Each published checkpoint was trained on the features of its own detector, and none on those of LXMERT's
(``DETECTORS``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.explaining.record import Attended
from vlgate.inference.items import gets_names
from vlgate.models.answering.answer_lists import AnswerList
from vlgate.models.attending.regions import attention
from vlgate.models.attending.rollout import METHOD, mean_of_heads, rolled_out
from vlgate.models.cross.rank_score import RankScore
from vlgate.models.region_models.inputs import RegionInputs, asked_text
from vlgate.types import Ask, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch

MATCH = 1
"""The index of "match" among the two logits of the published checkpoints.

The release's ``coco_dataset.py`` labels a caption of the same image 1. Its docstring and that of transformers say 0,
as for BERT's next sentences; with 0 the published COCO checkpoint is right less often than chance, and the authors
confirm that the order is flipped (uclanlp/visualbert, issue 26).
"""
_SAYS = ("transformers documents it", "the release's loader labels it")
DETECTORS = (
    "uclanlp/visualbert-vqa* take 2048 numbers per box (Pythia's detector, fc6, 100 boxes), visualbert-nlvr2* 1024 "
    "(Detectron's Mask R-CNN of ResNet-101-FPN, up to 144 boxes), visualbert-vcr* 512 (a ResNet-50 trained with them)"
)


class VisualBert:
    """VisualBERT on region features; ``cut_texts`` collects the texts that were cut."""

    def __init__(self, model: Any, inputs: RegionInputs, box_type: int, *, fingerprint: str) -> None:
        """Take a transformers model in evaluation mode, the maker of its inputs, and the token type of boxes."""
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._inputs = inputs
        self._box_type = box_type

    @property
    def image_names(self) -> bool:
        """Whether the regions are read from a file, by the names of images."""
        return gets_names(self._inputs.source)

    @property
    def note(self) -> str:
        """What a reader of the results must know: the features that it gets, and those of its training."""
        return f"{self._inputs.source.note}; published VisualBERTs were trained on other features: {DETECTORS}"

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each text; texts that are cut are added to ``cut_texts``."""
        keys, cut = self._inputs.text_keys(texts)
        self.cut_texts.update(compress(texts, cut))
        return keys

    def boxes(self, images: Sequence[LazyImage]) -> list[FloatArray]:
        """Return the boxes of each image, shape (n, 4).

        Raises: ImageError or NoReplyError if an image has no regions.
        """
        return self._inputs.boxes(images)

    def _scored(self, requests: Sequence[Match] | Sequence[Ask], texts: Sequence[str]) -> FloatArray:
        """The head's outputs for each request, shape (n, outputs); the model takes features, but not boxes."""
        import torch

        given, cut = self._given([request.image for request in requests], texts)
        with torch.inference_mode():
            found = self._head(given).float().cpu().double().numpy()
        self.cut_texts.update(compress(map(asked_text, requests), cut))
        return np.asarray(found, dtype=np.float64)

    def _given(self, images: Sequence[LazyImage], texts: Sequence[str]) -> tuple[dict[str, torch.Tensor], list[bool]]:
        """The inputs of the network, and which texts were cut."""
        import torch

        regions = self._inputs.regions(images)
        tokens, cut = self._inputs.tokens(texts)
        seen = {"visual_embeds": regions.features, "visual_attention_mask": regions.mask}
        types = torch.full_like(regions.mask, self._box_type)
        return {**tokens, **seen, "visual_token_type_ids": types}, cut

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        raise NotImplementedError


class VisualBertMatcher(VisualBert):
    """VisualBERT's sentence-image head: the logit of "match" minus that of "no match"; above 0 means yes.

    It was trained to decide whether the second of two captions is of the image, too. Here it gets one text only. If
    ``rank`` asks for the raw logit of "match", that is the score, and there is no threshold.
    """

    def __init__(self, model: Any, inputs: RegionInputs, box_type: int, rank: RankScore, *, fingerprint: str) -> None:
        """Take the way of scoring as well, with the index of "match" among the head's two logits."""
        super().__init__(model, inputs, box_type, fingerprint=fingerprint + rank.mark)
        self.decision_threshold = rank.threshold
        self._rank = rank

    @property
    def note(self) -> str:
        """What a reader of the results must know, including which logit is read as the match."""
        match = self._rank.match or 0
        read = f"logit {match} is read as the match, as {_SAYS[match]} (match={1 - match}: as {_SAYS[1 - match]})"
        return f"{super().note}; {read}; {self._rank.note}"

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Score pairs.

        Returns: scores of shape (n,).
        Raises: ImageError or NoReplyError if an image has no regions.
        """
        return self._rank.of(self._scored(pairs, [pair.text for pair in pairs]))

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        """Return how much of each region is in the token that the score is computed from, through all layers.

        Raises: ImageError or NoReplyError if an image has no regions.
        """
        import torch

        found: list[Attended] = []
        for pair in pairs:
            given, _ = self._given([pair.image], [pair.text])
            with torch.inference_mode():
                layers = self._model.visual_bert(**given, output_attentions=True).attentions
            token = rolled_out(mean_of_heads(layers, 0))[0]
            boxes = self._inputs.boxes([pair.image])[0]
            found.append(attention(pair.text, boxes, token[len(token) - len(boxes) :], METHOD))
        return found

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        # Only this head: the pretraining's other head would score 30,522 words at each position and each box.
        logits: torch.Tensor = self._model.cls.seq_relationship(self._model.visual_bert(**inputs).pooler_output)
        return logits


class VisualBertAnswerer(VisualBert):
    """VisualBERT's answering head over a list of answers; see ``AnswerList``.

    The head reads the last token before the end. That is a mask, as in the release's ``vqa_dataset.py``, whose
    questions have no commas, and one question mark at the end.
    """

    def __init__(
        self, model: Any, inputs: RegionInputs, box_type: int, answers: AnswerList, *, fingerprint: str
    ) -> None:
        """Take the names of the model's answers as well."""
        super().__init__(model, inputs, box_type, fingerprint=fingerprint)
        self._answers = answers

    @property
    def note(self) -> str:
        """What a reader of the results must know, including the choices that the model cannot give."""
        return "; ".join(filter(None, (super().note, self._answers.note)))

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Answer questions.

        Returns: n answers; each is one of the question's choices if it has any, and ``TIED`` if the best scores are
            equal.
        Raises: ImageError or NoReplyError if an image has no regions; NoReplyError if a choice is not one of the
            model's answers.
        """
        self._answers.check(questions)
        return self._answers.choose(self._scored(questions, [_written(one.question) for one in questions]), questions)

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the tokens of each question as in training; questions that are cut are added to ``cut_texts``."""
        keys, cut = self._inputs.text_keys([_written(text) for text in texts])
        self.cut_texts.update(compress(texts, cut))
        return keys

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self._model(**inputs).logits
        return logits


def _written(question: str) -> str:
    """A question as in training: Pythia's tokenizer drops commas and question marks, the loader adds one of these."""
    return f"{question.replace(',', '').replace('?', '')} ?"
