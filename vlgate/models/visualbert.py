"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer.

Li, Yatskar, Yin, Hsieh and Chang, 2019. Which of the two a checkpoint is stands in its configuration.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError
from vlgate.models import hub
from vlgate.models.answer_lists import answer_list, answers_file, check_answers, check_mode
from vlgate.models.hub_loading import load_model
from vlgate.models.missing import missing_package
from vlgate.models.region_inputs import RegionInputs, load_tokenizer, text_length
from vlgate.models.regions import COUNT, WIDTH, check_regions, region_source
from vlgate.models.visualbert_heads import DETECTORS, MATCH, VisualBert, VisualBertAnswerer, VisualBertMatcher

OPTIONS = ("regions", "answers", "mode", "max_length", "tokenizer", "match", "box_type")
BOX_TYPE = 0
"""The token type of boxes in the release's ``modeling.py``, with which the published checkpoints were trained."""
_CLASSES = ("VisualBertForPreTraining", "VisualBertForQuestionAnswering")
_ANSWERS = ("label2ans.json", "answers_vqa.txt")
_WHERE = (
    "answers_vqa.txt of Pythia's (now MMF's) VQA data, 3,129 lines, for uclanlp/visualbert-vqa (LXMERT's list of the "
    f"same length has another order); it may also lie beside the weights, as {_ANSWERS[1]} or {_ANSWERS[0]}"
)
# Heads of the pretraining that a match does not go through.
_UNUSED = (r"cls\.predictions\..*",)


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
