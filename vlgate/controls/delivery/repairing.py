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
            name: Repair(bug="wrong mean", says=f"their pixels make up for {says}", change=_renormalised(used, right))
            for name, says, used, right in (
                ("twice", "a mean that is subtracted twice", _HALF, _UNCHANGED),
                ("clip", "the mean of CLIP or of ImageNet in place of 0.5", _CLIP, _HALF),
                ("imagenet", "the mean of CLIP or of ImageNet in place of 0.5", _IMAGENET, _HALF),
                # The next one nearly undoes 0.5 in place of one of the others, too.
                ("none", "a mean that is not subtracted", _UNCHANGED, _HALF),
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
    best: tuple[float, Finding] | None = None
    for name, repair in REPAIRS.items():
        images = [asker.image(f"{name}/{place}.png", repair.change(one.pixels)) for place, one in enumerate(CANARIES)]
        view = asker.scores(images, [one.texts() for one in CANARIES])
        led = float(leads(view).mean())
        if better(view, plain, repair.by) and (best is None or led > best[0]):
            best = led, Finding(bug=repair.bug, why=_why(repair.says, view, plain))
    return best[1] if best else _by_words(asker, plain)


def _by_words(asker: Asker, plain: FloatArray) -> Finding | None:
    images = [asker.image(f"words/{place}.png", one.pixels) for place, one in enumerate(CANARIES)]
    for form in _FORMS:
        view = asker.scores(images, [one.texts(form) for one in CANARIES])
        if better(view, plain, _BY_WORDS):
            says = f"the texts are {form.format('red', 'cup')!r}"
            return Finding(bug="wrong template", why=_why(says, view, plain))
    return None


def _why(says: str, view: FloatArray, plain: FloatArray) -> str:
    seen, as_they_are = leads(view), leads(plain)
    further = int((seen > as_they_are).sum())
    return (
        f"the true texts of {further} of {len(seen)} canaries lead further if {says}, on average by {seen.mean():.3g} "
        f"in place of {as_they_are.mean():.3g}"
    )
