"""Pipelines with one planted bug each, around a model that is intact."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageOps
from torchvision.transforms import functional as F  # noqa: N812
from transformers.image_utils import OPENAI_CLIP_MEAN, OPENAI_CLIP_STD

from vlgate.models.regions import region_network
from vlgate.models.regions.region_network import features_of
from vlgate.types import FloatArray, LazyImage, Match

Change = Callable[[Image.Image], Image.Image]
Many = Callable[[Sequence[LazyImage]], Sequence[LazyImage]]


@dataclass(frozen=True, kw_only=True)
class Spoilt:
    """A model that gets its images and texts through functions that spoil them."""

    model: Any
    images: Many = list
    text: Callable[[str], str] = str
    aspect: str | None = None


class SpoiltMatcher(Spoilt):
    def match(self, pairs: Sequence[Match]) -> FloatArray:
        images = self.images([pair.image for pair in pairs])
        spoilt = [Match(image=i, text=self.text(pair.text)) for i, pair in zip(images, pairs, strict=True)]
        return self.model.match(spoilt)


class SpoiltEncoder(Spoilt):
    def encode_images(self, images: Sequence[LazyImage]) -> FloatArray:
        return self.model.encode_images(self.images(images))

    def encode_texts(self, texts: Sequence[str]) -> FloatArray:
        return self.model.encode_texts([self.text(text) for text in texts])


def spoilt(model: Any, **how: Any) -> Spoilt:
    """Wrap a matcher or a dual encoder; it sees images in the same aspect as the model unless ``aspect`` is given."""
    kind = SpoiltMatcher if hasattr(model, "match") else SpoiltEncoder
    return kind(model=model, **{"aspect": getattr(model, "aspect", None), **how})


def each(change: Change) -> Many:
    return lambda images: [_changed(image, lambda image=image: change(image.load())) for image in images]


def _changed(image: LazyImage, load: Callable[[], Image.Image]) -> LazyImage:
    return replace(image, load=load, key=f"{image.key}|spoilt")


def opened(change: Change) -> Many:
    """Open the file by itself, as many pipelines do, and make an RGB image of it in another way."""
    return lambda images: [_changed(image, lambda image=image: change(Image.open(image.where))) for image in images]


def swap_channels(image: Image.Image) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(np.asarray(image)[..., ::-1]))


def on_black(image: Image.Image) -> Image.Image:
    return on(ImageOps.exif_transpose(image), "black")


def on(image: Image.Image, colour: str) -> Image.Image:
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, colour), layer).convert("RGB")


def nearest(image: Image.Image, side: int = 112) -> Image.Image:
    return image.resize((side, side * image.height // image.width), Image.Resampling.NEAREST)


def to_square(image: Image.Image) -> Image.Image:
    side = min(image.size)
    return image.resize((side, side), Image.Resampling.BICUBIC)


class FirstReply:
    def __init__(self) -> None:
        self._seen: dict[str, Image.Image] = {}

    def __call__(self, images: Sequence[LazyImage]) -> list[LazyImage]:
        return [_changed(image, partial(self._load, image)) for image in images]

    def _load(self, image: LazyImage) -> Image.Image:
        if image.where not in self._seen:
            self._seen[image.where] = image.load()
        return self._seen[image.where]


def _reversed(images: Sequence[LazyImage]) -> list[LazyImage]:
    return list(images)[::-1]


def _first(images: Sequence[LazyImage]) -> list[LazyImage]:
    return [images[0]] * len(images)


def grey(image: Image.Image) -> Image.Image:
    return Image.new("RGB", image.size, (128, 128, 128))


def _cut(text: str, words: int = 8) -> str:
    return " ".join(text.split()[:words])


PLANTED: dict[str, Callable[[], dict[str, Any]]] = {
    "BGR for RGB": lambda: {"images": each(swap_channels)},
    "alpha on black": lambda: {"images": opened(on_black)},
    "EXIF ignored": lambda: {"images": opened(lambda image: on(image, "white"))},
    "wrong resize filter": lambda: {"images": each(nearest)},
    "stretched aspect": lambda: {"images": each(to_square)},
    "truncated text": lambda: {"text": _cut},
    "wrong template": lambda: {"text": "Does this picture show: {} Answer yes or no.".format},
    "stale cache": lambda: {"images": FirstReply()},
    "image order swapped": lambda: {"images": _reversed},
    "wrong image": lambda: {"images": _first},
    "lost image": lambda: {"images": each(grey)},
}
"""What spoils a pipeline, by the name of the bug; "wrong mean" is planted inside the models by ``wrong_mean``."""


@contextmanager
def planted(model: Any, bug: str) -> Iterator[Any]:
    """Yield a model of the package with a bug, "wrong mean" or one of ``PLANTED``; "none" is none."""
    if bug == "wrong mean":
        with wrong_mean(model):
            yield model
        return
    how = PLANTED[bug]() if bug in PLANTED else {}
    if bug == "stretched aspect":
        how["aspect"] = "kept" if model.aspect == "kept" else "padded"  # what the pipeline around it should do
    yield spoilt(model, **how) if how else model


@contextmanager
def wrong_mean(
    model: Any, mean: Sequence[float] = OPENAI_CLIP_MEAN, deviation: Sequence[float] = OPENAI_CLIP_STD
) -> Iterator[None]:
    """Normalise pixels wrongly inside a model of the package: twice in LXMERT, with another mean in the other."""
    with pytest.MonkeyPatch.context() as patch:
        if hasattr(model, "match"):
            patch.setattr(
                region_network, "features_of", lambda net, crops, places: features_of(net, 2 * crops - 1, places)
            )
            patch.setattr(model._inputs.source, "_seen", OrderedDict())
        else:
            prepare = model._prepare
            patch.setattr(model, "_prepare", lambda image: F.normalize(prepare(image) / 2 + 0.5, mean, deviation))
        yield
