"""The arithmetic of VOLTA's models: embeddings of texts and regions, the gated encoder, the matching head."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vlgate.models.regions.volta.config import OUTPUT, SELF, Config, Side, Sublayer

if TYPE_CHECKING:
    import torch

    States = Mapping[Side, torch.Tensor]
    Streams = dict[Side, torch.Tensor]


# Bugliarello et al. (TACL 2021), section 4.1: in the attention sublayers, a stream attends to itself, to the other
# stream or to both. A stream that attends to both does so in one softmax; one without a part in it stays unchanged.


class Weights:
    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self.tensors = tensors

    def linear(self, name: str, states: torch.Tensor) -> torch.Tensor:
        import torch

        return torch.nn.functional.linear(states, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"])

    def norm(self, name: str, states: torch.Tensor, eps: float) -> torch.Tensor:
        import torch

        weight, bias = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        return torch.nn.functional.layer_norm(states, weight.shape, weight, bias, eps)

    def rows(self, name: str, numbers: torch.Tensor | int) -> torch.Tensor:
        return self.tensors[f"{name}.weight"][numbers]


def encode(config: Config, weights: Weights, states: States, seen: States) -> States:
    import torch

    masks: dict[Side, torch.Tensor] = {side: there[:, None, None, :] for side, there in seen.items()}
    for index, sublayer in enumerate(config.sublayers):
        at = f"bert.encoder.layer.{index}"
        one = sublayer.joined
        if one is None:
            states = {**states, **_run(config, weights, sublayer, at, states, masks)}
            continue
        # One matrix product over both streams takes a sixth less time than two (BERT's sizes, 2 CPU cores).
        both: States = {"text": torch.cat([states["text"], states["vision"]], dim=1)}
        mask: States = {"text": torch.cat([masks["text"], masks["vision"]], dim=-1)}
        whole, end = _run(config, weights, one, at, both, mask)["text"], states["text"].shape[1]
        states = {"text": whole[:, :end], "vision": whole[:, end:]}
    return states


def _run(config: Config, weights: Weights, sublayer: Sublayer, at: str, states: States, masks: States) -> States:
    import torch
    from torch.nn import functional

    def heads(part: str, side: Side) -> torch.Tensor:
        mapped = weights.linear(f"{at}.{SELF}.{sublayer.prefix(side)}{part}", states[side])
        return mapped.view(*mapped.shape[:2], sublayer.sides[side].heads, -1).transpose(1, 2)

    attending = sublayer.sides if sublayer.attends else ()
    keys, values = ({side: heads(part, side) for side in attending} for part in ("key", "value"))
    activations: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "gelu": functional.gelu, "relu": functional.relu, "swish": functional.silu
    }  # fmt: skip
    after: dict[Side, torch.Tensor] = {}
    for side, stream in sublayer.sides.items():
        prefix = sublayer.prefix(side)
        if sublayer.attends:
            key, value = (torch.cat([part[other] for other in stream.sees], dim=2) for part in (keys, values))
            mask = torch.cat([masks[other] for other in stream.sees], dim=-1)
            context = functional.scaled_dot_product_attention(heads("query", side), key, value, attn_mask=mask)
            inner, out = context.transpose(1, 2).flatten(2), f"{at}.{OUTPUT}.{prefix}"
        else:
            inner = weights.linear(f"{at}.intermediate.{prefix}dense", states[side])
            inner, out = activations[stream.activation](inner), f"{at}.output.{prefix}"
        added = weights.linear(f"{out}dense", inner) + states[side]
        after[side] = weights.norm(f"{out}LayerNorm", added, config.eps)
    return after


# Texts and regions are embedded in a different way for each of the five models (section 4.2); details that the paper
# leaves open are those of VOLTA's release.

_TEXT, _VISION = "bert.embeddings.", "bert.v_embeddings."


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    ids: torch.Tensor  # tokens of shape (n, length), padded on the right
    words: torch.Tensor  # False for padding, booleans of shape (n, length)
    features: torch.Tensor  # of shape (n, regions, d), in the model's precision
    locations: torch.Tensor  # the boxes, of shape (n, regions, 4 or 5), in float32
    regions: torch.Tensor  # False for padding, booleans of shape (n, regions)


Regions = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor"]


def with_overall(config: Config, features: torch.Tensor, boxes: torch.Tensor, there: torch.Tensor) -> Regions:
    """Return the locations of regions, whose boxes are in 0..1, and add their mean as a region for the whole image."""
    import torch

    area = (boxes[..., 2:3] - boxes[..., 0:1]) * (boxes[..., 3:4] - boxes[..., 1:2])
    locations = torch.cat([boxes, area], dim=-1)[..., : config.locations]
    if not config.overall:
        return features, locations, there
    mean = (features * there[..., None]).sum(dim=1, keepdim=True) / there.sum(dim=1)[:, None, None]
    whole = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0])[: config.locations].to(locations).expand(len(locations), 1, -1)

    def beside(tensor: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        return torch.cat([tensor, others] if config.overall == "first" else [others, tensor], dim=1)

    return beside(mean, features), beside(whole, locations), beside(torch.ones_like(there[:, :1]), there)


def embed(config: Config, weights: Weights, seen: Seen, task: int = 0) -> Streams:
    import torch

    ways: dict[str, Callable[..., Streams]] = {
        "vilbert": _two_streams, "lxmert": _two_streams, "uniter": _uniter, "vl-bert": _vl_bert,
        "visualbert": _visualbert,
    }  # fmt: skip
    places = torch.arange(seen.ids.shape[1], device=seen.ids.device)
    words = weights.rows(f"{_TEXT}word_embeddings", seen.ids) + weights.rows(f"{_TEXT}position_embeddings", places)
    words = words + weights.rows(f"{_TEXT}token_type_embeddings", 0)
    if config.task_tokens:
        token = weights.rows(f"{_TEXT}task_embeddings", task).expand(len(words), 1, -1)
        words = torch.cat([words[:, :1], token, words[:, 1:]], dim=1)
    return ways[config.embeddings](config, weights, seen, words)


def _two_streams(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    image = weights.linear(f"{_VISION}image_embeddings", seen.features)
    place = weights.linear(f"{_VISION}image_location_embeddings", seen.locations.to(image.dtype))
    if config.embeddings == "vilbert":
        vision = weights.norm(f"{_VISION}LayerNorm", image + place, config.eps)
    else:
        image, place = (
            weights.norm(f"{_VISION}{name}LayerNorm", part, config.eps)
            for name, part in (("Img", image), ("Loc", place))
        )
        vision = (image + place) / 2
    return {"text": weights.norm(f"{_TEXT}LayerNorm", words, config.eps), "vision": vision}


def _uniter(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    def normal(name: str, states: torch.Tensor) -> torch.Tensor:
        return weights.norm(_TEXT + name, states, config.eps)

    image = normal("image_layer_norm", weights.linear(f"{_TEXT}image_embeddings", seen.features))
    place = weights.linear(f"{_TEXT}image_location_embeddings", seen.locations.to(image.dtype))
    vision = image + normal("image_location_layer_norm", place) + weights.rows(f"{_TEXT}token_type_embeddings", 1)
    return {"text": normal("LayerNorm", words), "vision": normal("v_LayerNorm", vision)}


def _visualbert(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    # VisualBERT takes the features of regions, but not their locations.
    vision = weights.linear(f"{_TEXT}projection", seen.features)
    vision = vision + weights.rows(f"{_TEXT}position_embeddings_visual", 0)
    vision = vision + weights.rows(f"{_TEXT}token_type_embeddings_visual", 1)
    return _normal_together(config, weights, words, vision)


def _vl_bert(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    import torch

    # The last region ends the sequence and is added to every word, even if the mean comes first: VOLTA's module takes
    # the last region for the whole image, and the controlled VL-BERT was trained this way.
    masked = (seen.features == 0).all(dim=-1, keepdim=True)  # as in pretraining; a detector returns no such region
    features = torch.where(masked, weights.rows(f"{_TEXT}object_mask_visual_embedding", 0), seen.features)
    waves = _waves(seen.locations[..., :4], config.coordinates).to(features.dtype)
    regions = weights.linear(f"{_TEXT}obj_downsample.1", torch.cat([waves, features], dim=-1)).relu()

    places = torch.arange(regions.shape[1], device=regions.device)
    end = (seen.regions * places).amax(dim=1, keepdim=True)
    last = places == end
    beside = weights.norm(f"{_TEXT}visual_ln_text", regions.take_along_dim(end[..., None], dim=1), config.eps)
    named = weights.rows(f"{_TEXT}object_linguistic_embeddings", 0)
    if config.masks_regions:
        named = torch.where(masked, weights.rows(f"{_TEXT}object_mask_word_embedding", 0), named)
    named = torch.where(last[..., None], weights.rows(f"{_TEXT}end_embedding", 0), named)

    behind = seen.words.sum(dim=1, keepdim=True) + last  # the two positions after the text
    vision = named + weights.norm(f"{_TEXT}visual_ln_object", regions, config.eps)
    vision = vision + weights.rows(f"{_TEXT}position_embeddings", behind)
    vision = vision + weights.rows(f"{_TEXT}token_type_embeddings", 2)
    return _normal_together(config, weights, words + beside, vision)


def _normal_together(config: Config, weights: Weights, words: torch.Tensor, vision: torch.Tensor) -> Streams:
    text, vision = (weights.norm(f"{_TEXT}LayerNorm", part, config.eps) for part in (words, vision))
    return {"text": text, "vision": vision}


def _waves(boxes: torch.Tensor, dim: int) -> torch.Tensor:
    """Centre and size of boxes, in hundredths of the image, as sines and cosines of ``dim`` wavelengths."""
    import torch

    start, end = boxes[..., :2], boxes[..., 2:]
    numbers = 100 * torch.cat([(start + end) / 2, end - start], dim=-1)
    lengths = 1000 ** (torch.arange(dim, dtype=boxes.dtype, device=boxes.device) / dim)
    angles = numbers[..., None] / lengths
    return torch.cat([angles.sin(), angles.cos()], dim=-1).flatten(-2)


MATCH = 0  # the index of a match in ``cls.bi_seq_relationship``: the pretraining labels an image's own caption 0


def logits(config: Config, weights: Weights, seen: Seen, task: int = 0) -> torch.Tensor:
    import torch

    streams = embed(config, weights, seen, task)
    words = seen.words
    if config.task_tokens:
        words = torch.cat([torch.ones_like(words[:, :1]), words], dim=1)
    states = encode(config, weights, streams, {"text": words, "vision": seen.regions})
    pooled = weights.linear("bert.t_pooler.dense", states["text"][:, 0]).relu()
    if config.fusion != "text":
        other = weights.linear("bert.v_pooler.dense", states["vision"][:, 0]).relu()
        pooled = pooled * other if config.fusion == "mul" else pooled + other
    return weights.linear(config.head, pooled)
