"""The names of a model's weights in VOLTA's checkpoints, and their shapes."""

from __future__ import annotations

from collections.abc import Mapping

from vlgate.models.volta.config import ALIGNMENT, Config
from vlgate.models.volta.sublayers import Sublayer

Shape = tuple[int, ...]
SELF, OUTPUT = "attention_self", "attention_output"
# Heads of the pretraining and of other tasks, which matching does not use.
UNUSED = ("cls.predictions.", "cls.imagePredictions.", "clfs_dict.", ALIGNMENT + ".", "vil_", "vision_logit.",
          "linguisic_logit.")  # fmt: skip
ANSWERS = "cls.qaPredictions."
"""A head of the converted original LXMERT, which none of VOLTA's own models has."""


def shapes(config: Config) -> dict[str, Shape]:
    """Return the shapes of all weights that matching uses; a weight that streams share is listed once, as the text's.

    >>> from vlgate.models.volta.config import parse
    >>> from vlgate.models.volta.published import published
    >>> shapes(parse(published("lxmert"), ""))["bert.encoder.layer.18.attention_self.query.weight"]
    (768, 768)
    """
    found = _embeddings(config) | _pooling(config)
    for place, sublayer in enumerate(config.sublayers):
        for name, shape in _sublayer(sublayer).items():
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
        for name in _sublayer(sublayer)
    }
    if config.embeddings == "uniter":
        types = "token_type_embeddings.weight"
        found[f"bert.embeddings.image_{types}"] = f"bert.embeddings.{types}"
    return found


def _second(name: str) -> str:
    """``attention_self.query.weight`` -> ``attention_self.v_query.weight``."""
    part, _, rest = name.partition(".")
    return f"{part}.v_{rest}"


def _sublayer(sublayer: Sublayer) -> dict[str, Shape]:
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
    """Return the shapes of a linear map's two weights."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm(name: str, width: int) -> dict[str, Shape]:
    """Return the shapes of a layer norm's two weights."""
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
    own = {
        "vilbert": _of_vilbert, "lxmert": _of_lxmert, "uniter": _of_uniter, "vl-bert": _of_vl_bert,
        "visualbert": _of_visualbert,
    }[config.embeddings](config)  # fmt: skip
    return _under("bert.embeddings.", text | norm("LayerNorm", width)) | own


def _regions(config: Config) -> dict[str, Shape]:
    return linear("image_embeddings", config.features, config.vision_width) | linear(
        "image_location_embeddings", config.locations, config.vision_width
    )


def _of_vilbert(config: Config) -> dict[str, Shape]:
    return _under("bert.v_embeddings.", _regions(config) | norm("LayerNorm", config.vision_width))


def _of_lxmert(config: Config) -> dict[str, Shape]:
    norms = norm("ImgLayerNorm", config.vision_width) | norm("LocLayerNorm", config.vision_width)
    return _under("bert.v_embeddings.", _regions(config) | norms)


def _of_uniter(config: Config) -> dict[str, Shape]:
    found = _regions(config)
    for name in ("image_layer_norm", "image_location_layer_norm", "v_LayerNorm"):
        found |= norm(name, config.vision_width)
    return _under("bert.embeddings.", found)


def _of_visualbert(config: Config) -> dict[str, Shape]:
    found = linear("projection", config.features, config.text_width)
    found["token_type_embeddings_visual.weight"] = (config.types, config.text_width)
    found["position_embeddings_visual.weight"] = (config.positions, config.text_width)
    return _under("bert.embeddings.", found)


def _of_vl_bert(config: Config) -> dict[str, Shape]:
    width = config.text_width
    found = linear("obj_downsample.1", 2 * config.features, config.vision_width)
    found |= norm("visual_ln_text", width) | norm("visual_ln_object", width)
    found["object_linguistic_embeddings.weight"] = (1, width)
    found["object_mask_visual_embedding.weight"] = (1, config.features)
    found["end_embedding.weight"] = (1, width)
    if config.masks_regions:
        found["object_mask_word_embedding.weight"] = (1, width)
    return _under("bert.embeddings.", found)
