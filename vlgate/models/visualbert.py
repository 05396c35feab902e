"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer.

Li, Yatskar, Yin, Hsieh and Chang, 2019. Which of the two a checkpoint is stands in its configuration. Each was trained
on the features of a detector of its own, none of them the one that LXMERT's come from (``DETECTORS``).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.errors import ModelLoadError
from vlgate.models import hub
from vlgate.models.answer_lists import AnswerList, answer_list, answers_file, check_answers, check_mode
from vlgate.models.region_inputs import RegionInputs, asked_text, load_tokenizer, text_length
from vlgate.models.regions import COUNT, WIDTH, check_regions, region_source
from vlgate.types import Ask, FloatArray, Match

if TYPE_CHECKING:
    import torch

OPTIONS = ("regions", "answers", "mode", "max_length", "tokenizer", "match", "box_type")
MATCH = 1
"""The place of "match" among the two logits of the published checkpoints.

The release's ``coco_dataset.py`` labels a caption of the same picture 1. Its docstring and that of transformers say 0,
as of BERT's next sentences; with 0 the published COCO checkpoint is right less often than by chance, and the authors
answer that the order is flipped (uclanlp/visualbert, issue 26).
"""
_SAYS = ("transformers documents it", "the release's loader labels it")
BOX_TYPE = 0
"""The token type of boxes in the release's ``modeling.py``, with which the published checkpoints were trained."""
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


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> VisualBert:
    """Load VisualBERT.

    Args:
        weights: a hub repository or a local folder. Behind a question mark: ``regions=FILE`` for region features that
            were made before, ``answers=FILE`` for the names of the answers, ``mode=open`` for answers without regard to
            a question's choices, ``max_length=N`` for texts that end there, ``tokenizer=FOLDER``. For a checkpoint that
            was trained with transformers, ``match=0``, where the first logit is the match as documented there (see
            ``MATCH``), and ``box_type=1``, which boxes are of there unless another is given.
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
    answers, config = None, model.config
    if kind != _CLASSES[0]:
        file = answers_file(options.get("answers", ""), folder, hub.folder_of(source), _ANSWERS)
        answers = answer_list(file, config.id2label, config.num_labels, mode=options.get("mode", ""), where=_WHERE)
    inputs = _inputs(model, source, options, folder, (device, dtype))
    box_type = int(options.get("box_type", BOX_TYPE))
    who = f"{hub.identity(source)} {inputs.fingerprint} {box_type} {dtype} {transformers.__version__}"
    if answers is not None:
        return VisualBertAnswerer(model, inputs, box_type, answers, fingerprint=f"{who} {answers.fingerprint}")
    match = int(options.get("match", MATCH))
    return VisualBertMatcher(model, inputs, box_type, match, fingerprint=f"{who} {match}")


def check(weights: str, folder: Path) -> None:
    """Say whether weights are named, and local ones and files are there; imports neither torch nor transformers.

    Raises: ModelLoadError.
    """
    name, options = hub.split_options(weights, OPTIONS)
    hub.pretrained(name, folder)
    check_mode(options.get("mode", ""))
    check_answers(options.get("answers", ""), folder)
    check_regions(options.get("regions", ""), folder)
    meant = {"match": "the place of the match among the two logits", "box_type": "the token type of boxes"}
    for option in meant.keys() & options.keys():
        if options[option] not in {"0", "1"}:
            raise ModelLoadError(f"{option}={options[option]!r}: expected 0 or 1, {meant[option]}")


def _written(question: str) -> str:
    """A question as its training had it: Pythia's tokenizer drops commas and question marks, the loader adds one."""
    return f"{question.replace(',', '').replace('?', '')} ?"


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
