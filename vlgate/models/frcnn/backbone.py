"""From pixels to a map of features: the stem and res2 to res4, over pictures of several sizes at once.

A padded picture gives what it gives alone: wherever places are mixed, those beyond its own end are zero, as the
padding of a convolution is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

Sizes = list[tuple[int, int]]
"""The height and width of each picture of a batch, at some stage of the network."""


def feature_map(
    backbone: Any, pixels: Tensor, sizes: Sequence[tuple[int, int]], *, caffe: bool
) -> tuple[Tensor, Sizes]:
    """Run the stem and res2 to res4.

    Args:
        backbone: the part of that name of ``network.network``.
        pixels: shape (n, 3, height, width), zero beyond each picture's end.
        sizes: n times height and width.
        caffe: whether the maximum in the stem is taken without padding, and the last window may reach over the end.

    Returns: features of shape (n, channels, about height / 16, about width / 16), zero beyond each picture's end, and
        n times the height and width within them.
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
    """Run one bottleneck; no sizes mean that nothing is padded.

    The result holds numbers beyond a picture's end, which the next convolution must not see.
    """
    inner = convolved(block.conv1, features).relu_()
    inside = _strided(sizes, block.conv1.stride[0])
    inner = convolved(block.conv2, _cut(inner, inside)).relu_()
    around = convolved(block.shortcut, features) if hasattr(block, "shortcut") else features
    return convolved(block.conv3, inner).add_(around).relu_(), _strided(inside, block.conv2.stride[0])


def convolved(convolution: Any, features: Tensor) -> Tensor:
    """Run a convolution and the normalisation that it carries."""
    result: Tensor = convolution.norm(convolution(features))
    return result


def _cut(features: Tensor, sizes: Sizes) -> Tensor:
    """Set to zero, in place, what lies beyond each picture's end."""
    for one, (height, width) in zip(features, sizes, strict=bool(sizes)):
        one[:, height:] = 0
        one[:, :, width:] = 0
    return features


def _strided(sizes: Sizes, stride: int) -> Sizes:
    return sizes if stride == 1 else [(_halved(height), _halved(width)) for height, width in sizes]


def _halved(length: int) -> int:
    """What a stride of 2 leaves of a length, where the padding is half of the kernel."""
    return (length + 1) // 2


def _pooled(length: int, *, caffe: bool) -> int:
    """What the maximum over 3, with a stride of 2, leaves: in Caffe the last window begins within the length."""
    return max(1, length // 2) if caffe else _halved(length)
