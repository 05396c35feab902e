"""The faults of a pipeline that canaries show: lost or swapped images, files opened wrong, crops, truncated texts."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from vlgate.perturb.images.benign import as_transparent, as_turned
from vlgate.perturb.images.pixels import Pixels
from vlgate.probes.controls import canaries
from vlgate.probes.controls.canaries import Asker, Canary, Finding
from vlgate.types import FloatArray

# Each question compares replies about one picture with replies about another, so it needs no truth.

FOR_ARRIVAL = canaries.CANARIES[:8]
TEXTS = (FOR_ARRIVAL[0].texts()[0], FOR_ARRIVAL[4].texts()[0])
"""All pictures are asked the same, so that only the picture can make replies differ."""
LOST = "lost image"  # the fault of a model whose replies do not depend on the picture
_SAME = 1e-6
_PAIR = 2


def alone(asker: Asker, name: str = "alone/{}.png", most: int = len(FOR_ARRIVAL)) -> FloatArray:
    """Return the replies to each of the first pictures, in a file of its own and a call of its own, shape (most, 2)."""
    images = ((name.format(index), one.pixels) for index, one in enumerate(FOR_ARRIVAL[:most]))
    return np.concatenate([asker.scores([asker.image(*image)], [TEXTS]) for image in images])


def lost(apart: FloatArray) -> Finding | None:
    if float(np.ptp(apart, axis=0).max()) > _SAME * max(1.0, float(np.abs(apart).max())):
        return None
    why = f"{len(apart)} different pictures get the same scores, so no picture arrives, or the same one each time"
    return Finding(bug=LOST, why=why, or_else=("wrong image",))


def by_name(asker: Asker, apart: FloatArray) -> bool:
    copies = alone(asker, "copy-of-{}.png", _PAIR)
    return canaries.distance(copies, apart[:_PAIR]) > canaries.LEAST * canaries.spread(apart)


def misplaced(asker: Asker, apart: FloatArray) -> Finding | None:
    images = [asker.image(f"together/{index}.png", one.pixels) for index, one in enumerate(FOR_ARRIVAL)]
    together = asker.scores(images, [TEXTS] * len(images))
    near = canaries.LEAST * canaries.spread(apart)
    apart_by = np.abs(together[:, None] - apart[None]).mean(axis=2)
    got = apart_by.argmin(axis=1)
    # A reply that is right, or like no other one, says nothing about places.
    if (np.diag(apart_by) <= near).all() or (apart_by.min(axis=1) > near).any():
        return None
    moved = int((got != np.arange(len(got))).sum())
    said = f"in one call {moved} of {len(got)} pictures get the reply that another one gets in a call of its own"
    between = np.abs(apart[:, None] - apart[None]).mean(axis=2)
    if not bool((between[~np.eye(len(apart), dtype=bool)] > near).all()):
        return Finding(bug="image order swapped", why=said, or_else=("wrong image",))
    if len(set(got.tolist())) == len(got):
        return Finding(bug="image order swapped", why=f"{said}, each another one")
    return Finding(bug="wrong image", why=f"{said}, and several get that of the same one")


def kept(asker: Asker, apart: FloatArray) -> Iterator[Finding]:
    asker.scores([asker.image("kept/first/same.png", FOR_ARRIVAL[0].pixels)], [TEXTS])
    content = "a file that got new content keeps the reply to the old content"
    folder = "a file gets the reply to a file of the same name in another folder"
    tried = (("kept/first/same.png", 1, "stale cache", content), ("kept/second/same.png", 2, "wrong image", folder))
    for name, place, bug, why in tried:
        reply = asker.scores([asker.image(name, FOR_ARRIVAL[place].pixels)], [TEXTS])[0]
        old = min(canaries.distance(reply, apart[earlier]) for earlier in range(place))
        if canaries.distance(reply, apart[place]) > canaries.LEAST * canaries.spread(apart) >= old:
            yield Finding(bug=bug, why=why)


# Only a model that opens files by itself can fail here: ``LazyImage.load`` does both.

FOR_OPENING = canaries.CANARIES[:6]
HIDDEN = (90, 160, 90)  # the colour under the transparent pixels: no colour of a thing, neither white nor black
_SEEN = {
    (True, False): "transparent pixels are seen as black ones",
    (False, True): "transparent pixels show the colour that is stored under them, which is black in most files",
    (True, True): "transparent pixels are seen as black, or in the colour that is stored under them, and not as white",
}


def opened(asker: Asker, plain: FloatArray) -> Iterator[Finding]:
    right = plain[: len(FOR_OPENING)]
    replies = asker.views("alpha", FOR_OPENING, lambda one: as_transparent(one.pixels, HIDDEN))
    black = canaries.follows(replies, asker.views("black", FOR_OPENING, lambda one: _instead(one, (0, 0, 0))), right)
    hidden = canaries.follows(replies, asker.views("hidden", FOR_OPENING, lambda one: _instead(one, HIDDEN)), right)
    if black or hidden:
        yield Finding(bug="alpha on black", why=_SEEN[black, hidden])
    replies = asker.views("exif", FOR_OPENING, lambda one: as_turned(one.pixels))
    if canaries.follows(replies, asker.views("stored", FOR_OPENING, lambda one: np.rot90(one.pixels)), right):
        why = "a photograph that EXIF turns upright is seen as it is stored, on its side"
        yield Finding(bug="EXIF ignored", why=why)


def _instead(canary: Canary, colour: tuple[int, int, int]) -> Pixels:
    pixels = canary.pixels
    white = (pixels == 255).all(axis=2, keepdims=True)
    return np.where(white, np.array(colour, np.uint8), pixels)


FOR_WORDING = canaries.CANARIES[:4]
_BEFORE = "This is a picture on white paper."  # seven words, true of every canary
REPEATED = (0, 1, 2)  # how many times these words stand before the words that decide: the texts have 5, 12 and 19 words


def truncated(asker: Asker) -> Finding | None:
    # If the model says that it cut a text, there is no finding.
    for times in REPEATED:
        texts = [tuple(" ".join([*[_BEFORE] * times, text]) for text in one.texts()) for one in FOR_WORDING]
        images = [asker.image(f"long-{times}-{index}.png", one.pixels) for index, one in enumerate(FOR_WORDING)]
        scores = asker.scores(images, texts)
        if (scores == scores[:, :1]).all():
            if asker.cut(images[0], texts[0][0]):
                return None
            words = len(texts[0][0].split())
            same = f"texts of {words} words that differ only in their last words get the same scores"
            why = f"{same}, and the model does not say that it cuts them"
            return Finding(bug="truncated text", why=why)
    return None


FOR_GEOMETRY = canaries.CANARIES[:6]
ENLARGED = 2
_BLOCK = 4  # pixels of a block in which the texture has the mean of the plain colour
# Of what picked pixels change; the models of the package 0.22 and 0.43, with the nearest pixel 0.92, 0.82.
_ALIASED = 0.65
_OTHER_PIXELS = 0.2  # of the same; with the nearest pixel 0.36 and 0.93, and 0 for a model that does not resize


def frame(asker: Asker) -> str:
    """Return how a picture of 2 : 1 becomes square: "stretched", "cropped" or "padded", or "" for none of these."""
    from PIL import Image

    side = canaries.CANARIES[0].pixels.shape[0]
    half = side // 2
    ways: Mapping[str, Callable[[Pixels], Pixels]] = {
        "stretched": lambda pixels: np.array(Image.fromarray(pixels).resize((side, side), Image.Resampling.BICUBIC)),
        "cropped": lambda pixels: pixels[:, half : half + side],
        "padded": lambda pixels: np.pad(pixels, ((half, half), (0, 0), (0, 0)), constant_values=255),
    }

    def wide(canary: Canary, way: Callable[[Pixels], Pixels] = np.asarray) -> Pixels:
        after = canaries.CANARIES[(canaries.CANARIES.index(canary) + 1) % len(canaries.CANARIES)]
        return way(np.concatenate([canary.pixels, after.pixels], axis=1))

    # The replies to it are compared with those to squares that were made of it in each way.
    as_it_is = asker.views("wide", FOR_GEOMETRY, wide)
    squares = {name: asker.views(name, FOR_GEOMETRY, partial(wide, way=way)) for name, way in ways.items()}
    apart = {name: canaries.distance(as_it_is, square) for name, square in squares.items()}
    nearest, second, last = sorted(apart, key=lambda name: apart[name])
    clear = apart[nearest] <= canaries.NEAR * apart[second] and apart[last] > canaries.LEAST * canaries.spread(as_it_is)
    return nearest if clear else ""


def wrong_frame(found: str, declared: str) -> Finding | None:
    if not declared or found in {"", declared} or (declared, found) == ("kept", "padded"):
        return None  # a border changes no aspect
    bug = "stretched aspect" if found == "stretched" else "wrong aspect"
    why = f"a picture of 2 : 1 is {found}, and the model says that it sees pictures {declared}"
    return Finding(bug=bug, why=why)


def aliased(asker: Asker) -> Finding | None:
    # A filter that averages sees nothing of it. One that takes every n-th pixel, or interpolates between two, sees
    # patches of wrong colours (Parmar, Zhang and Zhu 2022, section 3), which depend on the pixels that it takes: light
    # and dark exchanged give other replies. A model that does not resize sees the texture itself, and both alike.
    fine = asker.views("fine", FOR_GEOMETRY, _textured)
    plain = asker.views("mean", FOR_GEOMETRY, lambda one: _averaged(_textured(one)))
    fourth = asker.views("every-4th", FOR_GEOMETRY, lambda one: _blocks(_textured(one)[1::_BLOCK, 2::_BLOCK], _BLOCK))
    picked = canaries.distance(fourth, plain)
    if not (picked > canaries.LEAST * canaries.spread(plain) and canaries.distance(fine, plain) > _ALIASED * picked):
        return None
    exchanged = asker.views("exchanged", FOR_GEOMETRY, lambda one: _textured(one, -1))
    if canaries.distance(fine, exchanged) <= _OTHER_PIXELS * picked:
        return None
    why = "a texture that a resize averages away changes the replies as if single pixels were picked"
    return Finding(bug="wrong resize filter", why=why)


def _textured(canary: Canary, first: int = 1) -> Pixels:
    """A canary at twice its size with a chequered texture whose mean over each block is the canary's colour."""
    # ``first`` is 1 or -1, which exchanges the light and the dark pixels
    pixels = _blocks(canary.pixels, ENLARGED).astype(np.int64)
    height, width = pixels.shape[:2]
    down, across = np.indices((height, width))
    block = (down // _BLOCK * 7 + across // _BLOCK * 13) % 5 % 2  # irregular, so that no step of a resize matches it
    sign = np.where((down + across + block) % 2 == 0, first, -first)[..., None]
    return np.asarray(pixels + sign * np.minimum(pixels, 255 - pixels), dtype=np.uint8)


def _averaged(pixels: Pixels) -> Pixels:
    rows, columns = (side // _BLOCK for side in pixels.shape[:2])
    means = pixels.reshape(rows, _BLOCK, columns, _BLOCK, 3).mean(axis=(1, 3))
    return _blocks(np.rint(means).astype(np.uint8), _BLOCK)


def _blocks(pixels: Pixels, side: int) -> Pixels:
    return pixels.repeat(side, axis=0).repeat(side, axis=1)


Levels = tuple[float, float, float]
# The means and deviations of red, green and blue that pixels from 0 to 1 are normalised with.
_HALF: tuple[Levels, Levels] = ((0.5,) * 3, (0.5,) * 3)
_CLIP: tuple[Levels, Levels] = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))
_IMAGENET: tuple[Levels, Levels] = ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
_UNCHANGED: tuple[Levels, Levels] = ((0.0,) * 3, (1.0,) * 3)


