"""The dual encoders of transformers: what is true of each family, and which family a checkpoint is of."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How texts go into the models of a family.

    Args:
        name: as in ``--model NAME:``.
        model_types: the ``model_type`` of its configurations, each with the class of transformers that it means.
        default: the hub repository where the user names none.
        padding: to the longest text of a batch, or always to the context, as in training.
        length: the context in tokens where training had a shorter one than the model has positions for.
        mask: whether the text encoder is told which tokens are padding.
        lowercase: whether it was trained on texts in lower case, though its tokenizer need not make them so.
        may_miss: weights, as regular expressions, that need not be there: features do not depend on them.
    """

    name: str
    model_types: Mapping[str, str]
    default: str
    padding: Literal["longest", "max_length"] = "longest"
    length: int | None = None
    mask: bool = True
    lowercase: bool = False
    may_miss: tuple[str, ...] = ()


FAMILIES = (
    Family(name="clip", model_types={"clip": "CLIPModel"}, default="openai/clip-vit-base-patch32"),
    # The SigLIP encoders read their last position, which is padding for nearly every text, and see no mask: padding
    # other than that of training changes the features (Zhai et al. 2023; transformers' pages of both models).
    Family(
        name="siglip",
        model_types={"siglip": "SiglipModel"},
        default="google/siglip-base-patch16-224",
        padding="max_length",
        mask=False,
    ),
    # Its checkpoints of one resolution are SiglipModels with Gemma's tokenizer, its NaFlex ones Siglip2Models.
    Family(
        name="siglip2",
        model_types={"siglip": "SiglipModel", "siglip2": "Siglip2Model"},
        default="google/siglip2-base-patch16-224",
        padding="max_length",
        mask=False,
        lowercase=True,
    ),
    # 512 positions, of which training used 64. The feature is the first token's state; BERT's pooler is not used.
    Family(
        name="align",
        model_types={"align": "AlignModel"},
        default="kakaobrain/align-base",
        length=64,
        may_miss=(r"text_model\.pooler\..*",),
    ),
    # 512 again, of which the authors use 77 (FlagAI, examples/AltCLIP).
    Family(name="altclip", model_types={"altclip": "AltCLIPModel"}, default="BAAI/AltCLIP", length=77),
    Family(
        name="metaclip2",
        model_types={"metaclip_2": "MetaClip2Model"},
        default="facebook/metaclip-2-worldwide-huge-quickgelu",
    ),
)
NAMES = tuple(family.name for family in FAMILIES)
_GEMMA = ("GemmaTokenizer", "Siglip2Tokenizer")
_GEMMA_WORDS = 256_000


def family_of(config: Mapping[str, Any], folder: Path, *, asked: str, name: str = "") -> Family:
    """The family that a checkpoint is of.

    Args:
        config: the content of its ``config.json``.
        folder: where it lies on this machine.
        asked: what the user wrote, for messages.
        name: the family that the user named; empty where any will do.

    Raises: ModelLoadError where it is none of ``FAMILIES``, or another than the user named; the right one is named.
    """
    model_type = str(config.get("model_type", ""))
    fit = [family for family in FAMILIES if model_type in family.model_types]
    if not fit:
        known = sorted({known for family in FAMILIES for known in family.model_types})
        raise ModelLoadError(
            f"{asked} is a checkpoint of model_type {model_type!r}, which is no dual encoder known here; "
            f"{nearest(model_type, known)}"
        )
    second = _speaks_gemma(config, folder)
    found = next((family for family in fit if (family.name == "siglip2") == second), fit[0])
    if name not in ("", found.name):
        raise ModelLoadError(f"{asked} is no checkpoint of {name!r} but of {found.name!r}; write {found.name}:{asked}")
    return found


def _speaks_gemma(config: Mapping[str, Any], folder: Path) -> bool:
    text = config.get("text_config")
    if isinstance(text, dict) and text.get("vocab_size") == _GEMMA_WORDS:
        return True
    file = folder / "tokenizer_config.json"
    try:
        named = json.loads(file.read_text(encoding="utf-8")).get("tokenizer_class") if file.is_file() else None
    except (OSError, ValueError, AttributeError) as error:
        raise ModelLoadError(f"{file} cannot be read ({error}); save the tokenizer anew") from error
    return str(named).removesuffix("Fast") in _GEMMA


def context(family: Family, config: Any, tokenizer: Any) -> int:
    """How many tokens of a text a model reads, special ones included.

    Args:
        family: of the model.
        config: the model's configuration, of transformers.
        tokenizer: its tokenizer; its own bound is huge where none was saved with it.
    """
    text = config.text_config
    # XLM-RoBERTa counts positions from the one behind the padding's: 514 of them are 512 tokens.
    lost = text.pad_token_id + 1 if family.name == "altclip" else 0
    positions = text.max_position_embeddings - lost
    return int(min(family.length or positions, positions, tokenizer.model_max_length))
