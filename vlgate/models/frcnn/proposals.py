"""The region proposal network, which proposes boxes that may hold an object (Ren et al., NeurIPS 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vlgate.models.frcnn.boxes import clipped, moved
from vlgate.models.frcnn.config import Config

if TYPE_CHECKING:
    from torch import Tensor


def proposals(
    generator: Any,
    config: Config,
    features: Tensor,
    places: Sequence[tuple[int, int]],
    sizes: Sequence[tuple[int, int]],
) -> list[Tensor]:
    """Propose boxes.

    Args:
        generator: the submodule ``proposal_generator`` of ``network.network``.
        config: the detector's configuration.
        features: shape (n, channels, rows, columns), zero beyond each image's end.
        places: n pairs of rows and columns that belong to the image.
        sizes: n pairs of the image's height and width, in pixels.

    Returns: n arrays of boxes of shape (at most ``config.proposals_after``, 4), the likeliest first.
    """
    head = generator.rpn_head
    hidden = head.conv(features).relu_()
    scores, deltas = head.objectness_logits(hidden), head.anchor_deltas(hidden)
    cells = generator.anchor_generator.cell_anchors[0]
    return [
        _best(config, scores[place, :, :rows, :columns], deltas[place, :, :rows, :columns], cells, sizes[place])
        for place, (rows, columns) in enumerate(places)
    ]


def grid_anchors(cells: Tensor, rows: int, columns: int, *, stride: int, offset: float) -> Tensor:
    """Repeat the anchors of one position at every position of the feature map.

    Returns: boxes of shape (rows * columns * anchors, 4), ordered by rows, then columns, then anchors.
    """
    import torch

    down, right = torch.meshgrid(
        (torch.arange(rows, device=cells.device) + offset) * stride,
        (torch.arange(columns, device=cells.device) + offset) * stride,
        indexing="ij",
    )
    steps = torch.stack((right, down, right, down), dim=-1).reshape(-1, 1, 4)
    return (steps + cells).reshape(-1, 4)


def _best(config: Config, scores: Tensor, deltas: Tensor, cells: Tensor, size: tuple[int, int]) -> Tensor:
    from torchvision.ops import nms

    anchors, rows, columns = scores.shape
    likely = scores.permute(1, 2, 0).reshape(-1).sort(descending=True, stable=True)
    order = likely.indices[: config.proposals_before]
    steps = deltas.reshape(anchors, 4, rows, columns).permute(2, 3, 0, 1).reshape(-1, 4)[order]
    grid = grid_anchors(cells, rows, columns, stride=config.stride, offset=config.anchor_offset)[order]
    boxes = clipped(moved(grid, steps, config.rpn_weights), size)
    large = ((boxes[:, 2:] - boxes[:, :2]) > config.smallest).all(dim=1)
    boxes, values = boxes[large], likely.values[: config.proposals_before][large]
    return boxes[nms(boxes, values, config.rpn_overlap)[: config.proposals_after]]
