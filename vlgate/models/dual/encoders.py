"""Dual encoders of transformers: how each family reads texts, and loading by ``clip:``, ``siglip:`` and so on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from vlgate.asking.image_prefetch import InputsAhead
from vlgate.errors import ModelLoadError, NoReplyError, nearest
from vlgate.models import attention
from vlgate.models.checkpoints import hub
from vlgate.models.checkpoints.hub import Pretrained, folder_of, identity, read_config, requested, weights_form
from vlgate.models.checkpoints.inputs import cut_off, moved, prepared, rows_as_keys
from vlgate.models.checkpoints.load_errors import library
from vlgate.models.checkpoints.transformers_loading import classes_of, load_model, load_processor
from vlgate.models.dual.features import TRIED, CosineModel, apart, in_groups, told, unit_rows
from vlgate.models.specs import registered
from vlgate.types import Attended, FloatArray, LazyImage, Match

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    name: str
    padding: Literal["longest", "max_length"] = "longest"
    length: int | None = None  # the context in tokens, if it was shorter in training than the number of positions
    mask: bool = True
    lowercase: bool = False
    may_miss: tuple[str, ...] = ()

    @property
    def model_types(self) -> dict[str, str]:
        """From the ``model_type`` of a configuration to the class of transformers."""
        return {kind: cls for cls, kind in registered()[self.name].classes.items()}


FAMILIES = (
    Family(name="clip"),
    # The SigLIP encoders read the last position, which is padding for nearly every text, and get no mask. So padding
    # other than that of training changes the features (Zhai et al. 2023; transformers' pages on both models).
    Family(name="siglip", padding="max_length", mask=False),
    # Checkpoints of a fixed resolution are SiglipModels with Gemma's tokenizer, NaFlex checkpoints are Siglip2Models.
    Family(name="siglip2", padding="max_length", mask=False, lowercase=True),
    # Training used 64 of the 512 positions. The feature is the state of the first token; BERT's pooler is not used.
    Family(name="align", length=64, may_miss=(r"text_model\.pooler\..*",)),
    # The authors use 77 of the 512 positions (FlagAI, examples/AltCLIP).
    Family(name="altclip", length=77),
    Family(name="metaclip2"),
    # The authors use 52 of the 512 positions (OFA-Sys/Chinese-CLIP, cn_clip/clip/utils.py), and no pooler of BERT.
    Family(name="chinese-clip", length=52, may_miss=(r"text_model\.pooler\..*",)),
    # The feature of a text is the mean over its tokens; the logit scale is in no published checkpoint.
    Family(name="tipsv2", length=64, may_miss=(r"temperature",)),
)
# Architectures that resemble a dual encoder, and what to do with them.
_ELSEWHERE: Mapping[str, str] = {
    "blip": "for its contrastive score, write blip-itc:{}",
    "blip-2": "for its contrastive score, write blip2-itc:{}",
    "clipseg": "it segments images, and its image and text encoders are those of openai/clip-vit-base-patch16: "
    "write clip:openai/clip-vit-base-patch16",
    "xclip": "it reads videos, which vlgate does not show to models",
    "videoprism": "it reads videos, which vlgate does not show to models",
}
_GEMMA = ("GemmaTokenizer", "Siglip2Tokenizer")
_GEMMA_WORDS = 256_000
fetch = hub.downloads


def _family(name: str, source: Pretrained) -> Family:
    config, asked = read_config(source), source.asked
    model_type = str(config.get("model_type", ""))
    fit = [family for family in FAMILIES if model_type in family.model_types]
    if not fit:
        known = sorted({known for family in FAMILIES for known in family.model_types})
        remedy = _ELSEWHERE.get(model_type, nearest(model_type, known)).format(asked)
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {model_type!r}, which is not a known dual encoder; {remedy}"
        )
    second = _has_gemmas_tokenizer(config, folder_of(source))
    family = next((family for family in fit if (family.name == "siglip2") == second), fit[0])
    if name not in ("dual", family.name):
        raise ModelLoadError(
            f"{asked} is a checkpoint of {family.name!r}, not of {name!r}; write {family.name}:{asked}"
        )
    return family


def _has_gemmas_tokenizer(config: Mapping[str, Any], folder: Path) -> bool:
    text = config.get("text_config")
    if isinstance(text, dict) and text.get("vocab_size") == _GEMMA_WORDS:
        return True
    file = folder / "tokenizer_config.json"
    try:
        named = json.loads(file.read_text(encoding="utf-8")).get("tokenizer_class") if file.is_file() else None
    except (OSError, ValueError, AttributeError) as error:
        raise ModelLoadError(f"{file} cannot be read ({error}); save the tokenizer again") from error
    return str(named).removesuffix("Fast") in _GEMMA


def context(family: Family, config: Any, tokenizer: Any) -> int:
    text = config.text_config
    # XLM-RoBERTa numbers positions from the padding token's id + 1, so 514 positions are 512 tokens.
    lost = text.pad_token_id + 1 if family.name == "altclip" else 0
    positions = text.max_position_embeddings - lost
    return int(min(family.length or positions, positions, tokenizer.model_max_length))


# The score is the cosine of the image's and the text's features. The logit scale and bias do not change the order of
# two scores; if a model was trained with a sigmoid, they give the decision threshold.
class DualModel(CosineModel):
    def __init__(self, model: Any, tokenizer: Any, image_processor: Any, *, family: Family, fingerprint: str) -> None:
        tokenizer.padding_side = "right"  # as in training, whatever was saved: positions are counted from the left
        super().__init__(model, tokenizer, fingerprint=fingerprint)
        self._image_processor = image_processor
        self._family = family
        self._length = context(family, model.config, tokenizer)
        self._padding = family.padding
        self.inputs_ahead = InputsAhead(make=self._inputs, device=model.device)

    def encode_images(self, images: Sequence[LazyImage]) -> FloatArray:
        import torch

        with torch.inference_mode():
            return unit_rows(_features(self._model.get_image_features(**self.inputs_ahead.of(tuple(images)))))

    def _inputs(self, images: Sequence[LazyImage]) -> Mapping[str, torch.Tensor]:
        import torch

        ready = prepared(images, self._prepare)
        whole = {name: torch.stack([image[name][0] for image in ready]) for name in ready[0]}
        return {name: moved(values, self._model.device, self._model.dtype) for name, values in whole.items()}

    def _features_of(self, texts: Sequence[str]) -> torch.Tensor:
        import torch

        if not self.reading and self._padding == "max_length":
            self.reading = told("as in training, its text encoder reads it")
        elif not self.reading:  # encode a few texts with their padding and without, each alone, and compare
            full = self._encoded(self._tokenized(TRIED, "max_length"))
            difference = apart(
                full, lambda: torch.cat([self._encoded(self._tokenized([text], "longest")) for text in TRIED])
            )
            self.reading = told(difference)
            if isinstance(difference, str):
                self._padding = "max_length"
        return self._encoded_texts(texts)

    def text_keys(self, texts: Sequence[str]) -> list[bytes]:
        return rows_as_keys(self._tokens(texts)["input_ids"])

    def attended(self, pairs: Sequence[Match]) -> list[Attended]:
        if self._family.name == "siglip2":  # its patches form a grid of any shape
            return []
        encoders = attention.Encoders(
            grid=attention.last_grid(self._model.vision_model),
            frame=self._frame,
            prepare=lambda images: self._inputs(images)["pixel_values"],
            encode_images=lambda images: _features(self._model.get_image_features(pixel_values=images)),
            encode_texts=self._encoded_texts,
        )
        return attention.grad_cams(pairs, encoders)

    def attention_rollout(self, pairs: Sequence[Match]) -> list[Attended]:
        import torch

        network = getattr(self._model.vision_model, "encoder", None)
        if self._family.name == "siglip2" or not hasattr(network, "layers"):
            return []
        layers, frames = {}, {}
        for image in dict.fromkeys(pair.image for pair in pairs):
            pixels = self._inputs([image])["pixel_values"]
            with torch.inference_mode(), attention.eager(self._model):
                seen = self._model.vision_model(pixel_values=pixels, output_attentions=True).attentions or ()
            layers[image], frames[image] = attention.mean_of_heads(seen, 0), self._frame(image.load().size)
        maps = [attention.patches_rolled_out(layers[pair.image], pair.text, frames[pair.image]) for pair in pairs]
        return [rollout for rollout in maps if rollout is not None]

    @property
    def _frame(self) -> attention.Frame:
        cropped = getattr(self._image_processor, "do_center_crop", False)
        return attention.FRAMES["cropped" if cropped else "stretched"]

    def _encoded_texts(self, texts: Sequence[str]) -> torch.Tensor:
        tokens = self._tokens(texts)
        if self._padding == "max_length":
            return self._encoded(tokens)
        lengths = tokens["attention_mask"].sum(dim=1).tolist()
        if 0 in lengths:  # TIPSv2 adds no token at either end
            empty = [index for index, length in enumerate(lengths) if length == 0]
            raise NoReplyError(empty, f"the text {texts[empty[0]]!r} has no tokens, so the model has no features of it")

        def encode(places: list[int], longest: int) -> torch.Tensor:
            return self._encoded({name: rows[places, :longest] for name, rows in tokens.items()})

        return in_groups(lengths, self._model.device.type, encode)

    def _encoded(self, tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        names = ("input_ids", "attention_mask", "token_type_ids") if self._family.mask else ("input_ids",)
        given = {name: tokens[name].to(self._model.device) for name in names if name in tokens}
        return _features(self._model.get_text_features(**given))

    def _tokens(self, texts: Sequence[str]) -> Any:
        cased = list(map(self._cased, texts))
        tokens = self._tokenized(cased, self._padding)
        # Only a text that fills the context can have lost its end, so only those are tokenized a second time.
        full = (tokens["attention_mask"].sum(dim=1) == self._length).tolist()
        cut = cut_off(self._tokenizer, list(compress(cased, full)), self._length)
        self.cut_texts.update(compress(compress(texts, full), cut))
        return tokens

    def _cased(self, text: str) -> str:
        return text.lower() if self._family.lowercase else text

    def _tokenized(self, texts: Sequence[str], padding: str) -> Any:
        return self._tokenizer(
            list(texts), padding=padding, truncation=True, max_length=self._length, return_attention_mask=True,
            return_tensors="pt",
        )  # fmt: skip

    def _prepare(self, image: Image) -> Mapping[str, torch.Tensor]:
        return dict(self._image_processor(images=image, return_tensors="pt"))


def _features(output: Any) -> torch.Tensor:
    features: torch.Tensor = getattr(output, "pooler_output", output)  # transformers before 5.0 returns the features
    return features


def check(weights: str, folder: Path, *, name: str = "dual") -> None:
    source, _ = requested(name, weights, folder)
    if source.local:
        _family(name, source)
        weights_form(folder_of(source))


def build(
    weights: str = "", folder: Path = Path(), device: str = "cpu", dtype: str = "float32", *, name: str = "dual"
) -> DualModel:
    source, _ = requested(name, weights, folder)
    family = _family(name, source)
    transformers = library("transformers")
    tokenizer = load_processor(transformers.AutoTokenizer, source)
    # Pillow resizes as in training; torchvision's results differ slightly.
    images = load_processor(transformers.AutoImageProcessor, source, backend="pil")
    cls = getattr(transformers, family.model_types[read_config(source)["model_type"]])
    model = load_model(cls, source, device=device, dtype=dtype, may_miss=family.may_miss)
    # A tokenizer of another model gives tokens that the model lacks, or that mean something else to it.
    if tokenizer.pad_token_id is None:
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has no padding token; save the one that the model was trained with"
        )
    if tokenizer.vocab_size > (known := model.config.text_config.vocab_size):
        raise ModelLoadError(
            f"{source.asked}: its tokenizer has {tokenizer.vocab_size:,} tokens, but its model has embeddings for "
            f"{known:,}; save the tokenizer that the model was trained with into the folder of the weights"
        )
    what = (identity(source), transformers.__version__, classes_of(tokenizer, images), dtype)
    return DualModel(model, tokenizer, images, family=family, fingerprint=" ".join(what))
