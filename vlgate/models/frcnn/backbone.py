"""The detector's backbone: the stem and res2 to res4 turn pixels into a feature map, for images of several sizes.

A padded image gives the same features as the image alone: before each operation that mixes neighbouring positions,
everything beyond the image's end is set to zero, as in the padding of a convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Sizes = list[tuple[int, int]]
"""The height and width of each image of a batch, at one stage of the network."""


def feature_map(
    backbone: Any, pixels: Tensor, sizes: Sequence[tuple[int, int]], *, caffe: bool
) -> tuple[Tensor, Sizes]:
    """Run the stem and res2 to res4.

    Args:
        backbone: the submodule of that name of ``network.network``.
        pixels: shape (n, 3, height, width), zero beyond each image's end.
        sizes: n pairs of height and width.
        caffe: whether the stem's max pooling has no padding, and its last window may extend beyond the end.

    Returns: features of shape (n, channels, about height / 16, about width / 16), zero beyond each image's end, and
        the n pairs of height and width within the map.
    """
    from torch.nn.functional import max_pool2d

    left = [(_halved(height), _halved(width)) for height, width in sizes]
    features = _cut(convolved(backbone.stem.conv1, pixels).relu_(), left)
    features = max_pool2d(features, 3, 2, padding=0 if caffe else 1, ceil_mode=caffe)
    left = [(_pooled(height, caffe=caffe), _pooled(width, caffe=caffe)) for height, width in left]
    for stage in (backbone.res2, backbone.res3, backbone.res4):
        for block in stage:
            features, left = run_bottleneck(block, features, left)
    return _cut(features, left), left


def run_bottleneck(block: Any, features: Tensor, sizes: Sizes) -> tuple[Tensor, Sizes]:
    """Run one bottleneck; empty ``sizes`` mean that no image is padded.

    The result is not zero beyond an image's end; set it to zero before the next convolution.
    """
    inner = convolved(block.conv1, features).relu_()
    inside = _strided(sizes, block.conv1.stride[0])
    inner = convolved(block.conv2, _cut(inner, inside)).relu_()
    around = convolved(block.shortcut, features) if hasattr(block, "shortcut") else features
    return convolved(block.conv3, inner).add_(around).relu_(), _strided(inside, block.conv2.stride[0])


def convolved(convolution: Any, features: Tensor) -> Tensor:
    """Run a convolution and then its normalisation."""
    result: Tensor = convolution.norm(convolution(features))
    return result


def _cut(features: Tensor, sizes: Sizes) -> Tensor:
    """Set the features beyond each image's end to zero, in place."""
    for one, (height, width) in zip(features, sizes, strict=bool(sizes)):
        one[:, height:] = 0
        one[:, :, width:] = 0
    return features


def _strided(sizes: Sizes, stride: int) -> Sizes:
    return sizes if stride == 1 else [(_halved(height), _halved(width)) for height, width in sizes]


def _halved(length: int) -> int:
    """The length after a stride of 2, if the padding is half of the kernel."""
    return (length + 1) // 2


def _pooled(length: int, *, caffe: bool) -> int:
    """The length after max pooling over 3 with a stride of 2; in Caffe the last window begins within the length."""
    return max(1, length // 2) if caffe else _halved(length)
