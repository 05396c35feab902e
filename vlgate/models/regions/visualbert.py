"""``visualbert``: VisualBERT of transformers on region features, as a matcher or as an answerer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError
from vlgate.models.attention import mean_of_heads, rolled_out
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.cross.answer_lists import answer_list, answers_file
from vlgate.models.regions.inputs import RegionInputs, SeenRegions, load_tokenizer, parts, region_source, text_length
from vlgate.models.regions.region_models import HeadedAnswerer, HeadedMatcher, HeadedModel, checked, rank_of
from vlgate.models.regions.regions import COUNT, WIDTH
from vlgate.models.specs import Options, registered
from vlgate.types import FloatArray

if TYPE_CHECKING:
    import torch

# Li, Yatskar, Yin, Hsieh and Chang, 2019. The checkpoint's configuration says whether it matches or answers. Each
# published checkpoint was trained on the features of its own detector, and none on those of LXMERT's (``DETECTORS``).
#
# A match is logit 1 (``?match=1``, the default): the release's ``coco_dataset.py`` labels a caption of the same image
# 1. Its docstring and that of transformers say 0, as for BERT's next sentences; with 0 the published COCO checkpoint is
# right less often than chance, and the authors confirm that the order is flipped (uclanlp/visualbert, issue 26).
# The token type of boxes is 0 in the release's ``modeling.py`` (``?box_type=0``, the default).

_SAYS = ("transformers documents it", "the release's loader labels it")
DETECTORS = (
    "uclanlp/visualbert-vqa* take 2048 numbers per box (Pythia's detector, fc6, 100 boxes), visualbert-nlvr2* 1024 "
    "(Detectron's Mask R-CNN of ResNet-101-FPN, up to 144 boxes), visualbert-vcr* 512 (a ResNet-50 trained with them)"
)


class VisualBert(HeadedModel):
    """VisualBERT on region features; it takes the features of boxes, but not the boxes."""

    box_type = 0

    @property
    def note(self) -> str:
        return f"{super().note}; published VisualBERTs were trained on other features: {DETECTORS}"

    def _given(self, regions: SeenRegions, tokens: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        import torch

        seen = {"visual_embeds": regions.features, "visual_attention_mask": regions.mask}
        return {**tokens, **seen, "visual_token_type_ids": torch.full_like(regions.mask, self.box_type)}


class VisualBertMatcher(HeadedMatcher, VisualBert):
    """VisualBERT's sentence-image head; in training it got two captions, here it gets one text only."""

    @property
    def remark(self) -> str:  # type: ignore[override]
        match = self._rank.match or 0
        return f"logit {match} is read as the match, as {_SAYS[match]} (match={1 - match}: as {_SAYS[1 - match]})"

    def _outputs(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], *, answering: bool) -> torch.Tensor:  # noqa: ARG002
        # Only this head: the pretraining's other head would score 30,522 words at each position and each box.
        pooled = self._model.visual_bert(**self._given(regions, tokens)).pooler_output
        logits: torch.Tensor = self._model.cls.seq_relationship(pooled)
        return logits

    def _rolled_out(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], count: int) -> FloatArray:
        import torch

        with torch.inference_mode():
            layers = self._model.visual_bert(**self._given(regions, tokens), output_attentions=True).attentions
        token: FloatArray = rolled_out(mean_of_heads(layers, 0))[0]
        return token[len(token) - count :]


class VisualBertAnswerer(HeadedAnswerer, VisualBert):
    """VisualBERT's answering head, which reads the last token before the end: a mask, as in ``vqa_dataset.py``."""

    # The questions of the release have no commas, and one question mark at the end: Pythia's tokenizer drops both, the
    # loader adds one.
    def _written(self, text: str) -> str:
        return f"{text.replace(',', '').replace('?', '')} ?"

    def _outputs(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], *, answering: bool) -> torch.Tensor:  # noqa: ARG002
        logits: torch.Tensor = self._model(**self._given(regions, tokens)).logits
        return logits


_CLASSES = tuple(registered()["visualbert"].classes)  # one that matches, and one that answers
_ANSWERS = ("label2ans.json", "answers_vqa.txt")
_WHERE = (
    "answers_vqa.txt of Pythia's (now MMF's) VQA data, 3,129 lines, for uclanlp/visualbert-vqa (LXMERT's list of the "
    f"same length has another order); it may also be beside the weights, as {_ANSWERS[1]} or {_ANSWERS[0]}"
)
_WIDTH = 512  # numbers per box in transformers, if the configuration does not say
# Heads of the pretraining that matching does not use.
_UNUSED = (r"cls\.predictions\..*",)


def check(weights: str, folder: Path) -> None:
    checked("visualbert", weights, folder)


def fetch(weights: str, folder: Path) -> hub.Downloads:
    source, options = checked("visualbert", weights, folder)
    yield lambda: hub.weights_form(hub.folder_of(source))
    here = hub.here(source)
    if here is not None:
        _check_width(hub.read_config(source).get("visual_embedding_dim", _WIDTH), options)
    yield from parts(source, options, folder, detector=here is not None)


def _check_width(width: int, options: Options) -> None:
    if not options["regions"] and width != WIDTH:
        raise ModelLoadError(
            f"the model takes {width} numbers per box, the built-in detector gives {WIDTH}: {DETECTORS}; name features "
            "of the model's own detector with regions=FILE"
        )


def build(weights: str, folder: Path, device: str = "cpu", dtype: str = "float32") -> VisualBert:
    transformers = library("transformers")
    source, options = checked("visualbert", weights, folder)
    classes = hub.read_config(source).get("architectures") or ()
    kind = next((name for name in _CLASSES if name in classes), None)
    if kind is None:
        raise ModelLoadError(
            f"{source.asked} is a {', '.join(classes) or 'model of an unnamed class'}, which neither matches nor "
            f"answers; name a checkpoint of {' or '.join(_CLASSES)}, such as uclanlp/visualbert-nlvr2-coco-pre or "
            "uclanlp/visualbert-vqa"
        )
    model = load_model(getattr(transformers, kind), source, device=device, dtype=dtype, may_miss=_UNUSED)
    answers, config, match = None, model.config, options["match"]
    if kind != _CLASSES[0]:
        file = answers_file(options["answers"], folder, hub.folder_of(source), _ANSWERS)
        answers = answer_list(file, config.id2label, config.num_labels, mode=options["mode"], where=_WHERE)
    tokenizer = load_tokenizer(source, folder, options["tokenizer"], config.vocab_size)
    regions, width = options["regions"], config.visual_embedding_dim
    _check_width(width, options)
    inputs = RegionInputs(
        tokenizer=tokenizer,
        # Any width is read here: RegionInputs checks it, whose message can name the detector of the features.
        source=region_source(
            regions, folder, device, width=None if regions else width, count=None if regions else COUNT
        ),
        length=text_length(options["max_length"], config.max_position_embeddings),
        width=width,
        device=model.device,
        dtype=model.dtype,
        suffix=() if answers is None else (tokenizer.mask_token_id,),
        whose=DETECTORS,
    )
    rank = rank_of(options, source, int(match), answering=answers is not None)
    who = f"{hub.identity(source)} {inputs.fingerprint} {options['box_type']} {dtype} {transformers.__version__}"
    who = f"{who} {match if answers is None else answers.fingerprint}"
    made_of = VisualBertMatcher if answers is None else VisualBertAnswerer
    made = made_of(model, inputs, fingerprint=who, rank=rank, answers=answers)
    made.box_type = int(options["box_type"])
    return made
