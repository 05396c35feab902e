"""``lxmert``: LXMERT of transformers on region features, as a matcher, as an answerer, or as both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.asking.items import gets_names
from vlgate.errors import ModelLoadError
from vlgate.models.attention import ROLLOUT, Streams, attention, caught, mean_of_heads, two_streams
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
from vlgate.models.regions.region_network import has_network, network_source
from vlgate.types import Ask, Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch


# LXMERT as a matcher by its matching head, as an answerer by its answering head, or as both.

MATCH = 1
"""The index of "match" in ``cross_relationship_score``: its pretraining labels a caption of the image 1."""
_OWN: tuple[Streams, Streams] = (("text", "text"), ("regions", "regions"))
_ACROSS: tuple[Streams, Streams] = (("text", "regions"), ("regions", "text"))
"""Who attends to whom, in the order in which a layer of LXMERT computes it."""
BY_MARGIN = RankScore(match=MATCH)
TRAINED = 20
"""The most tokens of a text in the release's training, which began from scratch: later positions are untrained."""


class Lxmert:
    """LXMERT on region features; ``cut_texts`` collects the texts that were cut.

    ``aspect`` says that regions are cut out of an image in its own aspect.
    """

    aspect = "kept"

    def __init__(self, model: Any, inputs: RegionInputs, *, fingerprint: str, rank: RankScore = BY_MARGIN) -> None:
        self.fingerprint = fingerprint + rank.mark
        self._rank = rank
        self.cut_texts: set[str] = set()
        self._model = model
        self._inputs = inputs

    @property
    def image_names(self) -> bool:
        return gets_names(self._inputs.source)

    @property
    def note(self) -> str:
        trained = self._inputs.trained
        if trained is None or self._inputs.length <= trained:
            return self._inputs.source.note
        return (
            f"{self._inputs.source.note}; texts are not cut, though it was trained on at most {trained} tokens "
            f"(?max_length={trained} cuts them, as its release does)"
        )

    def text_keys(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        keys, cut = self._inputs.text_keys(texts)
        self.cut_texts.update(compress(texts, cut))
        return keys

    def boxes(self, images: Sequence[LazyImage]) -> list[FloatArray]:
        return self._inputs.boxes(images)

    def _scored(self, requests: Sequence[Match] | Sequence[Ask], texts: Sequence[str], head: Any) -> FloatArray:
        """A head's outputs for each request, shape (n, outputs)."""
        import torch

        regions = self._inputs.regions([request.image for request in requests])
        seen = {"visual_feats": regions.features, "visual_pos": regions.boxes, "visual_attention_mask": regions.mask}
        tokens, cut = self._inputs.tokens(texts)
        with torch.inference_mode():
            # Only this head: the pretraining's other heads would score 30,522 words at each position of each text.
            pooled = self._model.lxmert(**seen, **tokens).pooled_output
            scores: torch.Tensor = head(pooled).float().cpu().double()
        self.cut_texts.update(compress(map(asked_text, requests), cut))
        return np.asarray(scores.numpy(), dtype=np.float64)


class LxmertMatcher(Lxmert):
    """LXMERT's matching head: the score is the logit of "match" minus that of "no match"; above 0 means yes.

    If ``rank`` asks for the raw logit of "match", that is the score, and there is no threshold.
    """

    @property
    def decision_threshold(self) -> float | None:
        return self._rank.threshold

    @property
    def note(self) -> str:
        return f"{super().note}; {self._rank.note}"

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        scores = self._scored(pairs, [pair.text for pair in pairs], self._model.cls.seq_relationship)
        return self._rank.of(scores)

    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        import torch

        found: list[Attended] = []
        for pair in pairs:
            regions = self._inputs.regions([pair.image])
            tokens, _ = self._inputs.tokens([pair.text])
            with torch.inference_mode():
                seen = self._model.lxmert(
                    visual_feats=regions.features, visual_pos=regions.boxes, output_attentions=True, **tokens
                ).cross_encoder_attentions
            weights = torch.stack([one[0].mean(dim=(0, 1)) for one in seen]).mean(dim=0).float().cpu().double()
            found.append(attention(pair.text, self._inputs.boxes([pair.image])[0], weights.numpy()))
        return found

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        import torch

        encoder = self._model.lxmert.encoder
        modules = [layer.attention.self for layer in (*encoder.layer, *encoder.r_layers)]
        for layer in encoder.x_layers:
            modules += [layer.visual_attention.att, layer.lang_self_att.self, layer.visn_self_att.self]
        order = [*[_OWN[0]] * len(encoder.layer), *[_OWN[1]] * len(encoder.r_layers)]
        order += [*_ACROSS, *_OWN] * len(encoder.x_layers)
        found: list[Attended] = []
        for pair in pairs:
            regions = self._inputs.regions([pair.image])
            tokens, _ = self._inputs.tokens([pair.text])
            seen = {"visual_feats": regions.features, "visual_pos": regions.boxes}
            with torch.inference_mode(), caught(modules) as kept:
                self._model.lxmert(**seen, **tokens)
            weights = two_streams(list(zip(order, mean_of_heads(kept, 0), strict=True)))
            found.append(attention(pair.text, self._inputs.boxes([pair.image])[0], weights, ROLLOUT))
        return found


class LxmertAnswerer(Lxmert):
    """LXMERT's answering head over a list of answers; see ``AnswerList``."""

    def __init__(
        self, model: Any, inputs: RegionInputs, answers: AnswerList, *, fingerprint: str, rank: RankScore = BY_MARGIN
    ) -> None:
        super().__init__(model, inputs, fingerprint=fingerprint, rank=rank)
        self._answers = answers

    @property
    def note(self) -> str:
        return "; ".join(filter(None, (super().note, self._answers.note)))

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        self._answers.check(questions)
        texts = [question.question for question in questions]
        return self._answers.choose(self._scored(questions, texts, self._model.answer_head), questions)


class LxmertPretrained(LxmertMatcher, LxmertAnswerer):
    """The pretrained model with the names of its answers: it matches and answers."""


# ``lxmert``: LXMERT of transformers on region features, as a matcher and as an answerer.
#
# Tan and Bansal, EMNLP 2019. The checkpoint's configuration says which of the two it is. A pretrained one matches, and
# answers too if a file names its 9,500 answers; one that was fine-tuned on VQA or GQA answers. A folder that holds a
# network for regions (``region_network.json``) brings its own features.

PRETRAINED = "unc-nlp/lxmert-base-uncased"
VQA = "unc-nlp/lxmert-vqa-uncased"
GQA = "unc-nlp/lxmert-gqa-uncased"
OPTIONS = ("regions", "answers", "mode", "max_length", "tokenizer", OPTION)
_ANSWERS = ("label2ans.json", "trainval_label2ans.json", "all_ans.json")
_WHERE = (
    "of github.com/airsplay/lxmert, data/lxmert/all_ans.json (9,500 answers, the pretrained model), "
    "data/vqa/trainval_label2ans.json (3,129) or data/gqa/trainval_label2ans.json (1,842); it may also be in the "
    f"folder of the weights, as {_ANSWERS[0]}"
)
_ANSWERER = "LxmertForQuestionAnswering"
# Heads of the pretraining that neither matching nor answering uses.
_UNUSED = (r"cls\.predictions\..*", r"obj_predict_head\..*")
_ANSWER_HEAD = r"answer_head\..*"


def build(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    """Load LXMERT."""
    return _build(weights, folder, device, dtype, PRETRAINED)


def build_vqa(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    """Load LXMERT fine-tuned on VQA; as ``build``, with ``VQA`` as the default weights."""
    return _build(weights, folder, device, dtype, VQA)


def build_gqa(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    """Load LXMERT fine-tuned on GQA; as ``build``, with ``GQA`` as the default weights."""
    return _build(weights, folder, device, dtype, GQA)


def check(weights: str, folder: Path) -> None:
    """Check the options, and that local weights and files exist; import neither torch nor transformers."""
    name, options = hub.split_options(weights, OPTIONS)
    hub.pretrained(name, folder, default=PRETRAINED)
    check_mode(options.get("mode", ""))
    check_answers(options.get("answers", ""), folder)
    check_regions(options.get("regions", ""), folder)
    rank_score(options, MATCH)


def _build(weights: str, folder: Path, device: str, dtype: str, default: str) -> Lxmert:
    try:
        import transformers
    except ModuleNotFoundError as error:
        raise missing_package(error.name or "transformers", "hf") from error

    check(weights, folder)
    name, options = hub.split_options(weights, OPTIONS)
    source = hub.pretrained(name, folder, default=default)
    answers = _answers_file(source, options.get("answers", ""), folder)
    answering = _ANSWERER in (hub.read_config(source).get("architectures") or ())
    cls = transformers.LxmertForQuestionAnswering if answering else transformers.LxmertForPreTraining
    may_miss = () if answering else (*_UNUSED, *(() if answers else (_ANSWER_HEAD,)))
    model = load_model(cls, source, device=device, dtype=dtype, may_miss=may_miss)
    named = _named(model, source, answers, options) if answering or answers else None
    inputs = _inputs(model, source, options, folder, device, dtype)
    who = f"{hub.identity(source)} {inputs.fingerprint} {dtype} {transformers.__version__}"
    rank = rank_score(options, MATCH)
    if named is None:
        return LxmertMatcher(model, inputs, fingerprint=who, rank=rank)
    who = f"{who} {named.fingerprint}"
    if answering:
        check_no_rank(options, source.asked)
        return LxmertAnswerer(model, inputs, named, fingerprint=who)
    return LxmertPretrained(model, inputs, named, fingerprint=who, rank=rank)


def _named(model: Any, source: hub.Pretrained, answers: Path | None, options: dict[str, str]) -> AnswerList:
    if not hasattr(model, "answer_head"):
        raise ModelLoadError(f"{source.asked} was trained without answers (task_qa); leave answers=FILE out")
    config = model.config
    return answer_list(answers, config.id2label, config.num_qa_labels, mode=options.get("mode", ""), where=_WHERE)


def _answers_file(source: hub.Pretrained, asked: str, folder: Path) -> Path | None:
    return answers_file(asked, folder, hub.folder_of(source), _ANSWERS)


def _inputs(
    model: Any, source: hub.Pretrained, options: dict[str, str], folder: Path, device: str, dtype: str
) -> RegionInputs:
    config = model.config
    beside, asked = hub.folder_of(source), options.get("regions", "")
    own = has_network(beside)
    return RegionInputs(
        tokenizer=load_tokenizer(source, folder, options.get("tokenizer", ""), config.vocab_size),
        source=network_source(beside, device, width=config.visual_feat_dim)
        if own and not asked
        else region_source(asked, folder, device, dtype, width=config.visual_feat_dim),
        length=text_length(options.get("max_length", ""), config.max_position_embeddings),
        width=config.visual_feat_dim,
        device=model.device,
        dtype=model.dtype,
        trained=None if own else TRAINED,
    )
