"""Moves: changes of a case from the weakest to the strongest, of the whole image or of regions that no text names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from vlgate import types
from vlgate.errors import ImageError, NoReplyError
from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import Graph
from vlgate.judging.normal import normal_answer
from vlgate.perturb.images.blur import gaussian_blur
from vlgate.perturb.images.boxes import on_image, rescale
from vlgate.perturb.images.corruptions import compress, crop_margin, scale_brightness, scale_contrast, turn
from vlgate.perturb.images.pixels import IMAGENET_MEAN, Pixels
from vlgate.perturb.images.registry import PerturbedLoad
from vlgate.perturb.scene_graph import Box
from vlgate.probes.shrink import Family
from vlgate.types import Ask, Case, LazyImage, Match, PlacedCase, Read, Request, images_of

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    words: str
    choices: tuple[str, ...] = ()


def text_of(request: Request) -> Text:
    return Text(words=types.text_of(request), choices=request.choices if isinstance(request, Ask) else ())


class Truth:
    def __init__(self) -> None:
        self._reader = Reader()

    def keeps(self, case: Case) -> bool:
        """Return whether every text is as true, and every answer as right, as the case says; False if unknown."""
        both = list(zip(case.requests, case.truths, strict=True))
        pairs = [(request, truth) for request, truth in both if isinstance(request, Match)]
        questions = [(request, truth) for request, truth in both if isinstance(request, Ask)]
        if len(pairs) + len(questions) < len(both):  # the reader reads texts about one image
            return False
        try:
            scores = self._reader.match([pair for pair, _ in pairs])
            answers = self._reader.answer([question for question, _ in questions])
        except NoReplyError:
            return False
        right = (bool(score) is truth for score, (_, truth) in zip(scores, pairs, strict=True))
        said = zip(answers, questions, strict=True)
        return all(right) and all(normal_answer(answer) == normal_answer(str(truth)) for answer, (_, truth) in said)


def graph_of(image: LazyImage) -> Graph | None:
    load = image.load
    if isinstance(load, Drawing):
        return load.graph
    made = getattr(load, "made", None)
    return graph_of(made) if isinstance(made, LazyImage) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    # ``kind`` and ``strength`` identify it ("blur", 1.3), and ``says`` describes it. ``distance``, above 0 and at most
    # 1, says how large it is: the strength of an image change as a share of the largest one, or the share of words that
    # a wording changes. A move changes every image of the case with ``alter``, or only the image with the key ``of``;
    # or it draws that image again from the graph that ``redraw`` returns; or it replaces the text ``text`` with
    # ``instead`` in every request. ``family`` is the kind of space that it comes from, and ``about`` what it changes,
    # in words.

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
    """Return the case with the same changes, of different kinds, to all its images and texts; its truths stay."""
    # The key of an image names its changes (``2357834#blur1.3``).
    texts = {move.text: move.instead for move in moves if move.text is not None and move.instead is not None}

    def changed(request: Request) -> Request:
        text = texts.get(text_of(request), text_of(request))
        if isinstance(request, Ask):
            return replace(request, image=_altered(request.image, moves), question=text.words, choices=text.choices)
        if isinstance(request, Match):
            return Match(image=_altered(request.image, moves), text=text.words)
        return Read(text=text.words)

    return replace(case, requests=tuple(map(changed, case.requests)))


def _altered(image: LazyImage, moves: Sequence[Move]) -> LazyImage:
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
            distance=index / len(rounded),
            alter=lambda pixels, value=value: act(pixels, value),  # type: ignore[misc]
        )
        for index, value in enumerate(rounded, start=1)
    )
    return kind, moves


IMAGE_MOVES = dict(
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
"""The changes of an image by kind, each from the weakest to the strongest.

