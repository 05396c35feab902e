"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer.

Li, Yatskar, Yin, Hsieh and Chang, 2019. The checkpoint's configuration says which of the two it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models.answering.answer_lists import answer_list, answers_file, check_answers, check_mode
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.missing import missing_package
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.cross.rank_score import OPTION, check_no_rank, rank_score
from vlgate.models.region_models.inputs import RegionInputs, load_tokenizer, text_length
from vlgate.models.region_models.region_source import check_regions, region_source
from vlgate.models.region_models.visualbert_heads import (
    DETECTORS,
    MATCH,
    VisualBert,
    VisualBertAnswerer,
    VisualBertMatcher,
)
from vlgate.models.regions.regions import COUNT, WIDTH

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
    """Load VisualBERT.

    Args:
        weights: a hub repository or a local folder. Options after a question mark: ``regions=FILE`` for region features
            that were made before, ``answers=FILE`` for the names of the answers, ``mode=open`` for answers that ignore
            a question's choices, ``max_length=N`` to cut texts to N tokens, ``tokenizer=FOLDER``. For a checkpoint that
            was trained with transformers: ``match=0``, because transformers documents the first logit as the match
            (see ``MATCH``), and ``box_type=1``, its default token type of boxes. ``score=logit`` ranks by the raw match
            logit, as VALSE's script for LXMERT does.
        folder: the folder that relative paths start from.
        device: a name that ``torch.device`` takes.
        dtype: ``float32``, ``float16`` or ``bfloat16``.

    Returns: VisualBertMatcher or VisualBertAnswerer, whichever the checkpoint was trained as.
    Raises: ModelLoadError if a file is missing or does not fit; the message names it and the remedy.
    """
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
    """Check the options, and that local weights and files exist; import neither torch nor transformers.

    Raises: ModelLoadError if not.
    """
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
