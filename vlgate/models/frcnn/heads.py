"""The detector's head: the features, object and attribute of each box, and which boxes are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vlgate.models.frcnn.backbone import run_bottleneck
from vlgate.models.frcnn.boxes import clipped, moved
from vlgate.models.frcnn.config import Config

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """The boxes that are kept in one image, the most certain first.

    ``boxes`` has shape (n, 4), in pixels of the resized image, ``features`` shape (n, d), and the others shape (n,):
    indices into the detector's vocabulary, and probabilities.
    """

    boxes: Tensor
    features: Tensor
    objects: Tensor
    object_scores: Tensor
    attributes: Tensor
    attribute_scores: Tensor


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicted:
    """The head's output for n boxes: features (n, d), logits of objects and attributes, and deltas (n, 4)."""

    features: Tensor
    object_logits: Tensor
    attribute_logits: Tensor
    deltas: Tensor


def predicted(heads: Any, config: Config, features: Tensor, boxes: Sequence[Tensor]) -> list[Predicted]:
    """Run the head on boxes, ``config.proposals_after`` of them (one image's) at a time to bound the memory.

    Args:
        heads: the submodule ``roi_heads`` of ``network.network``.
        config: the detector's configuration.
        features: the feature map, shape (n, channels, rows, columns).
        boxes: n arrays of shape (any, 4), in pixels.

    Returns: one record per image.
    """
    import torch
    from torchvision.ops import roi_pool

    rows = torch.cat([torch.cat((one.new_full((len(one), 1), place), one), 1) for place, one in enumerate(boxes)])
    parts = []
    for some in torch.split(rows, config.proposals_after):
        inner = roi_pool(features, some, config.pooled, 1 / config.stride)
        for block in heads.res5:
            inner = run_bottleneck(block, inner, [])[0]
        parts.append(_said(heads.box_predictor, config, inner.mean(dim=(2, 3))))
    counts = [len(one) for one in boxes]
    joined = [torch.split(torch.cat(pieces), counts) for pieces in zip(*parts, strict=True)]
    return [
        Predicted(features=one, object_logits=objects, attribute_logits=attributes, deltas=deltas)
        for one, objects, attributes, deltas in zip(*joined, strict=True)
    ]


def _said(predictor: Any, config: Config, features: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    import torch

    objects = predictor.cls_score(features)
    # The attribute is predicted from the likeliest object, which may be the last: background.
    with_object = torch.cat((features, predictor.cls_embedding(objects.argmax(dim=1))), dim=1)
    attributes = predictor.attr_score(predictor.fc_attr(with_object).relu())
    deltas = predictor.bbox_pred(features).reshape(len(features), -1, 4)
    best = objects[:, :-1].argmax(dim=1)
    own = deltas[:, 0] if config.agnostic else deltas[torch.arange(len(deltas), device=deltas.device), best]
    return features, objects, attributes, own


def kept(config: Config, said: Predicted, proposals: Tensor, size: tuple[int, int]) -> Found | None:
    """Keep the most certain boxes that do not overlap too much.

    Each box is moved as its likeliest object says, and all boxes compete, whatever their objects: LXMERT's features
    were made this way. The overlaps of ``config`` are tried in order until enough boxes are left.

    Returns: the boxes; None if even the last overlap leaves fewer than ``config.detections``.
    """
    from torchvision.ops import nms

    scores, objects = said.object_logits.softmax(dim=1)[:, :-1].max(dim=1)
    boxes = clipped(moved(proposals, said.deltas, config.box_weights), size)
    for overlap in config.overlaps:
        best = nms(boxes, scores, overlap)[: config.detections]
        if len(best) == config.detections:
            break
    else:
        return None
    attribute_scores, attributes = said.attribute_logits[best, :-1].softmax(dim=1).max(dim=1)
    return Found(
        boxes=boxes[best],
        features=said.features[best],
        objects=objects[best],
        object_scores=scores[best],
        attributes=attributes,
        attribute_scores=attribute_scores,
    )