def _renormalised(used: tuple[Levels, Levels], right: tuple[Levels, Levels]) -> Callable[[Pixels], Pixels]:
    """Return a change of pixels after which the wrong normalisation gives what the right one gives without it."""
    (mean, deviation), (right_mean, right_deviation) = np.array(used) * 255, np.array(right) * 255
    scale = deviation / right_deviation
    return lambda pixels: np.clip(np.rint(mean + (pixels - right_mean) * scale), 0, 255).astype(np.uint8)


_MEAN = "the mean of CLIP or of ImageNet in place of 0.5"
_MEANS = (
    ("twice", "a mean that is subtracted twice", _HALF, _UNCHANGED),
    ("clip", _MEAN, _CLIP, _HALF),
    ("imagenet", _MEAN, _IMAGENET, _HALF),
    ("none", "a mean that is not subtracted", _UNCHANGED, _HALF),  # nearly undoes 0.5 in place of the others, too
)
_REPAIRS: tuple[tuple[str, str, str, Callable[[Pixels], Pixels]], ...] = (
    ("swapped", "BGR for RGB", "red and blue are exchanged", lambda pixels: pixels[..., ::-1]),
    *(
        (f"turned-{90 * times}", "turned image", f"they are turned by {90 * times} degrees", partial(np.rot90, k=times))
        for times in (1, 2, 3)
    ),
    *(
        (name, "wrong mean", f"their pixels make up for {says}", _renormalised(used, right))
        for name, says, used, right in _MEANS
    ),
)  # the name of each change that is tried, the fault that it undoes, what it does, and the change
_BY = 1.2  # how many times as large the lead of the true texts becomes, at least
_FORMS = ("a photo of a {} {}.", "{} {}")
_BY_WORDS = 2.5  # intact models may like one wording better: up to 1.2 times the lead, for those in the package