Mirroring is not among them, because it exchanges left and right. At most 10 % are cropped from each side, because the
places of the objects are unknown; a rotation by 10 degrees loses about as much at the corners.
"""

ROWS = 5  # regions grow around the centres of ``ROWS`` x ``ROWS`` cells of the image
SIDES = tuple(share / 100 for share in range(5, 51, 5))
"""The side of a region as a share of the image's; the largest covers a quarter of the image, which has the size 1."""
AROUND = 0.02  # A region keeps this share of the image's longer side away from the boxes of what the texts name
UNKNOWN = "the data has no boxes of what the texts name"


def region_moves(case: Case) -> tuple[tuple[tuple[Move, ...], ...], str]:
    # What the texts name is known from a ``PlacedCase``, or from a perturbation of the image that the case has itself.
    # A drawn scene has none: covering a thing would say nothing that removing it does not say better.
    images = {image.key: image for request in case.requests for image in images_of(request)}
    photographs = {key: image for key, image in images.items() if graph_of(_original(image)) is None}
    placed = {key: _known(case, image, images.values()) for key, image in photographs.items()}
    known = {key: boxes for key, boxes in placed.items() if boxes is not None}
    if not known:
        return (), UNKNOWN if photographs else ""
    found: list[tuple[Move, ...]] = []
    for number, (key, (boxes, size)) in enumerate(known.items(), start=1):
        try:
            loaded = photographs[key].load().size
        except ImageError:
            continue
        scaled = boxes if size is None else rescale(boxes, size, loaded)
        found += _directions(key, number, scaled, loaded)
    return tuple(found), "" if found else "every region touches what the texts name"


def _original(image: LazyImage) -> LazyImage:
    return _original(image.load.image) if isinstance(image.load, PerturbedLoad) else image


def _known(
    case: Case, image: LazyImage, images: Iterable[LazyImage]
) -> tuple[tuple[Box, ...], tuple[int, int] | None] | None:
    if isinstance(case, PlacedCase) and image.key in case.named:
        return tuple(Box(x=x, y=y, w=w, h=h) for x, y, w, h in case.named[image.key]), None
    for other in images:
        load = other.load
        if isinstance(load, PerturbedLoad) and load.image == image and load.boxes:
            return load.boxes, load.size
    return None


def _directions(key: str, number: int, boxes: Iterable[Box], size: tuple[int, int]) -> Iterator[tuple[Move, ...]]:
    width, height = size
    away = AROUND * max(size)
    try:
        kept = [(b.x - away, b.y - away, b.x + b.w + away, b.y + b.h + away) for b in on_image(boxes, *size)]
    except ValueError:  # no box is on the image
        return
    for row, column in product(range(ROWS), range(ROWS)):
        x, y = (column + 0.5) / ROWS, (row + 0.5) / ROWS
        moves: list[Move] = []
        for side in SIDES:
            region = max(0.0, x - side / 2), max(0.0, y - side / 2), min(1.0, x + side / 2), min(1.0, y + side / 2)
            left, top, right, low = (edge * (width, height)[at % 2] for at, edge in enumerate(region))
            if any(left < b[2] and right > b[0] and top < b[3] and low > b[1] for b in kept):
                break
            share = (region[2] - region[0]) * (region[3] - region[1])
            at = f"at {region[0]:.0%} from the left and {region[1]:.0%} from the top"
            cover = Move(
                kind=f"cover {number}.{row}{column} ",
                strength=round(side, 2),
                says=f"{share:.1%} of the image covered, {at}",
                distance=share / SIDES[-1] ** 2,
                alter=partial(covered, region=region),
                of=key,
                family="region",
                about="a region that the texts do not name",
            )
            moves.append(cover)
        if moves:
            yield tuple(moves)


def covered(pixels: Pixels, *, region: tuple[float, float, float, float]) -> Pixels:
    """Paint a region, given as shares of the width and height, of an image of shape (h, w, 3) with one mean colour."""
    height, width = pixels.shape[:2]
    left, right = (round(edge * width) for edge in region[::2])
    top, low = (round(edge * height) for edge in region[1::2])
    painted = pixels.copy()
    painted[top : max(low, top + 1), left : max(right, left + 1)] = np.rint(IMAGENET_MEAN).astype(np.uint8)
    return painted
