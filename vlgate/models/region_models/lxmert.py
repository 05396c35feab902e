"""``lxmert``: LXMERT of transformers on region features, as a matcher and as an answerer.

Tan and Bansal, EMNLP 2019. The checkpoint's configuration says which of the two it is. A pretrained one matches, and
answers too if a file names its 9,500 answers; one that was fine-tuned on VQA or GQA answers. A folder that holds a
network for regions (``region_network.json``) brings its own features.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.answering.answer_lists import AnswerList, answer_list, answers_file, check_answers, check_mode
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.cross.rank_score import OPTION, check_no_rank, rank_score
from vlgate.models.region_models.inputs import RegionInputs, load_tokenizer, text_length
from vlgate.models.region_models.lxmert_heads import (
    MATCH,
    TRAINED,
    Lxmert,
    LxmertAnswerer,
    LxmertMatcher,
    LxmertPretrained,
)
from vlgate.models.region_models.region_source import check_regions, region_source
from vlgate.models.region_network.source import has_network, network_source

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
    """Load LXMERT.

    Args:
        weights: a hub repository or a local folder, ``PRETRAINED`` if empty. Options after a question mark:
            ``regions=FILE`` for region features that were made before, ``answers=FILE`` for the names of the answers,
            ``mode=open`` for answers that ignore a question's choices, ``max_length=20`` to cut texts to 20 tokens
            (20 in LXMERT's release, 30 in VALSE's; by default they are not cut), ``tokenizer=FOLDER``, ``score=logit``
            to rank by the raw match logit, as VALSE's script does.
        folder: the folder that relative paths start from.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Returns: LxmertMatcher, LxmertAnswerer or LxmertPretrained.
    Raises: ModelLoadError if a file is missing or does not fit; the message names it and the remedy.
    """
    return _build(weights, folder, device, dtype, PRETRAINED)


def build_vqa(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    """Load LXMERT fine-tuned on VQA; as ``build``, with ``VQA`` as the default weights."""
    return _build(weights, folder, device, dtype, VQA)


def build_gqa(weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32") -> Lxmert:
    """Load LXMERT fine-tuned on GQA; as ``build``, with ``GQA`` as the default weights."""
    return _build(weights, folder, device, dtype, GQA)


def check(weights: str, folder: Path) -> None:
    """Check the options, and that local weights and files exist; import neither torch nor transformers.

    Raises: ModelLoadError if not.
    """
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
