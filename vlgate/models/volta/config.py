"""Reads and checks a VOLTA configuration: the embeddings, the sublayers and the head."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError, nearest
from vlgate.models.volta.sublayers import GATES, Sublayer, problems_of, sublayers_of

EMBEDDINGS = ("vilbert", "lxmert", "uniter", "vl-bert", "visualbert")
FUSIONS = ("mul", "sum", "text")
ACTIVATIONS = ("gelu", "relu", "swish")
ALIGNMENT = "cls.bi_seq_relationship"
ORIGINAL = (
    "is the original LXMERT under VOLTA's names, whose match is the head's other logit and whose pooling is a tanh; "
    "use lxmert:unc-nlp/lxmert-base-uncased instead"
)
# The defaults of VOLTA's own reader.
_DEFAULTS: dict[str, Any] = {
    "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072, "pooler_size": 768,
    "v_hidden_size": 768, "v_num_attention_heads": 12, "v_intermediate_size": 3072, "v_pooler_size": 1024,
    "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2, "v_feature_size": 2048, "num_locs": 5,
    "hidden_act": "gelu", "v_hidden_act": "gelu", "image_embeddings": "vilbert", "fusion_method": "mul",
    "add_global_imgfeat": None, "v_coordinate_embeddings_dim": None, "layer_norm_eps": 1e-12, "task_tokens": 0,
    "visual_target_weights": {"0": 1}, "bert_model": "bert-base-uncased", "model": "bert", "norm_embeddings": False,
    "head": ALIGNMENT, "fusion_act": "relu", "itm_dim": 2, "qa_task_weight": 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A model of VOLTA's family.

    ``overall`` is the position of the mean of all regions among them: "first", "last", or "" if there is no mean.
    ``head`` names the weights of the matching head. ``task_tokens`` is the number of tasks of a model that gets its
    task as a token; 0 if it does not. ``coordinates`` is a size in VL-BERT's embedding of boxes.
    """

    embeddings: str
    vocabulary: int
    positions: int
    types: int
    text_width: int
    vision_width: int
    pooled: int
    features: int
    locations: int
    overall: str
    coordinates: int
    masks_regions: bool
    fusion: str
    eps: float
    head: str
    task_tokens: int
    sublayers: tuple[Sublayer, ...]

    @property
    def longest(self) -> int:
        """The most tokens of a text; VL-BERT's regions take the two positions after it."""
        return self.positions - (2 if self.embeddings == "vl-bert" else 0)


def read_json(file: Path) -> dict[str, Any]:
    """Read a configuration's file.

    Raises: ModelLoadError if it does not exist, or is not a JSON object.
    """
    if file.exists() and not file.is_file():  # reading a pipe would block for ever
        raise ModelLoadError(f"{file} is not a regular file; download it again")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelLoadError(f"config={str(file)!r}: there is no such file") from None
    except (OSError, ValueError, RecursionError) as error:
        raise ModelLoadError(f"{file} cannot be read as a configuration ({error}); download it again") from error
    if not isinstance(content, dict):
        raise ModelLoadError(
            f"{file} holds a {type(content).__name__}, expected a configuration of VOLTA (config/ctrl_*.json)"
        )
    return content


def parse(content: Mapping[str, Any], where: str) -> Config:
    """Parse and check a configuration.

    Args:
        content: the names and values of a configuration of VOLTA (``config/ctrl_*.json``).
        where: the name of its file, for messages.

    Raises: ModelLoadError if it is not a configuration, contradicts itself, or cannot match text and image.
    """
    if not any(content.get(name) for name in GATES):
        raise ModelLoadError(
            f"{where} lacks {', '.join(GATES)}; expected a configuration of VOLTA (config/ctrl_*.json)"
        )
    try:
        settings = _DEFAULTS | dict(content)
        if settings["qa_task_weight"]:  # a head that only the converted original LXMERT has
            raise ModelLoadError(f"{where} {ORIGINAL}")
        for name, known in _KNOWN.items():
            if settings[name] not in known:
                raise ModelLoadError(
                    f"{where}: {name}={settings[name]!r}; {nearest(str(settings[name]), [str(one) for one in known])}"
                )
        found = _config(settings)
        problem = next(_problems(found, settings), None)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise ModelLoadError(f"{where} cannot be read ({type(error).__name__}: {error}); download it again") from error
    if problem:
        raise ModelLoadError(f"{where}: {problem}; use the configuration that the weights were trained with")
    return found


_KNOWN: dict[str, tuple[Any, ...]] = {
    "image_embeddings": EMBEDDINGS,
    "fusion_method": FUSIONS,
    "fusion_act": ("relu",),
    "itm_dim": (2,),
    "hidden_act": ACTIVATIONS,
    "v_hidden_act": ACTIVATIONS,
    "num_locs": (4, 5),
    "add_global_imgfeat": (None, "first", "last"),
    "model": ("bert",),
    "norm_embeddings": (False,),
}


def _config(settings: Mapping[str, Any]) -> Config:
    return Config(
        embeddings=settings["image_embeddings"],
        vocabulary=int(settings["vocab_size"]),
        positions=int(settings["max_position_embeddings"]),
        types=int(settings["type_vocab_size"]),
        text_width=int(settings["hidden_size"]),
        vision_width=int(settings["v_hidden_size"]),
        pooled=int(settings["pooler_size"]),
        features=int(settings["v_feature_size"]),
        locations=int(settings["num_locs"]),
        overall=settings["add_global_imgfeat"] or "",
        coordinates=int(settings["v_coordinate_embeddings_dim"] or 0),
        masks_regions=settings["visual_target_weights"].get("6", 0) > 0,
        fusion=settings["fusion_method"],
        eps=float(settings["layer_norm_eps"]),
        head=settings["head"],
        task_tokens=int(settings["task_tokens"]),
        sublayers=sublayers_of(settings),
    )


def _problems(config: Config, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield contradictions, which would give wrong scores or raise far from their cause."""
    if "roberta" in settings["bert_model"]:
        yield f"bert_model={settings['bert_model']!r} is not supported; expected a BERT"
    if config.embeddings in ("uniter", "vl-bert", "visualbert") and config.text_width != config.vision_width:
        yield f"hidden_size={config.text_width} and v_hidden_size={config.vision_width} differ in a single stream"
    if config.embeddings == "vl-bert" and 8 * config.coordinates != config.features:
        yield f"v_coordinate_embeddings_dim={config.coordinates} is not an eighth of v_feature_size={config.features}"
    if config.types < (3 if config.embeddings == "vl-bert" else 2):
        yield f"type_vocab_size={config.types} has no type for the regions"
    if config.fusion != "text" and int(settings["v_pooler_size"]) != config.pooled:
        yield f"pooler_size={config.pooled} and v_pooler_size={settings['v_pooler_size']} differ"
    for place, sublayer in enumerate(config.sublayers):
        yield from (f"sublayer {place}: {problem}" for problem in problems_of(sublayer))
