"""How often a method points at the object that decides, measured on the drawn scenes, and the rates of the release."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from vlgate.metrics.stats import wilson
from vlgate.probes.explaining.record import Method
from vlgate.probes.explaining.regions import heat, overlap, places
from vlgate.types import Box, FloatArray

WORDS: Method = "exchange between texts"
_FILE = Path(__file__).with_name("rates.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    # ``touches`` says whether they overlap, ``points`` whether its middle is on the object, and ``leads`` whether the
    # object with the largest mean effect is one that decides. The others are the chances of a part, or object, that is
    # drawn at random.

    touches: float
    points: float
    leads: float
    chance_touches: float
    chance_points: float
    chance_leads: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Hit):
    """The rates of one method for one model over ``n`` images of right answers, or ``n`` cases for words."""

    # ``low`` and ``high`` are the ends of the 95 % interval of ``leads``.

    model: str
    method: str
    n: int
    low: float
    high: float

    @property
    def says(self) -> str:
        if self.method == WORDS:
            return (
                f"{self.model} on the drawn scenes: the strongest exchange changes what the texts say in "
                f"{self.leads:.0%} of {self.n} right answers (a random one in {self.chance_leads:.0%})"
            )
        return (
            f"{self.model} on the drawn scenes: the deciding object leads in {self.leads:.0%} of {self.n} right "
            f"answers ({self.low:.0%} to {self.high:.0%}; a random one in {self.chance_leads:.0%}), and is touched in "
            f"{self.touches:.0%} ({self.chance_touches:.0%})"
        )


def hit(parts: Sequence[Box], effects: FloatArray, objects: Sequence[Box], decides: Sequence[bool]) -> Hit:
    """Compare the part with the largest effect with the objects that decide; without an effect above 0, nothing is hit.

    ``effects``, shape (n,), are those of the n parts; at least one of the m objects decides.

    >>> one = hit([(0, 0, 0.5, 1), (0.5, 0, 1, 1)], np.array([1.0, 0.0]), [(0.1, 0, 0.2, 1)], [True])
    >>> one.touches, one.points, one.chance_touches
    (True, False, 0.5)
    """
    # ``effects``, shape (n,), are those of the n parts; at least one of the m objects decides.
    own = [box for box, decide in zip(objects, decides, strict=True) if decide]
    touching = np.array([any(overlap(part, box) > 0 for box in own) for part in parts])
    middles = [((left + right) / 2, (top + low) / 2) for left, top, right, low in parts]
    pointing = np.array([any(b[0] <= x <= b[2] and b[1] <= y <= b[3] for b in own) for x, y in middles])
    top, moved = int(np.argmax(effects)), bool(np.max(effects) > 0)
    shown = heat(parts, effects)
    means = [float(shown[places(box, *shown.shape)].mean()) for box in objects]
    return Hit(
        touches=moved and bool(touching[top]),
        points=moved and bool(pointing[top]),
        leads=moved and bool(decides[int(np.argmax(means))]),
        chance_touches=float(touching.mean()),
        chance_points=float(pointing.mean()),
        chance_leads=float(np.mean(decides)),
    )


def rate(model: str, method: str, hits: Sequence[Hit]) -> Rate:
    def mean(name: str) -> float:
        return round(float(np.mean([getattr(one, name) for one in hits])), 4)

    names = ("touches", "points", "leads", "chance_touches", "chance_points", "chance_leads")
    low, high = (round(end, 4) for end in wilson(float(np.mean([one.leads for one in hits])), len(hits)))
    return Rate(model=model, method=method, n=len(hits), low=low, high=high, **{name: mean(name) for name in names})


@lru_cache(maxsize=1)
def measured() -> tuple[Rate, ...]:
    return tuple(Rate(**row) for row in tomllib.loads(_FILE.read_text(encoding="utf-8"))["rate"])


def beside(method: str) -> tuple[Rate, ...]:
    return tuple(one for one in measured() if one.method == method)
