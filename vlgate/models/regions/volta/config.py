"""A VOLTA configuration: embeddings, sublayers and head, and the names and shapes of the weights that it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest

# Bugliarello, Cotterell, Okazaki and Elliott, "Multimodal Pretraining Unmasked" (TACL 2021), section 4: ViLBERT,
# LXMERT, UNITER, VL-BERT and VisualBERT are one encoder of gated sublayers, over a text stream and a vision stream. A
# gate says whether the tokens of a stream attend to their own stream, to the other, or to both.

Side = Literal["text", "vision"]
GATES: dict[str, tuple[Side, Side]] = {
    "tt_attn_sublayers": ("text", "text"),
    "tv_attn_sublayers": ("text", "vision"),
    "vt_attn_sublayers": ("vision", "text"),
    "vv_attn_sublayers": ("vision", "vision"),
}
FEEDS: dict[str, Side] = {"t_ff_sublayers": "text", "v_ff_sublayers": "vision"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    width: int  # numbers per token
    inner: int  # numbers per token within it: all heads together, or between the halves of a feed-forward sublayer
    heads: int = 1
    sees: tuple[Side, ...] = ()  # the streams that it attends to, text first; empty in a feed-forward sublayer
    activation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sublayer:
    # VOLTA also sets whether both go through one layer norm. That changes nothing: it normalises each token by itself.
    attends: bool
    sides: Mapping[Side, Stream]  # the streams that go through it; another is unchanged
    shared: bool  # whether both use the same weights

    def prefix(self, side: Side) -> str:
        return "" if side == "text" or self.shared else "v_"

    @property
    def joined(self) -> Sublayer | None:
        if not self.shared or any(len(stream.sees) == 1 for stream in self.sides.values()):
            return None
        both = replace(self.sides["text"], sees=("text",) if self.attends else ())
        return Sublayer(attends=self.attends, sides={"text": both}, shared=False)


def _sublayers(settings: Mapping[str, Any]) -> tuple[Sublayer, ...]:
    attending = {place for name in GATES for place in settings.get(name, ())}
    feeding = {place for name in FEEDS for place in settings.get(name, ())}
    if attending & feeding or attending | feeding != set(range(len(attending | feeding))):
        raise ValueError("the sublayers are not numbered from 0, with each either attention or feed-forward")
    made = []
    for place in sorted(attending | feeding):
        seen: dict[Side, list[Side]] = {side: [] for name, side in FEEDS.items() if place in settings.get(name, ())}
        for name, (side, other) in GATES.items():
            if place in settings.get(name, ()):
                seen.setdefault(side, []).append(other)
        sides = {side: _stream(settings, place, side, tuple(others)) for side, others in seen.items()}
        shared = len(sides) == 2 and place in settings.get("shared_sublayers", ())
        made.append(Sublayer(attends=place in attending, sides=sides, shared=shared))
    return tuple(made)


def _stream(settings: Mapping[str, Any], place: int, side: Side, sees: tuple[Side, ...]) -> Stream:
    v = "" if side == "text" else "v_"

    def size(general: str, special: str) -> int:
        return int(settings.get(f"sublayer2{v}{special}", {}).get(str(place), settings[v + general]))

    width = int(settings[v + "hidden_size"])
    if not sees:
        inner = size("intermediate_size", "intermediate_size")
        return Stream(width=width, inner=inner, activation=settings[v + "hidden_act"])
    inner = size("hidden_size", "attn_hidden_size")
    return Stream(width=width, inner=inner, heads=size("num_attention_heads", "num_attention_heads"), sees=sees)


NAMES = ("vilbert", "lxmert", "uniter", "vl-bert", "visualbert")
_ACTIVATIONS = ("gelu", "relu", "swish")
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
    embeddings: str
    vocabulary: int
    positions: int
    types: int
    text_width: int
    vision_width: int
    pooled: int
    features: int
    locations: int
    overall: str  # the position of the mean of all regions among them: "first", "last", or "" for no mean
    coordinates: int  # a size in VL-BERT's embedding of boxes
    masks_regions: bool
    fusion: str
    eps: float
    head: str  # the weights of the matching head
    task_tokens: int  # the tasks of a model that gets its task as a token; 0 if it does not
    sublayers: tuple[Sublayer, ...]

    @property
    def longest(self) -> int:
        return self.positions - (2 if self.embeddings == "vl-bert" else 0)  # its regions take the two after a text


def read_json(file: Path) -> dict[str, Any]:
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
        config = Config(
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
            sublayers=_sublayers(settings),
        )
        problem = next(_problems(config, settings), None)
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise ModelLoadError(f"{where} cannot be read ({type(error).__name__}: {error}); download it again") from error
    if problem:
        raise ModelLoadError(f"{where}: {problem}; use the configuration that the weights were trained with")
    return config


_KNOWN: dict[str, tuple[Any, ...]] = {
    "image_embeddings": NAMES,
    "fusion_method": ("mul", "sum", "text"),
    "fusion_act": ("relu",),
    "itm_dim": (2,),
    "hidden_act": _ACTIVATIONS,
    "v_hidden_act": _ACTIVATIONS,
    "num_locs": (4, 5),
    "add_global_imgfeat": (None, "first", "last"),
    "model": ("bert",),
    "norm_embeddings": (False,),
}


def _problems(config: Config, settings: Mapping[str, Any]) -> Iterator[str]:
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
    for index, sublayer in enumerate(config.sublayers):
        yield from (f"sublayer {index}: {problem}" for problem in _sublayer_problems(sublayer))


def _sublayer_problems(sublayer: Sublayer) -> Iterator[str]:
    streams = list(sublayer.sides.values())
    for stream in streams:
        if stream.inner % stream.heads:
            yield f"{stream.heads} heads do not divide {stream.inner}"
        if not set(stream.sees) <= set(sublayer.sides):
            yield "a stream attends to another that has no attention in it"
    crossed = any(len(set(stream.sees) - {side}) for side, stream in sublayer.sides.items())
    if crossed and len({(stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams attend to each other with heads of different sizes"
    if sublayer.shared and len({(stream.width, stream.inner, stream.heads) for stream in streams}) > 1:
        yield "two streams of different sizes share weights"


Shape = tuple[int, ...]
SELF, OUTPUT = "attention_self", "attention_output"
# Heads of the pretraining and of other tasks, which matching does not use.
UNUSED = ("cls.predictions.", "cls.imagePredictions.", "clfs_dict.", ALIGNMENT + ".", "vil_", "vision_logit.",
          "linguisic_logit.")  # fmt: skip
ANSWERS = "cls.qaPredictions."  # a head of the converted original LXMERT, which none of VOLTA's own models has


def shapes(config: Config) -> dict[str, Shape]:
    """Return the shapes of all weights that matching uses; one that streams share is listed once, as the text's."""
    width = config.text_width
    text = {
        "word_embeddings.weight": (config.vocabulary, width),
        "position_embeddings.weight": (config.positions, width),
        "token_type_embeddings.weight": (config.types, width),
    }
    if config.task_tokens:
        text["task_embeddings.weight"] = (config.task_tokens, width)
    own = "bert.v_embeddings." if config.embeddings in ("vilbert", "lxmert") else "bert.embeddings."
    named: dict[str, Shape] = {f"bert.embeddings.{name}": shape for name, shape in text.items()}
    named |= _norm("bert.embeddings.LayerNorm", width)
    named |= {own + name: shape for name, shape in _of_regions(config).items()}
    named |= _linear("bert.t_pooler.dense", width, config.pooled)
    if config.fusion != "text":
        named |= _linear("bert.v_pooler.dense", config.vision_width, config.pooled)
    named |= _linear(config.head, config.pooled, 2 if config.head == ALIGNMENT else 1)
    for index, sublayer in enumerate(config.sublayers):
        for name, shape in _sublayer_names(sublayer).items():
            named[f"bert.encoder.layer.{index}.{name}"] = shape
    return named


