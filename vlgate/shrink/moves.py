"""The changes that a search can make: moves, grouped in directions from the weakest to the strongest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from vlgate.fixtures.scenes.draw import Drawing
from vlgate.perturb.images.gaussian import gaussian_blur
from vlgate.perturb.images.pixels import Pixels
from vlgate.perturb.images.strengths import compress, crop_margin, scale_brightness, scale_contrast, turn
from vlgate.shrink.families import Family
from vlgate.shrink.texts import Text, text_of
from vlgate.shrink.truth import graph_of
from vlgate.types import Ask, Case, LazyImage, Match, Read, Request

if TYPE_CHECKING:
    from PIL.Image import Image

    from vlgate.fixtures.scenes.graph import Graph


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """One change of one strength.

    ``kind`` and ``strength`` identify it ("blur", 1.3), and ``says`` describes it. ``distance``, above 0 and at most 1,
    says how large it is: the strength of an image change as a share of the largest one, or the share of words that a
    wording changes. A move changes every image of the case with ``alter``, or only the image with the key ``of``; or it
    draws that image again from the graph that ``redraw`` returns; or it replaces the text ``text`` with ``instead`` in
    every request. ``family`` is the kind of space that it comes from, and ``about`` what it changes, in words.
    """

    kind: str
    strength: float
    says: str = field(compare=False)
    distance: float = field(compare=False)
    alter: Callable[[Pixels], Pixels] | None = field(default=None, compare=False, repr=False)
    text: Text | None = field(default=None, compare=False)
    instead: Text | None = field(default=None, compare=False)
    of: str | None = field(default=None, compare=False)
    redraw: Callable[[Graph], Graph] | None = field(default=None, compare=False, repr=False)
    family: Family = field(default="image", compare=False)
    about: str = field(default="the whole image", compare=False)


def perturbed(case: Case, moves: Sequence[Move]) -> Case:
    """Return the case with the same changes to all its images and texts; its truths stay the same.

    Args:
        case: the case to change.
        moves: moves of different kinds; images are changed in this order.

    Returns: a case of the same id, with new requests; the key of an image names its changes (``2357834#blur1.3``).
    """
    texts = {move.text: move.instead for move in moves if move.text is not None and move.instead is not None}
    return replace(case, requests=tuple(_changed(request, moves, texts) for request in case.requests))


def _changed(request: Request, moves: Sequence[Move], texts: dict[Text, Text]) -> Request:
    said = texts.get(text_of(request), text_of(request))
    if isinstance(request, Ask):
        image = _altered(request.image, moves)
        return replace(request, image=image, question=said.words, choices=said.choices)
    if isinstance(request, Match):
        return Match(image=_altered(request.image, moves), text=said.words)
    return Read(text=said.words)


def _altered(image: LazyImage, moves: Sequence[Move]) -> LazyImage:
    """The image, drawn again first and then altered, as its key says."""
    moves = [move for move in moves if move.of in (None, image.key)]
    redrawn = [move for move in moves if move.redraw is not None]
    altered = [move for move in moves if move.alter is not None]
    if not redrawn and not altered:
        return image
    key = f"{image.key}#{'+'.join(f'{move.kind}{move.strength:g}' for move in (*redrawn, *altered))}"
    graph = graph_of(image)
    if redrawn and graph is not None:
        for move in redrawn:
            graph = graph if move.redraw is None else move.redraw(graph)
        image = replace(image, key=key, load=Drawing(graph=graph))
    if not altered:
        return image
    load = partial(_load, image, tuple(move.alter for move in altered if move.alter is not None))
    return LazyImage(key=key, load=load, where=image.where)


def _load(image: LazyImage, alters: Sequence[Callable[[Pixels], Pixels]]) -> Image:
    from PIL import Image

    pixels: Pixels = np.asarray(image.load(), dtype=np.uint8)
    for alter in alters:
        pixels = alter(pixels)
    return Image.fromarray(pixels)


def _along(
    kind: str, says: str, values: Iterable[float], act: Callable[[Pixels, float], Pixels]
) -> tuple[str, tuple[Move, ...]]:
    rounded = [round(value, 4) for value in values]
    moves = tuple(
        Move(
            kind=kind,
            strength=value,
            says=says.format(value),
            distance=place / len(rounded),
            alter=lambda pixels, value=value: act(pixels, value),  # type: ignore[misc]
        )
        for place, value in enumerate(rounded, start=1)
    )
    return kind, moves


IMAGE_MOVES = MappingProxyType(
    dict(
        (
            _along("blur", "blur with sigma {:g}", (step / 10 for step in range(1, 121)), gaussian_blur),
            _along("crop", "{:.1%} cropped from each side", (step / 200 for step in range(1, 21)), crop_margin),
            _along("dark", "brightness times {:g}", (1 - step / 100 for step in range(1, 81)), scale_brightness),
            _along("bright", "brightness times {:g}", (1 + step / 100 for step in range(1, 101)), scale_brightness),
            _along("contrast", "contrast times {:g}", (1 - step / 100 for step in range(1, 91)), scale_contrast),
            _along("jpeg", "JPEG of quality {:g}", range(95, 4, -1), lambda pixels, q: compress(pixels, int(q))),
            _along("turn", "turned by {:g} degrees", (step / 2 for step in range(1, 21)), turn),
        )
    )
)
"""The changes of an image by kind, each from the weakest to the strongest.

Mirroring is not among them, because it exchanges left and right. At most 10 % are cropped from each side, because the
places of the objects are unknown; a rotation by 10 degrees loses about as much at the corners.
"""
