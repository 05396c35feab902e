"""Metrics of sets (BLA §5.3, §7.1): two true and two false sentences, ranked for one image."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import numpy as np

from vlgate.metrics.measures import wins
from vlgate.types import FloatArray, Shape, Ties

_RANKED = ("sen_acc", "set_acc", "set_error")
# Which sentence is preferred to which, by their positions in a set, in the order of the names below.
_PAIRS = ((0, 2), (1, 3), (1, 2), (0, 3), (0, 1), (2, 3))

METRICS: Mapping[Shape, tuple[str, ...]] = {
    "set": (*_RANKED, "tp1_fp1", "tp2_fp2", "tp2_fp1", "tp1_fp2", "tp1_tp2", "fp1_fp2"),
    "active_passive_set": (*_RANKED, "ta_fa", "tp_fp", "tp_fa", "ta_fp", "ta_tp", "fa_fp"),
}
"""The thesis names a preference by its two sentences: in Tables 7.1 and 7.3 (shape ``active_passive_set``) by True or
False, Active or Passive; in Table 7.4 (shape ``set``) by True or False, of Person 1 or 2."""
PREFERENCES = {shape: names[len(_RANKED) :] for shape, names in METRICS.items()}
"""The six preferences of a shape, without the metrics of the ranking."""

_OVER_ORDERS: Mapping[Ties, Callable[..., FloatArray]] = {"strict": np.min, "half": np.mean, "credit": np.max}


def facts(scores: FloatArray, names: Sequence[str], ties: Ties = "strict") -> dict[str, FloatArray]:
    """Return what each set of four sentences, ranked by score, contributes to BLA's metrics (Chen 2022, §5.3, §7.1).

    ``sen_acc``: the share of sentences in the right half of the ranking, true ones above and false ones below;
    ``set_acc``: both true sentences are above; ``set_error``: both false sentences are above (a lower value is better).
    Chance is 1/2, 1/6 and 1/6. Each of the six preferences is 1 if the sentence named first scores above the second; a
    preference between two true sentences, or two false ones, is a bias but not an error.

    Tied sentences can be ranked in several orders. A property of the ranking counts 1 under ``strict`` if it holds in
    all of these orders, and under ``credit`` if it holds in any of them. Under ``half`` it counts the share of orders
    in which it holds, which is the mean of breaking ties at random. So under ``strict`` a tie between a true and a
    false sentence makes a set neither right nor an error, and a constant model has 0 everywhere. If no scores tie, and
    always under ``half``, ``sen_acc == 0.5 + (set_acc - set_error) / 2``.

    Args:
        scores: shape (n, 4), the scores of true_1, true_2, false_1 and false_2.
        names: the names of the metrics, as in ``METRICS``.
        ties: what an exact tie counts.

    Returns: values by name, each of shape (n,), in 0..1; ``tied`` is 1 if a true and a false sentence tie.
    Raises: ValueError if a score is NaN.
    """
    preferred = [wins(scores[:, first], scores[:, second], ties) for first, second in _PAIRS]
    above, over_orders = _above(scores), _OVER_ORDERS[ties]
    in_place = np.where([True, True, False, False], above, 1.0 - above)
    ranked = (
        over_orders(in_place, axis=0).mean(axis=1),
        over_orders(above[:, :, :2].min(axis=2), axis=0),
        over_orders(above[:, :, 2:].min(axis=2), axis=0),
    )
    found = dict(zip(names, (*ranked, *preferred), strict=True))
    return {**found, "tied": (scores[:, :2, None] == scores[:, None, 2:]).any(axis=(1, 2)).astype(np.float64)}


def compared(shape: Shape, preference: str) -> tuple[int, int]:
    """Return the positions of the two sentences that a preference compares.

    >>> compared("set", "tp1_tp2")
    (0, 1)
    """
    return _PAIRS[PREFERENCES[shape].index(preference)]


def _above(scores: FloatArray) -> FloatArray:
    """Whether each sentence is in the upper half, as 1.0 or 0.0, for each order in which ties can be broken.

    The shape is (24, n, 4): the 24 orders of four sentences break any tie in every way equally often.
    """
    orders = np.array(list(permutations(range(4))))
    earlier = orders[:, None, None, :] < orders[:, None, :, None]
    higher = scores[:, None, :] > scores[:, :, None]
    level = scores[:, None, :] == scores[:, :, None]
    better = higher[None] | (level[None] & earlier)
    return np.asarray(better.sum(axis=3) < 2, dtype=np.float64)
