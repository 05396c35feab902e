"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer.

Li, Yatskar, Yin, Hsieh and Chang, 2019. Which of the two a checkpoint is stands in its configuration. Each was trained
on the features of a detector of its own, none of them the one that LXMERT's come from (``DETECTORS``).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models import hub
from vlgate.models.answer_lists import AnswerList, answer_list, answers_file, check_mode
from vlgate.models.region_inputs import RegionInputs, load_tokenizer, text_length
from vlgate.models.regions import COUNT, WIDTH, region_source
from vlgate.types import Ask, FloatArray, Match

if TYPE_CHECKING:
    import torch

OPTIONS = ("regions", "answers", "mode", "max_length", "tokenizer", "match")
MATCH = 0
"""The place of "match" in ``seq_relationship_logits`` as transformers documents it; see ``build`` for the other."""
DETECTORS = (
    "uclanlp/visualbert-vqa* take 2048 numbers a box (Pythia's detector, fc6, 100 boxes), visualbert-nlvr2* 1024 "
    "(Detectron's Mask R-CNN of ResNet-101-FPN, up to 144 boxes), visualbert-vcr* 512 (a ResNet-50 trained with them)"
)
_CLASSES = ("VisualBertForPreTraining", "VisualBertForQuestionAnswering")
_ANSWERS = ("label2ans.json", "answers_vqa.txt")
_WHERE = (
    "answers_vqa.txt of Pythia's (now MMF's) VQA data, 3,129 lines, for uclanlp/visualbert-vqa (LXMERT's list of the "
    f"same length has another order); it may also lie beside the weights, as {_ANSWERS[1]} or {_ANSWERS[0]}"
)
# Heads of the pretraining that a match does not go through.
_UNUSED = (r"cls\.predictions\..*",)


class VisualBert:
    """What VisualBERT says of pictures and texts; ``truncated_texts`` counts the texts so far that lost their end."""

    def __init__(self, model: Any, inputs: RegionInputs, *, fingerprint: str) -> None:
        """Take a model of transformers in evaluation mode, and what makes its inputs."""
        self.fingerprint = fingerprint
        self.truncated_texts = 0
        self._model = model
        self._inputs = inputs

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
            scores = self._head({**tokens, **seen, "visual_token_type_ids": torch.ones_like(regions.mask)})
            found = scores.float().cpu().double().numpy()
        self.truncated_texts += cut  # last, so that a batch that is asked again counts once
        return np.asarray(found, dtype=np.float64)

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        raise NotImplementedError


class VisualBertMatcher(VisualBert):
    """VisualBERT's sentence-image head: the logit of "match" less that of "no match"; yes where it is above 0.

    It was trained to say of a second caption whether it is of the picture too. Here the text stands alone.
    """

    decision_threshold = 0.0

    def __init__(self, model: Any, inputs: RegionInputs, match: int, *, fingerprint: str) -> None:
        """Take the place of "match" among the head's two logits as well."""
        super().__init__(model, inputs, fingerprint=fingerprint)
        self._match = match

    @property
    def note(self) -> str:
        """What a reader of the results must know, the side of the match among it."""
        return f"{super().note}; logit {self._match} is read as the match (match={1 - self._match} reads the other)"

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

    The head reads the last token before the end. That is a mask, as in the release's ``vqa_dataset.py``.
    """

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

        Returns: n answers, each one of the question's choices where it has any.
        Raises: PictureError or NoReplyError where a picture has no regions; NoReplyError where a choice is none of the
            model's answers, or the best two score the same.
        """
        self._answers.check(questions)
        return self._answers.choose(self._scored(questions, [question.question for question in questions]), questions)

    def _head(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        logits: torch.Tensor = self._model(**inputs).logits
        return logits


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> VisualBert:
    """Load VisualBERT.

    Args:
        weights: a hub repository or a local folder. Behind a question mark: ``regions=FILE`` for region features that
            were made before, ``answers=FILE`` for the names of the answers, ``mode=open`` for answers without regard to
            a question's choices, ``max_length=N`` for texts that end there, ``tokenizer=FOLDER``, and ``match=1`` where
            the second logit is the match: transformers documents the first, the release's ``coco_dataset.py`` labels
            a second caption of the same picture 1.
        folder: where the user started.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Returns: VisualBertMatcher or VisualBertAnswerer, as the checkpoint was trained.
    Raises: ModelLoadError, which says what was looked for, where, and what to do.
    """
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise hub.missing_package(error.name or "transformers", "hf") from error

    check(weights, folder)
    name, options = hub.split_options(weights, OPTIONS)
    source = hub.pretrained(name, folder)
    kind = _kind(source)
    model = hub.load_model(getattr(transformers, kind), source, device=device, dtype=dtype, may_miss=_UNUSED)
    inputs = _inputs(model, source, options, folder, (device, dtype))
    who = f"{hub.identity(source)} {inputs.source.fingerprint} {inputs.length} {dtype} {transformers.__version__}"
    if kind == _CLASSES[0]:
        match = int(options.get("match", MATCH))
        return VisualBertMatcher(model, inputs, match, fingerprint=f"{who} {match}")
    file = answers_file(options.get("answers", ""), folder, hub.folder_of(source), _ANSWERS)
    config = model.config
    answers = answer_list(file, config.id2label, config.num_labels, mode=options.get("mode", ""), where=_WHERE)
    return VisualBertAnswerer(model, inputs, answers, fingerprint=f"{who} {answers.fingerprint}")


def check(weights: str, folder: Path) -> None:
    """Say whether weights are named, and local ones and files are there; imports neither torch nor transformers.

    Raises: ModelLoadError.
    """
    name, options = hub.split_options(weights, OPTIONS)
    hub.pretrained(name, folder)
    check_mode(options.get("mode", ""))
    answers_file(options.get("answers", ""), folder, None, ())
    if options.get("match", "0") not in {"0", "1"}:
        raise ModelLoadError(
            f"match={options['match']!r}: expected 0 or 1, the place of the match among the two logits"
        )


def _kind(source: hub.Pretrained) -> str:
    found = hub.read_config(source).get("architectures") or ()
    for kind in _CLASSES:
        if kind in found:
            return kind
    raise ModelLoadError(
        f"{source.asked} is a {', '.join(found) or 'model of no named class'}, which neither matches nor answers; name "
        f"a checkpoint of {' or '.join(_CLASSES)}, such as uclanlp/visualbert-nlvr2-coco-pre or uclanlp/visualbert-vqa"
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
            f"the model takes {width} numbers a box, the detector that runs here gives {WIDTH}: {DETECTORS}; give the "
            "features of its own detector with regions=FILE"
        )
    # Any width: a file's is held against the model's where the message can say whose features these are.
    return region_source(asked, folder, *place, width=None if asked else width, count=None if asked else COUNT)
