"""Pipelines with one planted bug each, around a model that is intact, and a matcher that needs no training."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from PIL import Image, ImageOps
from torchvision.transforms import functional as F  # noqa: N812

from vlgate.models.regions import region_network
from vlgate.models.regions.region_network import features_of
from vlgate.probes.controls.canaries import CANARIES, drawn
from vlgate.types import FloatArray, LazyImage, Match

Change = Callable[[Image.Image], Image.Image]
Many = Callable[[Sequence[LazyImage]], Sequence[LazyImage]]
CLIP = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)  # mean and deviation
_SAID = re.compile(r"(?:There is a|a photo of a|^)\s*(\w+) (\w+)\.?$")


class Remembering:
    """Scores a text by how near the picture is to the thing that it names, as it remembers how each thing looks."""

    aspect = "stretched"

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        seen = {image: _small(image.load()) for image in dict.fromkeys(pair.image for pair in pairs)}
        return np.array([-float(np.abs(seen[pair.image] - _remembered(pair.text)).mean()) for pair in pairs])


@lru_cache(maxsize=5000)
def _remembered(text: str) -> FloatArray:
    """The thing that a text names; another wording is taken for any of them."""
    named, other = _SAID.search(text), CANARIES[crc32(text.encode()) % len(CANARIES)]
    return _small(Image.fromarray(drawn(named[2], named[1]) if named else drawn(other.kind, other.colour)))


def _small(image: Image.Image) -> FloatArray:
    return np.asarray(image.resize((32, 32), Image.Resampling.BOX), dtype=np.float64) / 127.5 - 1


def spoilt(intact: Any, images: Many = list, text: Callable[[str], str] = str, **how: Any) -> Any:
    """A model that gets its images and texts through functions; its aspect is that of the intact one if not given."""

    def match(pairs: Sequence[Match]) -> Any:
        shown = images([pair.image for pair in pairs])
        return intact.match([Match(image=i, text=text(pair.text)) for i, pair in zip(shown, pairs, strict=True)])

    encoders = {
        "encode_images": lambda shown: intact.encode_images(images(shown)),
        "encode_texts": lambda texts: intact.encode_texts([text(one) for one in texts]),
    }
    methods = {"match": match} if hasattr(intact, "match") else encoders
    made = {"aspect": getattr(intact, "aspect", None), **{name: staticmethod(one) for name, one in methods.items()}}
    return type("Spoilt", (), {**made, **how})()


def each(change: Change) -> Many:
    return lambda images: [_changed(image, partial(_through, change, image.load)) for image in images]


def _through(change: Change, load: Callable[[], Image.Image]) -> Image.Image:
    return change(load())


def _changed(image: LazyImage, load: Callable[[], Image.Image]) -> LazyImage:
    return replace(image, load=load, key=f"{image.key}|spoilt")


def opened(change: Change) -> Many:
    """Open the file by itself, as many pipelines do, and make an RGB image of it in another way."""

    def reopened(image: LazyImage) -> LazyImage:
        return _changed(image, partial(_through, change, partial(Image.open, image.where)))

    return lambda images: list(map(reopened, images))


def on(image: Image.Image, colour: str) -> Image.Image:
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, colour), layer).convert("RGB")


def grey(image: Image.Image) -> Image.Image:
    return Image.new("RGB", image.size, (128, 128, 128))


def _swap_channels(image: Image.Image) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(np.asarray(image)[..., ::-1]))


def _nearest(image: Image.Image, side: int = 112) -> Image.Image:
    return image.resize((side, side * image.height // image.width), Image.Resampling.NEAREST)


def _to_square(image: Image.Image) -> Image.Image:
    return image.resize((min(image.size),) * 2, Image.Resampling.BICUBIC)


def _first_replies() -> Many:
    seen: dict[str, Image.Image] = {}

    def load(image: LazyImage) -> Image.Image:
        if image.where not in seen:
            seen[image.where] = image.load()
        return seen[image.where]

    return lambda images: [_changed(image, partial(load, image)) for image in images]


PLANTED: dict[str, Callable[[], dict[str, Any]]] = {
    "BGR for RGB": lambda: {"images": each(_swap_channels)},
    "alpha on black": lambda: {"images": opened(lambda image: on(ImageOps.exif_transpose(image), "black"))},
    "EXIF ignored": lambda: {"images": opened(lambda image: on(image, "white"))},
    "wrong resize filter": lambda: {"images": each(_nearest)},
    "stretched aspect": lambda: {"images": each(_to_square)},
    "truncated text": lambda: {"text": lambda text: " ".join(text.split()[:8])},
    "wrong template": lambda: {"text": "Does this picture show: {} Answer yes or no.".format},
    "stale cache": lambda: {"images": _first_replies()},
    "image order swapped": lambda: {"images": lambda images: list(images)[::-1]},
    "wrong image": lambda: {"images": lambda images: [images[0]] * len(images)},
    "lost image": lambda: {"images": each(grey)},
}
"""What spoils a pipeline, by the name of the bug; "wrong mean" is planted inside the models by ``wrong_mean``."""


@contextmanager
def planted(intact: Any, bug: str) -> Iterator[Any]:
    """Yield a model of the package with a bug, "wrong mean" or one of ``PLANTED``; "none" is none."""
    if bug == "wrong mean":
        with wrong_mean(intact):
            yield intact
        return
    how = PLANTED[bug]() if bug in PLANTED else {}
    if bug == "stretched aspect":
        how["aspect"] = "kept" if intact.aspect == "kept" else "padded"  # what the pipeline around it should do
    yield spoilt(intact, **how) if how else intact


@contextmanager
def wrong_mean(intact: Any, mean: Sequence[float] = CLIP[0], deviation: Sequence[float] = CLIP[1]) -> Iterator[None]:
    """Normalise pixels wrongly inside a model of the package: twice in LXMERT, with another mean in the other."""
    with pytest.MonkeyPatch.context() as patch:
        if hasattr(intact, "match"):
            twice = lambda net, crops, places: features_of(net, 2 * crops - 1, places)  # noqa: E731
            patch.setattr(region_network, "features_of", twice)
            patch.setattr(intact._inputs.source, "_seen", OrderedDict())
        else:
            prepare = intact._prepare
            patch.setattr(intact, "_prepare", lambda image: F.normalize(prepare(image) / 2 + 0.5, mean, deviation))
        yield
