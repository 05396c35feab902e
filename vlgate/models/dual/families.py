"""The families of dual encoders: how each reads texts, and which family a checkpoint belongs to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    name: str
    model_types: Mapping[str, str]  # from the ``model_type`` of a configuration to the class of transformers
    padding: Literal["longest", "max_length"] = "longest"
    length: int | None = None  # the context in tokens, if it was shorter in training than the number of positions
    mask: bool = True
    lowercase: bool = False
    may_miss: tuple[str, ...] = ()


FAMILIES = (
    Family(name="clip", model_types={"clip": "CLIPModel"}),
    # The SigLIP encoders read the last position, which is padding for nearly every text, and get no mask. So padding
    # other than that of training changes the features (Zhai et al. 2023; transformers' pages on both models).
    Family(name="siglip", model_types={"siglip": "SiglipModel"}, padding="max_length", mask=False),
    # Checkpoints of a fixed resolution are SiglipModels with Gemma's tokenizer, NaFlex checkpoints are Siglip2Models.
    Family(
        name="siglip2",
        model_types={"siglip": "SiglipModel", "siglip2": "Siglip2Model"},
        padding="max_length",
        mask=False,
        lowercase=True,
    ),
    # Training used 64 of the 512 positions. The feature is the state of the first token; BERT's pooler is not used.
    Family(name="align", model_types={"align": "AlignModel"}, length=64, may_miss=(r"text_model\.pooler\..*",)),
    # The authors use 77 of the 512 positions (FlagAI, examples/AltCLIP).
    Family(name="altclip", model_types={"altclip": "AltCLIPModel"}, length=77),
    Family(name="metaclip2", model_types={"metaclip_2": "MetaClip2Model"}),
    # The authors use 52 of the 512 positions (OFA-Sys/Chinese-CLIP, cn_clip/clip/utils.py), and no pooler of BERT.
    Family(
        name="chinese-clip",
        model_types={"chinese_clip": "ChineseCLIPModel"},
        length=52,
        may_miss=(r"text_model\.pooler\..*",),
    ),
    # The feature of a text is the mean over its tokens; the logit scale is in no published checkpoint.
    Family(name="tipsv2", model_types={"tipsv2": "Tipsv2Model"}, length=64, may_miss=(r"temperature",)),
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


def family_of(config: Mapping[str, Any], folder: Path, *, asked: str, name: str = "") -> Family:
    model_type = str(config.get("model_type", ""))
    fit = [family for family in FAMILIES if model_type in family.model_types]
    if not fit:
        known = sorted({known for family in FAMILIES for known in family.model_types})
        remedy = _ELSEWHERE.get(model_type, nearest(model_type, known)).format(asked)
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {model_type!r}, which is not a known dual encoder; {remedy}"
        )
    second = _has_gemmas_tokenizer(config, folder)
    family = next((family for family in fit if (family.name == "siglip2") == second), fit[0])
    if name not in ("", family.name):
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
