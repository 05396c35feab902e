"""A detector's stages: backbone, region proposals (Ren et al., NeurIPS 2015), and the head that keeps boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from vlgate.models.regions.detector_network import Config
from vlgate.models.regions.regions import Regions

if TYPE_CHECKING:
    from torch import Tensor

_LARGEST = math.log(1000 / 16)  # the most that a box grows, as a logarithm: from 16 pixels to 1,000


def moved(boxes: Tensor, deltas: Tensor, weights: Sequence[float]) -> Tensor:
    """Move and scale n boxes by deltas, both of shape (n, 4) (Girshick et al., CVPR 2014, appendix C)."""
    import torch

    corner, size = boxes[:, :2], boxes[:, 2:] - boxes[:, :2]
    steps = deltas / deltas.new_tensor(weights)
    centre = corner + 0.5 * size + steps[:, :2] * size
    half = 0.5 * size * steps[:, 2:].clamp(max=_LARGEST).exp()
    return torch.cat((centre - half, centre + half), dim=1)


def clipped(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    height, width = size
    limits = boxes.new_tensor((width, height, width, height))
    return boxes.clamp(min=0).minimum(limits)


# The detector's backbone: the stem and res2 to res4 turn pixels into a feature map, for images of several sizes.
# A padded image gives the same features as the image alone: before each operation that mixes neighbouring positions,
# everything beyond the image's end is set to zero, as in the padding of a convolution.

Sizes = list[tuple[int, int]]  # the height and width of each image of a batch, at one stage of the network


def feature_map(backbone: Any, pixels: Tensor, sizes: Sizes, *, caffe: bool) -> tuple[Tensor, Sizes]:
    """Return the features of res4, about a 16th of the images' size, and the height and width of each within them."""
    from torch.nn.functional import max_pool2d

    left = _strided(sizes, 2)
    features = _cut(_convolved(backbone.stem.conv1, pixels).relu_(), left)
    features = max_pool2d(features, 3, 2, padding=0 if caffe else 1, ceil_mode=caffe)
    # In Caffe, the last window begins within the image.
    left = [(max(1, height // 2), max(1, width // 2)) for height, width in left] if caffe else _strided(left, 2)
    for stage in (backbone.res2, backbone.res3, backbone.res4):
        for block in stage:
            features, left = run_bottleneck(block, features, left)
    return _cut(features, left), left


def run_bottleneck(block: Any, features: Tensor, sizes: Sizes) -> tuple[Tensor, Sizes]:
    """Run one bottleneck; the result is not zero beyond an image's end. Without ``sizes``, no image is padded."""
    inner = _convolved(block.conv1, features).relu_()
    inside = _strided(sizes, block.conv1.stride[0])
    inner = _convolved(block.conv2, _cut(inner, inside)).relu_()
    around = _convolved(block.shortcut, features) if hasattr(block, "shortcut") else features
    return _convolved(block.conv3, inner).add_(around).relu_(), _strided(inside, block.conv2.stride[0])


def _convolved(convolution: Any, features: Tensor) -> Tensor:
    result: Tensor = convolution.norm(convolution(features))
    return result


def _cut(features: Tensor, sizes: Sizes) -> Tensor:
    for row, (height, width) in zip(features, sizes, strict=bool(sizes)):
        row[:, height:] = 0
        row[:, :, width:] = 0
    return features


def _strided(sizes: Sizes, stride: int) -> Sizes:
    # With a padding of half of the kernel, a stride of 2 leaves half of the positions, rounded up.
    return sizes if stride == 1 else [((height + 1) // 2, (width + 1) // 2) for height, width in sizes]


def proposals(generator: Any, config: Config, features: Tensor, places: Sizes, sizes: Sizes) -> list[Tensor]:
    """Return boxes that may hold an object, of shape (at most ``config.proposals_after``, 4), the likeliest first."""
    from torchvision.ops import nms

    head, cells = generator.rpn_head, generator.anchor_generator.cell_anchors[0]
    hidden = head.conv(features).relu_()
    scores, deltas = head.objectness_logits(hidden), head.anchor_deltas(hidden)
    best = []
    for index, (rows, columns) in enumerate(places):
        likely = scores[index, :, :rows, :columns].permute(1, 2, 0).reshape(-1).sort(descending=True, stable=True)
        order = likely.indices[: config.proposals_before]
        steps = deltas[index, :, :rows, :columns].reshape(-1, 4, rows, columns).permute(2, 3, 0, 1)
        grid = grid_anchors(cells, rows, columns, stride=config.stride, offset=config.anchor_offset)[order]
        boxes = clipped(moved(grid, steps.reshape(-1, 4)[order], config.rpn_weights), sizes[index])
        large = ((boxes[:, 2:] - boxes[:, :2]) > config.smallest).all(dim=1)
        boxes, values = boxes[large], likely.values[: config.proposals_before][large]
        best.append(boxes[nms(boxes, values, config.rpn_overlap)[: config.proposals_after]])
    return best


def grid_anchors(cells: Tensor, rows: int, columns: int, *, stride: int, offset: float) -> Tensor:
    """Repeat the anchors of one position over the map: shape (rows * columns * anchors, 4), ordered in this way."""
    import torch

    down, right = torch.meshgrid(
        (torch.arange(rows, device=cells.device) + offset) * stride,
        (torch.arange(columns, device=cells.device) + offset) * stride,
        indexing="ij",
    )
    steps = torch.stack((right, down, right, down), dim=-1).reshape(-1, 1, 4)
    return (steps + cells).reshape(-1, 4)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Predicted:
    features: Tensor  # of n boxes, shape (n, d)
    object_logits: Tensor
    attribute_logits: Tensor
    deltas: Tensor  # of shape (n, 4)


def predicted(heads: Any, config: Config, features: Tensor, boxes: Sequence[Tensor]) -> list[Predicted]:
    """Run the head on boxes, ``config.proposals_after`` of them (one image's) at a time to bound the memory."""
    import torch
    from torchvision.ops import roi_pool

    rows = torch.cat([torch.cat((some.new_full((len(some), 1), index), some), 1) for index, some in enumerate(boxes)])
    head, parts = heads.box_predictor, []
    for some in torch.split(rows, config.proposals_after):
        inner = roi_pool(features, some, config.pooled, 1 / config.stride)
        for block in heads.res5:
            inner = run_bottleneck(block, inner, [])[0]
        means = inner.mean(dim=(2, 3))
        objects = head.cls_score(means)
        # The attribute is predicted from the likeliest object, which may be the last: background.
        with_object = torch.cat((means, head.cls_embedding(objects.argmax(dim=1))), dim=1)
        deltas = head.bbox_pred(means).reshape(len(means), -1, 4)
        best = objects[:, :-1].argmax(dim=1)
        own = deltas[:, 0] if config.agnostic else deltas[torch.arange(len(deltas), device=deltas.device), best]
        parts.append((means, objects, head.attr_score(head.fc_attr(with_object).relu()), own))
    counts = [len(some) for some in boxes]
    joined = [torch.split(torch.cat(pieces), counts) for pieces in zip(*parts, strict=True)]
    return [
        Predicted(features=means, object_logits=objects, attribute_logits=attributes, deltas=deltas)
        for means, objects, attributes, deltas in zip(*joined, strict=True)
    ]


def kept(config: Config, head: Predicted, proposals: Tensor, size: tuple[int, int]) -> Regions | None:
    from torchvision.ops import nms

    # Each box is moved as its likeliest object says, and all boxes compete, whatever their objects: LXMERT's features
    # were made this way.
    scores, objects = head.object_logits.softmax(dim=1)[:, :-1].max(dim=1)
    boxes = clipped(moved(proposals, head.deltas, config.box_weights), size)
    for overlap in config.overlaps:
        best = nms(boxes, scores, overlap)[: config.detections]
        if len(best) == config.detections:
            break
    else:
        return None
    attribute_scores, attributes = head.attribute_logits[best, :-1].softmax(dim=1).max(dim=1)
    height, width = size
    fractions = boxes[best] / boxes.new_tensor((width, height, width, height))
    return Regions(
        features=np.ascontiguousarray(head.features[best].cpu().numpy(), dtype=np.float32),
        boxes=np.ascontiguousarray(fractions.cpu().numpy(), dtype=np.float32),
        objects=objects[best].cpu().numpy().astype(np.int64),
        object_scores=scores[best].cpu().numpy().astype(np.float32),
        attributes=attributes.cpu().numpy().astype(np.int64),
        attribute_scores=attribute_scores.cpu().numpy().astype(np.float32),
    )