def aliases(config: Config) -> dict[str, str]:
    first_names = {
        f"bert.encoder.layer.{index}.{name.replace('.', '.v_', 1)}": f"bert.encoder.layer.{index}.{name}"
        for index, sublayer in enumerate(config.sublayers)
        if sublayer.shared
        for name in _sublayer_names(sublayer)
    }
    if config.embeddings == "uniter":  # VOLTA's older checkpoints of UNITER have no second name for the token types
        types = "token_type_embeddings.weight"
        first_names[f"bert.embeddings.image_{types}"] = f"bert.embeddings.{types}"
    return first_names


def _sublayer_names(sublayer: Sublayer) -> dict[str, Shape]:
    named: dict[str, Shape] = {}
    for side, stream in sublayer.sides.items():
        p, width, inner = sublayer.prefix(side), stream.width, stream.inner
        if sublayer.attends:
            into = [f"{SELF}.{p}{part}" for part in ("query", "key", "value")]
            out = OUTPUT
        else:
            into, out = [f"intermediate.{p}dense"], "output"
        for name in into:
            named |= _linear(name, width, inner)
        named |= _linear(f"{out}.{p}dense", inner, width) | _norm(f"{out}.{p}LayerNorm", width)
    return named


def _linear(name: str, inputs: int, outputs: int) -> dict[str, Shape]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> dict[str, Shape]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _of_regions(config: Config) -> dict[str, Shape]:
    kind, width, vision = config.embeddings, config.text_width, config.vision_width
    if kind == "visualbert":
        named = _linear("projection", config.features, width)
        named["token_type_embeddings_visual.weight"] = (config.types, width)
        named["position_embeddings_visual.weight"] = (config.positions, width)
    elif kind == "vl-bert":
        named = _linear("obj_downsample.1", 2 * config.features, vision)
        named |= _norm("visual_ln_text", width) | _norm("visual_ln_object", width)
        named["object_linguistic_embeddings.weight"] = (1, width)
        named["object_mask_visual_embedding.weight"] = (1, config.features)
        named["end_embedding.weight"] = (1, width)
        if config.masks_regions:
            named["object_mask_word_embedding.weight"] = (1, width)
    else:
        named = _linear("image_embeddings", config.features, vision)
        named |= _linear("image_location_embeddings", config.locations, vision)
        norms = {
            "vilbert": ("LayerNorm",),
            "lxmert": ("ImgLayerNorm", "LocLayerNorm"),
            "uniter": ("image_layer_norm", "image_location_layer_norm", "v_LayerNorm"),
        }
        for name in norms[kind]:
            named |= _norm(name, vision)
    return named
