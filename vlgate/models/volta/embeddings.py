"""Embeds texts and regions for the encoder, in a different way for each of the five models.

Bugliarello et al. (TACL 2021), section 4.2; details that the paper leaves open are those of VOLTA's release.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vlgate.models.volta.config import Config
from vlgate.models.volta.encoder import Weights
from vlgate.models.volta.sublayers import Side

if TYPE_CHECKING:
    import torch

    Streams = dict[Side, torch.Tensor]

_TEXT, _VISION = "bert.embeddings.", "bert.v_embeddings."


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """n texts with n images.

    ``ids`` are tokens of shape (n, length), padded on the right. ``features`` are those of the regions, of shape
    (n, regions, d) in the model's precision, and ``locations`` their boxes, of shape (n, regions, 4 or 5) in float32.
    ``words`` and ``regions`` are False for padding; they are booleans of shape (n, length) and (n, regions).
    """

    ids: torch.Tensor
    words: torch.Tensor
    features: torch.Tensor
    locations: torch.Tensor
    regions: torch.Tensor


Regions = tuple["torch.Tensor", "torch.Tensor", "torch.Tensor"]


def with_overall(config: Config, features: torch.Tensor, boxes: torch.Tensor, there: torch.Tensor) -> Regions:
    """Return the locations of regions, and add their mean as a region that represents the whole image.

    Args:
        config: the model's configuration.
        features: shape (n, regions, d).
        boxes: x1, y1, x2, y2 in 0..1, shape (n, regions, 4).
        there: False for padding, booleans of shape (n, regions).

    Returns: features, locations and ``there``, with one region more if the model takes the mean. A location is the box
        and, if the model takes five numbers, its share of the image's area.
    """
    import torch

    area = (boxes[..., 2:3] - boxes[..., 0:1]) * (boxes[..., 3:4] - boxes[..., 1:2])
    locations = torch.cat([boxes, area], dim=-1)[..., : config.locations]
    if not config.overall:
        return features, locations, there
    mean = (features * there[..., None]).sum(dim=1, keepdim=True) / there.sum(dim=1)[:, None, None]
    whole = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0])[: config.locations].to(locations).expand(len(locations), 1, -1)

    def beside(one: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        """Put the overall region first or last."""
        return torch.cat([one, others] if config.overall == "first" else [others, one], dim=1)

    return beside(mean, features), beside(whole, locations), beside(torch.ones_like(there[:, :1]), there)


def embed(config: Config, weights: Weights, seen: Seen, task: int = 0) -> Streams:
    """Embed texts and regions.

    Args:
        config: the model's configuration.
        weights: the model's weights.
        seen: n texts with n images.
        task: the task of a model with task tokens; its token is inserted after the first token of each text.

    Returns: a text stream of shape (n, tokens, width) and a vision stream of shape (n, regions, width).
    """
    ways: dict[str, Callable[..., Streams]] = {
        "vilbert": _two_streams, "lxmert": _two_streams, "uniter": _uniter, "vl-bert": _vl_bert,
        "visualbert": _visualbert,
    }  # fmt: skip
    return ways[config.embeddings](config, weights, seen, _words(config, weights, seen, task))


def _words(config: Config, weights: Weights, seen: Seen, task: int) -> torch.Tensor:
    """The sum of the embeddings of tokens, positions and types, before the layer norm."""
    import torch

    places = torch.arange(seen.ids.shape[1], device=seen.ids.device)
    words = weights.rows(f"{_TEXT}word_embeddings", seen.ids) + weights.rows(f"{_TEXT}position_embeddings", places)
    words = words + weights.rows(f"{_TEXT}token_type_embeddings", 0)
    if not config.task_tokens:
        return words
    told = weights.rows(f"{_TEXT}task_embeddings", task).expand(len(words), 1, -1)
    return torch.cat([words[:, :1], told, words[:, 1:]], dim=1)


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
        """Apply the layer norm of that name."""
        return weights.norm(_TEXT + name, states, config.eps)

    image = normal("image_layer_norm", weights.linear(f"{_TEXT}image_embeddings", seen.features))
    place = weights.linear(f"{_TEXT}image_location_embeddings", seen.locations.to(image.dtype))
    vision = image + normal("image_location_layer_norm", place) + weights.rows(f"{_TEXT}token_type_embeddings", 1)
    return {"text": normal("LayerNorm", words), "vision": normal("v_LayerNorm", vision)}


def _visualbert(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    """VisualBERT takes the features of regions, but not their locations."""
    vision = weights.linear(f"{_TEXT}projection", seen.features)
    vision = vision + weights.rows(f"{_TEXT}position_embeddings_visual", 0)
    vision = vision + weights.rows(f"{_TEXT}token_type_embeddings_visual", 1)
    return _normal_together(config, weights, words, vision)


def _vl_bert(config: Config, weights: Weights, seen: Seen, words: torch.Tensor) -> Streams:
    """The last region ends the sequence and is added to every word, even if the mean comes first.

    The controlled VL-BERT was trained this way: VOLTA's module takes the last region for the whole image.
    """
    import torch

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
    """Centre and size of boxes, in hundredths of the image, as sines and cosines of ``dim`` wavelengths.

    Args:
        boxes: x1, y1, x2, y2 in 0..1, shape (n, regions, 4).
        dim: the number of wavelengths, which go from 1 to nearly 1,000.

    Returns: shape (n, regions, 8 dim).
    """
    import torch

    start, end = boxes[..., :2], boxes[..., 2:]
    numbers = 100 * torch.cat([(start + end) / 2, end - start], dim=-1)
    lengths = 1000 ** (torch.arange(dim, dtype=boxes.dtype, device=boxes.device) / dim)
    angles = numbers[..., None] / lengths
    return torch.cat([angles.sin(), angles.cos()], dim=-1).flatten(-2)