def repaired(asker: Asker, plain: FloatArray) -> Finding | None:
    best: tuple[float, Finding] | None = None
    for name, bug, says, change in _REPAIRS:
        view = asker.views(name, canaries.CANARIES, lambda one, change=change: np.ascontiguousarray(change(one.pixels)))  # type: ignore[misc]
        led = float(canaries.leads(view).mean())
        if canaries.better(view, plain, _BY) and (best is None or led > best[0]):
            best = led, Finding(bug=bug, why=_why(says, view, plain))
    if best:
        return best[1]
    images = [asker.image(f"words/{index}.png", canary.pixels) for index, canary in enumerate(canaries.CANARIES)]
    for form in _FORMS:
        view = asker.scores(images, [canary.texts(form) for canary in canaries.CANARIES])
        if canaries.better(view, plain, _BY_WORDS):
            return Finding(bug="wrong template", why=_why(f"the texts are {form.format('red', 'cup')!r}", view, plain))
    return None


def _why(says: str, view: FloatArray, plain: FloatArray) -> str:
    seen, as_they_are = canaries.leads(view), canaries.leads(plain)
    further = int((seen > as_they_are).sum())
    return (
        f"the true texts of {further} of {len(seen)} canaries lead further if {says}, on average by {seen.mean():.3g} "
        f"in place of {as_they_are.mean():.3g}"
    )
