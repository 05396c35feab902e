"""Canaries: drawn pictures of one coloured thing, the requests about them, and the evidence in the replies."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import comb
from pathlib import Path

import numpy as np

from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.scenes.draw import draw
from vlgate.fixtures.scenes.graph import HEIGHT, WIDTH, PlacedObject, graph_of
from vlgate.images.files import file_image
from vlgate.perturb.images.benign import as_png
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray, LazyImage, Match

# Nothing in the texts tells which is true: each thing and each colour is in true and in false texts.

SIDE = 96  # pixels of a thing, of 224
# The second colour is the one that is nearest if red and blue are exchanged, or far from the first if nothing is.
_SHOWN = (
    ("umbrella", "red", "blue"),
    ("house", "blue", "red"),
    ("tree", "green", "pink"),
    ("chair", "pink", "purple"),
    ("car", "yellow", "blue"),
    ("boat", "purple", "pink"),
    ("flower", "pink", "purple"),
    ("fish", "blue", "red"),
    ("book", "red", "blue"),
    ("cup", "green", "yellow"),
    ("hat", "purple", "green"),
    ("table", "brown", "blue"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Canary:
    """A thing of one colour; ``other`` is a colour that it does not have, ``beside`` a thing that it is not."""

    kind: str
    colour: str
    other: str
    beside: str

    @property
    def pixels(self) -> Pixels:
        return drawn(self.kind, self.colour)

    def texts(self, form: str = "There is a {} {}.") -> tuple[str, ...]:
        both = ((kind, colour) for kind in (self.kind, self.beside) for colour in (self.colour, self.other))
        return tuple(form.format(colour, kind) for kind, colour in both)


CANARIES: tuple[Canary, ...] = tuple(
    Canary(kind=kind, colour=colour, other=other, beside=_SHOWN[(index + 1) % len(_SHOWN)][0])
    for index, (kind, colour, other) in enumerate(_SHOWN)
)


@lru_cache(maxsize=len(_SHOWN))
def drawn(kind: str, colour: str) -> Pixels:
    """Draw a thing on white paper, shape (224, 224, 3); the array is shared and cannot be written to."""
    thing = PlacedObject(kind=kind, colour=colour, centre=(WIDTH // 2, HEIGHT // 2), side=SIDE)
    pixels: Pixels = np.array(draw(graph_of((thing,), "paper")))
    pixels[(pixels >= 248).all(axis=2)] = 255  # paper is nearly white; only white can be transparent
    pixels.flags.writeable = False
    return pixels


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    # ``asked`` holds the number of requests of each call.

    predictor: ModelPredictor
    folder: Path
    asked: list[int] = field(default_factory=list)

    def image(self, name: str, content: bytes | Pixels) -> LazyImage:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else as_png(content))
        return file_image(f"canary-{len(self.asked)}-{name}", file)

    def scores(self, images: Sequence[LazyImage], texts: Sequence[Sequence[str]]) -> FloatArray:
        """Ask about n images in one call, k texts each: scores of shape (n, k), NaN for what has no reply."""
        rows = [[Match(image=image, text=text) for text in some] for image, some in zip(images, texts, strict=True)]
        requests = [request for row in rows for request in row]
        said = replace(self.predictor.bare(), seed=None).predict(requests)  # in this order
        self.asked.append(len(set(requests)))
        found = [[said[one].score if said[one].score is not None else np.nan for one in row] for row in rows]
        return np.array(found, dtype=np.float64)

    def views(self, name: str, canaries: Sequence[Canary], view: Callable[[Canary], bytes | Pixels]) -> FloatArray:
        images = [self.image(f"{name}/{index}.png", view(canary)) for index, canary in enumerate(canaries)]
        return self.scores(images, [canary.texts() for canary in canaries])

    def cut(self, image: LazyImage, text: str) -> bool:
        request = Match(image=image, text=text)
        said = replace(self.predictor.bare(), seed=None).predict([request])
        self.asked.append(1)
        return said[request].cut


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault of a pipeline, with the evidence; ``or_else`` names what has the same evidence."""

    bug: str
    why: str
    or_else: tuple[str, ...] = ()

    @property
    def says(self) -> str:
        return f"{', or '.join((self.bug, *self.or_else))}: {self.why}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    # ``recognised`` has 1.0 for each canary whose own text leads, else 0.0, shape (n,); it is empty if there is no
    # reply. ``inapplicable`` says why nothing can be said.

    findings: tuple[Finding, ...] = ()
    recognised: FloatArray = field(default_factory=lambda: np.zeros(0))
    requests: int = 0
    inapplicable: str = ""
    notes: tuple[str, ...] = ()


NEAR = 0.1  # replies are those to a picture if they differ from them by a tenth of what they differ from the others
LEAST = 0.05
"""The least difference between the replies to two pictures that tells them apart, as a share of their spread."""
SIGNIFICANT = 0.005


def distance(some: FloatArray, others: FloatArray) -> float:
    apart = np.abs(some - others)
    return float(np.nanmean(apart)) if np.isfinite(apart).any() else float("nan")


def follows(replies: FloatArray, twin: FloatArray, right: FloatArray) -> bool:
    """Return whether replies, shape (n, k), are those to a wrong twin of some pictures, and not to the right ones."""
    between = distance(twin, right)
    if not between > LEAST * spread(right):
        return False
    return distance(replies, twin) <= NEAR * distance(replies, right)


def spread(scores: FloatArray) -> float:
    return float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0


def leads(scores: FloatArray) -> FloatArray:
    """Return by how much the first text of each picture, the true one, leads the mean of the others, shape (n,)."""
    return np.asarray(scores[:, 0] - scores[:, 1:].mean(axis=1), dtype=np.float64)


def recognised(scores: FloatArray) -> FloatArray:
    """Return 1.0 for each picture whose first text scores above all others, 0.0 for the rest, shape (n,)."""
    return np.asarray((scores[:, :1] > scores[:, 1:]).all(axis=1), dtype=np.float64)


def better(view: FloatArray, plain: FloatArray, by: float) -> bool:
    """Return whether n canaries are understood better in a view than as they are, from replies of shape (n, 4)."""
    # The mean lead must be ``by`` times as large, more canaries must lead further than a fair coin would say, and more
    # be recognised than by guessing (one-sided exact binomial tests, p < ``SIGNIFICANT``).
    ahead, before = leads(view), leads(plain)
    if not ahead.mean() > max(0.0, by * float(before.mean())):
        return False
    seen, guessing = recognised(view), 1 / view.shape[1]
    further = tail(int((ahead > before).sum()), len(ahead)) < SIGNIFICANT
    return further and tail(int(seen.sum()), len(seen), guessing) < SIGNIFICANT


def behind(scores: FloatArray) -> bool:
    return tail(int((leads(scores) < 0).sum()), len(scores)) < SIGNIFICANT


def tail(successes: int, n: int, chance: float = 0.5) -> float:
    """Return the exact probability of at least so many successes in n draws."""
    return min(1.0, sum(comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(successes, n + 1)))
