"""Which change of the pictures, or of the texts, lets a model recognise the canaries better than they are?

A change that undoes the fault of a pipeline does: exchanged channels, if the pipeline exchanges them once more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

import numpy as np

from vlgate.controls.delivery.asking import Asker
from vlgate.controls.delivery.canaries import CANARIES
from vlgate.controls.delivery.findings import Finding
from vlgate.controls.delivery.likeness import better, leads
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """A change of pixels that undoes a fault; ``by`` is how many times as large the lead of the true texts becomes."""

    bug: str
    says: str
    change: Callable[[Pixels], Pixels]
    by: float = 1.2


def _turned(times: int, pixels: Pixels) -> Pixels:
    return np.ascontiguousarray(np.rot90(pixels, times))


def _levels(scale: float, offset: float) -> Callable[[Pixels], Pixels]:
    return lambda pixels: np.clip(np.rint(pixels * scale + offset), 0, 255).astype(np.uint8)


REPAIRS: Mapping[str, Repair] = MappingProxyType(
    {
        "swapped": Repair(
            bug="BGR for RGB",
            says="red and blue are exchanged",
            change=lambda pixels: np.ascontiguousarray(pixels[..., ::-1]),
        ),
        **{
            f"turned-{90 * times}": Repair(
                bug="turned image",
                says=f"they are turned by {90 * times} degrees",
                change=partial(_turned, times),
            )
            for times in (1, 2, 3)
        },
        **{
            name: Repair(bug="wrong mean", says=says, change=_levels(scale, offset))
            for name, says, scale, offset in (
                ("paler", "they are half as far from white", 0.5, 127.5),  # undoes a mean that is subtracted twice
                ("darker", "they are darker by a quarter", 0.75, 0.0),
                ("flatter", "they have seven tenths of the contrast", 0.7, 38.0),
                ("steeper", "they have twice the contrast", 2.0, -127.5),
            )
        },
    }
)
"""The changes that are tried, by name."""
_FORMS = ("a photo of a {} {}.", "{} {}")
_BY_WORDS = 2.5  # intact models may like one wording better: up to 1.2 times the lead, for those in the package


def repaired(asker: Asker, plain: FloatArray) -> Finding | None:
    """Return the fault that the most helpful change undoes, if a change helps.

    Args:
        asker: asks the model.
        plain: the replies to all canaries as they are, shape (12, 4).
    """
    as_they_are = leads(plain)
    best: tuple[float, Finding] | None = None
    for name, repair in REPAIRS.items():
        images = [asker.image(f"{name}/{place}.png", repair.change(one.pixels)) for place, one in enumerate(CANARIES)]
        seen = leads(asker.scores(images, [one.texts() for one in CANARIES]))
        if better(seen, as_they_are, repair.by) and (best is None or seen.mean() > best[0]):
            best = seen.mean(), Finding(bug=repair.bug, why=_why(repair.says, seen, as_they_are))
    return best[1] if best else _by_words(asker, as_they_are)


def _by_words(asker: Asker, as_they_are: FloatArray) -> Finding | None:
    images = [asker.image(f"words/{place}.png", one.pixels) for place, one in enumerate(CANARIES)]
    for form in _FORMS:
        seen = leads(asker.scores(images, [one.texts(form) for one in CANARIES]))
        if better(seen, as_they_are, _BY_WORDS):
            return Finding(
                bug="wrong template", why=_why(f"the texts are {form.format('red', 'cup')!r}", seen, as_they_are)
            )
    return None


def _why(says: str, seen: FloatArray, as_they_are: FloatArray) -> str:
    further = int((seen > as_they_are).sum())
    return (
        f"the true texts of {further} of {len(seen)} canaries lead further if {says}, on average by {seen.mean():.3g} "
        f"in place of {as_they_are.mean():.3g}"
    )
