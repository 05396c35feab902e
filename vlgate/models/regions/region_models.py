"""What LXMERT, VisualBERT and VOLTA's models share: matchers and answerers on region features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.items import gets_names
from vlgate.errors import ModelLoadError
from vlgate.models.attention import ROLLOUT, attention
from vlgate.models.checkpoints.hub import Pretrained, requested
from vlgate.models.cross.answer_lists import AnswerList, check_answers
from vlgate.models.cross.cross_encoder import OPTION, RankScore, rank_score
from vlgate.models.regions.inputs import RegionInputs, SeenRegions, check_regions
from vlgate.models.specs import Options
from vlgate.types import Ask, Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch

MATCH = 1
"""The index of "match" among the two logits of LXMERT's and VisualBERT's releases, whose loaders label a caption of the
image 1."""


class RegionModel:
    def __init__(self, inputs: RegionInputs, *, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._inputs = inputs

    @property
    def image_names(self) -> bool:
        return gets_names(self._inputs.source)

    @property
    def note(self) -> str:
        return self._inputs.source.note

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        keys, cut = self._inputs.text_keys([self._written(text) for text in texts])
        self.cut_texts.update(compress(texts, cut))
        return keys

    def boxes(self, images: Sequence[LazyImage]) -> list[FloatArray]:
        return self._inputs.boxes(images)

    def _written(self, text: str) -> str:
        return text  # the text as in training


class HeadedModel(RegionModel):
    def __init__(
        self,
        model: Any,
        inputs: RegionInputs,
        *,
        fingerprint: str,
        rank: RankScore | None = None,
        answers: AnswerList | None = None,
    ) -> None:
        super().__init__(inputs, fingerprint=fingerprint if rank is None else fingerprint + rank.mark)
        self._model = model
        self._rank = rank or RankScore(match=MATCH)
        self._answers = answers or AnswerList((), "")

    def _scored(self, requests: Sequence[Match] | Sequence[Ask], *, answering: bool) -> FloatArray:
        import torch

        texts = [request.question if isinstance(request, Ask) else request.text for request in requests]
        regions = self._inputs.regions([request.image for request in requests])
        tokens, cut = self._inputs.tokens([self._written(text) for text in texts])
        with torch.inference_mode():
            scores = self._outputs(regions, tokens, answering=answering).float().cpu().double().numpy()
        self.cut_texts.update(compress(texts, cut))
        return np.asarray(scores, dtype=np.float64)

    def _outputs(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], *, answering: bool) -> torch.Tensor:
        raise NotImplementedError


class HeadedMatcher(HeadedModel):
    """A matching head: the score is the logit of "match" minus that of "no match"; above 0 means yes."""

    @property
    def decision_threshold(self) -> float | None:
        return self._rank.threshold

    remark = ""

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (super().note, self.remark, self._rank.note)))

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        return self._rank.of(self._scored(pairs, answering=False))

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        maps = []
        for pair in pairs:
            regions, (tokens, _) = self._inputs.regions([pair.image]), self._inputs.tokens([pair.text])
            boxes = self._inputs.boxes([pair.image])[0]
            maps.append(attention(pair.text, boxes, self._rolled_out(regions, tokens, len(boxes)), ROLLOUT))
        return maps

    def _rolled_out(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], count: int) -> FloatArray:
        raise NotImplementedError


class HeadedAnswerer(HeadedModel):
    @property
    def note(self) -> str:
        return "; ".join(filter(None, (super().note, self._answers.note)))

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        self._answers.check(questions)
        return self._answers.choose(self._scored(questions, answering=True), questions)


def checked(name: str, weights: str, folder: Path) -> tuple[Pretrained, Options]:
    """Parse what a user wrote after the name, and check what it names; import neither torch nor transformers."""
    source, options = requested(name, weights, folder)
    check_answers(options["answers"], folder)
    check_regions(options["regions"], folder)
    return source, options


def rank_of(options: Options, source: Pretrained, match: int, *, answering: bool) -> RankScore | None:
    if not answering:
        return rank_score(options, match)
    if OPTION in options:
        raise ModelLoadError(
            f"{source.asked} answers questions and does not match; leave {OPTION}={options[OPTION]} out"
        )
    return None
