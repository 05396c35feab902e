"""A VOLTA configuration: embeddings, sublayers and head, and the names and shapes of the weights that it needs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from vlgate.errors import ModelLoadError, nearest

# The sublayers of VOLTA's encoder: what each attends to, and how wide it is, as the gates of a configuration say.
#
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
    """One stream's part in a sublayer.

    ``width`` is the numbers per token, and ``inner`` the numbers per token within the sublayer: all attention heads
    together, or between the two halves of a feed-forward sublayer. ``sees`` names the streams that it attends to, text
    first; it is empty in a feed-forward sublayer.
    """

    width: int
    inner: int
    heads: int = 1
    sees: tuple[Side, ...] = ()
    activation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sublayer:
    """A sublayer: the streams that go through it (the other is unchanged), and whether both use the same weights.

    VOLTA also sets whether both go through one layer norm. That changes nothing, as it normalises each token by itself.
    """

    attends: bool
    sides: Mapping[Side, Stream]
    shared: bool

    def prefix(self, side: Side) -> str:
        return "" if side == "text" or self.shared else "v_"

    @property
    def joined(self) -> Sublayer | None:
        """The sublayer for both streams concatenated, if they share all weights and each sees both; else None."""
        if not self.shared or any(len(stream.sees) == 1 for stream in self.sides.values()):
            return None
        one = replace(self.sides["text"], sees=("text",) if self.attends else ())
        return Sublayer(attends=self.attends, sides={"text": one}, shared=False)


def sublayers_of(settings: Mapping[str, Any]) -> tuple[Sublayer, ...]:
    attending = {place for name in GATES for place in settings.get(name, ())}
    feeding = {place for name in FEEDS for place in settings.get(name, ())}
    if attending & feeding or attending | feeding != set(range(len(attending | feeding))):
        raise ValueError("the sublayers are not numbered from 0, with each either attention or feed-forward")
    return tuple(_sublayer(settings, place, attends=place in attending) for place in sorted(attending | feeding))


def _sublayer(settings: Mapping[str, Any], place: int, *, attends: bool) -> Sublayer:
    seen: dict[Side, list[Side]] = {}
    if attends:
        for name, (side, other) in GATES.items():
            if place in settings.get(name, ()):
                seen.setdefault(side, []).append(other)
    else:
        seen = {side: [] for name, side in FEEDS.items() if place in settings.get(name, ())}
    sides = {side: _stream(settings, place, side, tuple(others)) for side, others in seen.items()}
    shared = len(sides) == 2 and place in settings.get("shared_sublayers", ())
    return Sublayer(attends=attends, sides=sides, shared=shared)


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


def problems_of(sublayer: Sublayer) -> Iterator[str]:
    """Yield the contradictions within a sublayer."""
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
    """Parse and check a configuration."""
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


Shape = tuple[int, ...]
SELF, OUTPUT = "attention_self", "attention_output"
# Heads of the pretraining and of other tasks, which matching does not use.
UNUSED = ("cls.predictions.", "cls.imagePredictions.", "clfs_dict.", ALIGNMENT + ".", "vil_", "vision_logit.",
          "linguisic_logit.")  # fmt: skip
ANSWERS = "cls.qaPredictions."
"""A head of the converted original LXMERT, which none of VOLTA's own models has."""


def shapes(config: Config) -> dict[str, Shape]:
    """Return the shapes of all weights that matching uses; one that streams share is listed once, as the text's."""
    found = _embeddings(config) | _pooling(config)
    for place, sublayer in enumerate(config.sublayers):
        for name, shape in _sublayer_names(sublayer).items():
            found[f"bert.encoder.layer.{place}.{name}"] = shape
    return found


def aliases(config: Config) -> dict[str, str]:
    """Return the second names under which a checkpoint may hold a shared weight, each with the first name.

    VOLTA's older checkpoints of UNITER have no second name for the token types.
    """
    found = {
        f"bert.encoder.layer.{place}.{_second(name)}": f"bert.encoder.layer.{place}.{name}"
        for place, sublayer in enumerate(config.sublayers)
        if sublayer.shared
        for name in _sublayer_names(sublayer)
    }
    if config.embeddings == "uniter":
        types = "token_type_embeddings.weight"
        found[f"bert.embeddings.image_{types}"] = f"bert.embeddings.{types}"
    return found


def _second(name: str) -> str:
    part, _, rest = name.partition(".")
    return f"{part}.v_{rest}"


def _sublayer_names(sublayer: Sublayer) -> dict[str, Shape]:
    found: dict[str, Shape] = {}
    for side, stream in sublayer.sides.items():
        p, width, inner = sublayer.prefix(side), stream.width, stream.inner
        if sublayer.attends:
            into = [f"{SELF}.{p}{part}" for part in ("query", "key", "value")]
            out = OUTPUT
        else:
            into, out = [f"intermediate.{p}dense"], "output"
        for name in into:
            found |= linear(name, width, inner)
        found |= linear(f"{out}.{p}dense", inner, width) | norm(f"{out}.{p}LayerNorm", width)
    return found


def linear(name: str, inputs: int, outputs: int) -> dict[str, Shape]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm(name: str, width: int) -> dict[str, Shape]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _under(prefix: str, names: Mapping[str, Shape]) -> dict[str, Shape]:
    return {prefix + name: shape for name, shape in names.items()}


def _pooling(config: Config) -> dict[str, Shape]:
    found = linear("bert.t_pooler.dense", config.text_width, config.pooled)
    if config.fusion != "text":
        found |= linear("bert.v_pooler.dense", config.vision_width, config.pooled)
    return found | linear(config.head, config.pooled, 2 if config.head == ALIGNMENT else 1)


def _embeddings(config: Config) -> dict[str, Shape]:
    width = config.text_width
    text: dict[str, Shape] = {
        "word_embeddings.weight": (config.vocabulary, width),
        "position_embeddings.weight": (config.positions, width),
        "token_type_embeddings.weight": (config.types, width),
    }
    if config.task_tokens:
        text["task_embeddings.weight"] = (config.task_tokens, width)
    return _under("bert.embeddings.", text | norm("LayerNorm", width)) | _own_embeddings(config)


def _own_embeddings(config: Config) -> dict[str, Shape]:
    """The embeddings of regions, which each of the five models has under names of its own."""
    kind, width, vision = config.embeddings, config.text_width, config.vision_width
    if kind == "visualbert":
        found = linear("projection", config.features, width)
        found["token_type_embeddings_visual.weight"] = (config.types, width)
        found["position_embeddings_visual.weight"] = (config.positions, width)
    elif kind == "vl-bert":
        found = linear("obj_downsample.1", 2 * config.features, vision)
        found |= norm("visual_ln_text", width) | norm("visual_ln_object", width)
        found["object_linguistic_embeddings.weight"] = (1, width)
        found["object_mask_visual_embedding.weight"] = (1, config.features)
        found["end_embedding.weight"] = (1, width)
        if config.masks_regions:
            found["object_mask_word_embedding.weight"] = (1, width)
    else:
        found = linear("image_embeddings", config.features, vision)
        found |= linear("image_location_embeddings", config.locations, vision)
        norms = {
            "vilbert": ("LayerNorm",),
            "lxmert": ("ImgLayerNorm", "LocLayerNorm"),
            "uniter": ("image_layer_norm", "image_location_layer_norm", "v_LayerNorm"),
        }
        for name in norms[kind]:
            found |= norm(name, vision)
    return _under("bert.v_embeddings." if kind in ("vilbert", "lxmert") else "bert.embeddings.", found)
