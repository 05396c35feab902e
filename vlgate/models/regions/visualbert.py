"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.items import gets_names
from vlgate.errors import ModelLoadError
from vlgate.models.attention import ROLLOUT, attention, mean_of_heads, rolled_out
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.load_errors import missing_package
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.cross.answer_lists import AnswerList, answer_list, answers_file, check_answers, check_mode
from vlgate.models.cross.cross_encoder import OPTION, RankScore, check_no_rank, rank_score
from vlgate.models.regions.inputs import (
    RegionInputs,
    asked_text,
    check_regions,
    load_tokenizer,
    region_source,
    text_length,
)
from vlgate.models.regions.regions import COUNT, WIDTH
from vlgate.types import Ask, Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch


# VisualBERT as a matcher by its sentence-image head, or as an answerer.
#
# Each published checkpoint was trained on the features of its own detector, and none on those of LXMERT's
# (``DETECTORS``).

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
        self.fingerprint = fingerprint
        self.cut_texts: set[str] = set()
        self._model = model
        self._inputs = inputs
        self._box_type = box_type

    @property
    def image_names(self) -> bool:
        return gets_names(self._inputs.source)

    @property
    def note(self) -> str:
        return f"{self._inputs.source.note}; published VisualBERTs were trained on other features: {DETECTORS}"

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        keys, cut = self._inputs.text_keys(texts)
        self.cut_texts.update(compress(texts, cut))
        return keys

    def boxes(self, images: Sequence[LazyImage]) -> list[FloatArray]:
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
        super().__init__(model, inputs, box_type, fingerprint=fingerprint + rank.mark)
        self.decision_threshold = rank.threshold
        self._rank = rank

    @property
    def note(self) -> str:
        match = self._rank.match or 0
        read = f"logit {match} is read as the match, as {_SAYS[match]} (match={1 - match}: as {_SAYS[1 - match]})"
        return f"{super().note}; {read}; {self._rank.note}"

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        return self._rank.of(self._scored(pairs, [pair.text for pair in pairs]))

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        import torch

        found: list[Attended] = []
        for pair in pairs:
            given, _ = self._given([pair.image], [pair.text])
            with torch.inference_mode():
                layers = self._model.visual_bert(**given, output_attentions=True).attentions
            token = rolled_out(mean_of_heads(layers, 0))[0]
            boxes = self._inputs.boxes([pair.image])[0]
            found.append(attention(pair.text, boxes, token[len(token) - len(boxes) :], ROLLOUT))
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
        super().__init__(model, inputs, box_type, fingerprint=fingerprint)
        self._answers = answers

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (super().note, self._answers.note)))

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        self._answers.check(questions)
        return self._answers.choose(self._scored(questions, [_written(one.question) for one in questions]), questions)

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        keys, cut = self._inputs.text_keys([_written(text) for text in texts])
        self.cut_texts.update(compress(texts, cut))
        return keys

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self._model(**inputs).logits
        return logits


def _written(question: str) -> str:
    """A question as in training: Pythia's tokenizer drops commas and question marks, the loader adds one of these."""
    return f"{question.replace(',', '').replace('?', '')} ?"


# ``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer.
#
# Li, Yatskar, Yin, Hsieh and Chang, 2019. The checkpoint's configuration says which of the two it is.

