"""``lxmert``: LXMERT of transformers on region features, as a matcher, as an answerer, or as both."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from vlgate.errors import ModelLoadError
from vlgate.models.attention import Streams, attention, caught, mean_of_heads, two_streams
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import load_model
from vlgate.models.cross.answer_lists import answer_list, answers_file
from vlgate.models.regions.inputs import RegionInputs, SeenRegions, load_tokenizer, parts, region_source, text_length
from vlgate.models.regions.region_models import MATCH, HeadedAnswerer, HeadedMatcher, HeadedModel, checked, rank_of
from vlgate.models.regions.region_network import has_network, network_source
from vlgate.types import Attended, FloatArray, Match

if TYPE_CHECKING:
    import torch

_OWN: tuple[Streams, Streams] = (("text", "text"), ("regions", "regions"))
_ACROSS: tuple[Streams, Streams] = (("text", "regions"), ("regions", "text"))
"""Who attends to whom, in the order in which a layer of LXMERT computes it."""
TRAINED = 20
"""The most tokens of a text in the release's training, which began from scratch: later positions are untrained."""


class Lxmert(HeadedModel):
    aspect = "kept"  # regions are cut out of an image in its own aspect

    @property
    def note(self) -> str:
        trained = self._inputs.trained
        if trained is None or self._inputs.length <= trained:
            return self._inputs.source.note
        return (
            f"{self._inputs.source.note}; texts are not cut, though it was trained on at most {trained} tokens "
            f"(?max_length={trained} cuts them, as its release does)"
        )

    def _outputs(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], *, answering: bool) -> torch.Tensor:
        # Only one head: the pretraining's other heads would score 30,522 words at each position of each text.
        head = self._model.answer_head if answering else self._model.cls.seq_relationship
        seen = {"visual_feats": regions.features, "visual_pos": regions.boxes, "visual_attention_mask": regions.mask}
        scores: torch.Tensor = head(self._model.lxmert(**seen, **tokens).pooled_output)
        return scores


class LxmertMatcher(HeadedMatcher, Lxmert):
    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        import torch

        maps = []
        for pair in pairs:
            regions, (tokens, _) = self._inputs.regions([pair.image]), self._inputs.tokens([pair.text])
            with torch.inference_mode():
                seen = self._model.lxmert(
                    visual_feats=regions.features, visual_pos=regions.boxes, output_attentions=True, **tokens
                ).cross_encoder_attentions
            weights = torch.stack([one[0].mean(dim=(0, 1)) for one in seen]).mean(dim=0).float().cpu().double()
            maps.append(attention(pair.text, self._inputs.boxes([pair.image])[0], weights.numpy()))
        return maps

    def _rolled_out(self, regions: SeenRegions, tokens: dict[str, torch.Tensor], _: int) -> FloatArray:
        import torch

        encoder = self._model.lxmert.encoder
        modules = [layer.attention.self for layer in (*encoder.layer, *encoder.r_layers)]
        for layer in encoder.x_layers:
            modules += [layer.visual_attention.att, layer.lang_self_att.self, layer.visn_self_att.self]
        order = [*[_OWN[0]] * len(encoder.layer), *[_OWN[1]] * len(encoder.r_layers)]
        order += [*_ACROSS, *_OWN] * len(encoder.x_layers)
        with torch.inference_mode(), caught(modules) as kept:
            self._model.lxmert(visual_feats=regions.features, visual_pos=regions.boxes, **tokens)
        return two_streams(list(zip(order, mean_of_heads(kept, 0), strict=True)))


class LxmertAnswerer(HeadedAnswerer, Lxmert):
    """LXMERT's answering head."""


class LxmertPretrained(LxmertMatcher, LxmertAnswerer):
    """The pretrained model with the names of its answers: it matches and answers."""


# Tan and Bansal, EMNLP 2019. The checkpoint's configuration says which of the two it is. A pretrained one matches, and
# answers too if a file names its 9,500 answers; one that was fine-tuned on VQA or GQA answers. A folder that holds a
# network for regions (``region_network.json``) brings its own features.

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


def check(weights: str, folder: Path, *, name: str = "lxmert") -> None:
    checked(name, weights, folder)


def fetch(weights: str, folder: Path, *, name: str = "lxmert") -> hub.Downloads:
    source, options = checked(name, weights, folder)
    yield lambda: hub.weights_form(hub.folder_of(source))
    here = hub.here(source)
    yield from parts(source, options, folder, detector=here is None or not has_network(here))


def build(
    weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32", *, name: str = "lxmert"
) -> Lxmert:
    transformers = library("transformers")
    source, options = checked(name, weights, folder)
    file = answers_file(options["answers"], folder, hub.folder_of(source), _ANSWERS)
    answering = _ANSWERER in (hub.read_config(source).get("architectures") or ())
    cls = transformers.LxmertForQuestionAnswering if answering else transformers.LxmertForPreTraining
    may_miss = () if answering else (*_UNUSED, *(() if file else (_ANSWER_HEAD,)))
    model = load_model(cls, source, device=device, dtype=dtype, may_miss=may_miss)
    config, beside, answers = model.config, hub.folder_of(source), None
    if answering or file:
        if not hasattr(model, "answer_head"):
            raise ModelLoadError(f"{source.asked} was trained without answers (task_qa); leave answers=FILE out")
        answers = answer_list(file, config.id2label, config.num_qa_labels, mode=options["mode"], where=_WHERE)
    width, own = config.visual_feat_dim, has_network(beside)
    inputs = RegionInputs(
        tokenizer=load_tokenizer(source, folder, options["tokenizer"], config.vocab_size),
        source=network_source(beside, device, width=width)
        if own and not options["regions"]
        else region_source(options["regions"], folder, device, width=width),
        length=text_length(options["max_length"], config.max_position_embeddings),
        width=width,
        device=model.device,
        dtype=model.dtype,
        trained=None if own else TRAINED,
    )
    who = f"{hub.identity(source)} {inputs.fingerprint} {dtype} {transformers.__version__}"
    rank = rank_of(options, source, MATCH, answering=answering)
    if answers is None:
        return LxmertMatcher(model, inputs, fingerprint=who, rank=rank)
    kind = LxmertAnswerer if answering else LxmertPretrained
    return kind(model, inputs, fingerprint=f"{who} {answers.fingerprint}", rank=rank, answers=answers)