OPTIONS = ("regions", "answers", "mode", "max_length", "tokenizer", "match", "box_type", OPTION)
BOX_TYPE = 0
"""The token type of boxes in the release's ``modeling.py``, with which the published checkpoints were trained."""
_CLASSES = ("VisualBertForPreTraining", "VisualBertForQuestionAnswering")
_ANSWERS = ("label2ans.json", "answers_vqa.txt")
_WHERE = (
    "answers_vqa.txt of Pythia's (now MMF's) VQA data, 3,129 lines, for uclanlp/visualbert-vqa (LXMERT's list of the "
    f"same length has another order); it may also be beside the weights, as {_ANSWERS[1]} or {_ANSWERS[0]}"
)
# Heads of the pretraining that matching does not use.
_UNUSED = (r"cls\.predictions\..*",)


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> VisualBert:
    """Load VisualBERT."""
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "transformers", "hf") from error

    check(weights, folder)
    name, options = hub.split_options(weights, OPTIONS)
    source = hub.pretrained(name, folder)
    kind = _kind(source)
    model = load_model(getattr(transformers, kind), source, device=device, dtype=dtype, may_miss=_UNUSED)
    answers, config = None, model.config
    if kind != _CLASSES[0]:
        file = answers_file(options.get("answers", ""), folder, hub.folder_of(source), _ANSWERS)
        answers = answer_list(file, config.id2label, config.num_labels, mode=options.get("mode", ""), where=_WHERE)
    inputs = _inputs(model, source, options, folder, (device, dtype))
    box_type = int(options.get("box_type", BOX_TYPE))
    who = f"{hub.identity(source)} {inputs.fingerprint} {box_type} {dtype} {transformers.__version__}"
    if answers is not None:
        check_no_rank(options, source.asked)
        return VisualBertAnswerer(model, inputs, box_type, answers, fingerprint=f"{who} {answers.fingerprint}")
    match = int(options.get("match", MATCH))
    return VisualBertMatcher(model, inputs, box_type, rank_score(options, match), fingerprint=f"{who} {match}")


def check(weights: str, folder: Path) -> None:
    """Check the options, and that local weights and files exist; import neither torch nor transformers."""
    name, options = hub.split_options(weights, OPTIONS)
    hub.pretrained(name, folder)
    check_mode(options.get("mode", ""))
    check_answers(options.get("answers", ""), folder)
    check_regions(options.get("regions", ""), folder)
    rank_score(options, MATCH)
    meant = {"match": "the index of the match among the two logits", "box_type": "the token type of boxes"}
    for option in meant.keys() & options.keys():
        if options[option] not in {"0", "1"}:
            raise ModelLoadError(f"{option}={options[option]!r}: expected 0 or 1, {meant[option]}")


def _kind(source: hub.Pretrained) -> str:
    found = hub.read_config(source).get("architectures") or ()
    for kind in _CLASSES:
        if kind in found:
            return kind
    raise ModelLoadError(
        f"{source.asked} is a {', '.join(found) or 'model of an unnamed class'}, which neither matches nor answers; "
        f"name a checkpoint of {' or '.join(_CLASSES)}, such as uclanlp/visualbert-nlvr2-coco-pre or "
        "uclanlp/visualbert-vqa"
    )


def _inputs(
    model: Any, source: hub.Pretrained, options: dict[str, str], folder: Path, place: tuple[str, str]
) -> RegionInputs:
    config = model.config
    tokenizer = load_tokenizer(source, folder, options.get("tokenizer", ""), config.vocab_size)
    answering = not hasattr(model.cls, "seq_relationship")
    return RegionInputs(
        tokenizer=tokenizer,
        source=_regions(config.visual_embedding_dim, options.get("regions", ""), folder, place),
        length=text_length(options.get("max_length", ""), config.max_position_embeddings),
        width=config.visual_embedding_dim,
        device=model.device,
        dtype=model.dtype,
        suffix=(tokenizer.mask_token_id,) if answering else (),
        whose=DETECTORS,
    )


def _regions(width: int, asked: str, folder: Path, place: tuple[str, str]) -> Any:
    if not asked and width != WIDTH:
        raise ModelLoadError(
            f"the model takes {width} numbers per box, the built-in detector gives {WIDTH}: {DETECTORS}; name features "
            "of the model's own detector with regions=FILE"
        )
    # Any width is read here: RegionInputs checks it, whose message can name the detector of the features.
    return region_source(asked, folder, *place, width=None if asked else width, count=None if asked else COUNT)
