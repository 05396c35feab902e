"""Metrics over groups of cases: a case's tag of the metric's name names its group.

``pair_all`` and ``set_all`` are the shares of groups whose cases are all right (Kamath et al. 2023, What'sUp).
``macro`` and ``macro_all`` are means over groups of the share of right cases (Yuksekgonul et al. 2023, ARO); some
releases leave groups out of the first, which the second keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Macro, Measure, Values
from vlgate.types import FloatArray

GROUPED: Mapping[str, Literal["all", "mean"]] = MappingProxyType(
    {"pair_all": "all", "set_all": "all", "macro": "mean", "macro_all": "mean"}
)
"""What becomes of a group's cases, by metric: are all right, or how large is the share of right ones?"""


def group_codes(tags: Sequence[Mapping[str, str]]) -> dict[str, NDArray[np.int64]]:
    """Return the number of each case's group by metric, shape (n,); -1 for a case that is in no group.

    A metric is absent if no case has a tag of its name. A tag may begin with the size of the group, as in "4 of cup and
    table": a group of which fewer cases are here is none, if all of them must be right.

    >>> group_codes([{"macro": "on"}, {}, {"macro": "under"}])["macro"].tolist()
    [0, -1, 1]
    """
    named = {name for one in {id(tag): tag for tag in tags}.values() for name in one if name in GROUPED}
    found = {}
    for name in sorted(named):
        numbers: dict[str, int] = {}
        given = [tag.get(name) for tag in tags]
        there = Counter(given)
        whole = {one: GROUPED[name] == "mean" or there[one] >= _size(one) for one in there if one is not None}
        codes = [-1 if one is None or not whole[one] else numbers.setdefault(one, len(numbers)) for one in given]
        found[name] = np.array(codes, dtype=np.int64)
    return found


def _size(group: str) -> int:
    """How many cases a group has, if its name says so; 1 otherwise."""
    number, said, _ = group.partition(" of ")
    return int(number) if said and number.isdecimal() else 1


def measure(name: str, values: FloatArray, codes: NDArray[np.int64]) -> Measure | None:
    """Return a metric over groups.

    Args:
        name: its name, a key of ``GROUPED``.
        values: shape (n,), whether each case is right, in 0..1; NaN for a case that does not count.
        codes: shape (n,), the numbers of the groups; -1 for a case that is in none.

    Returns: the measure; None if no case counts. The shares of groups whose cases are all right leave out groups with a
        case that does not count or is not there.
    """
    known = np.isfinite(values)
    if GROUPED[name] == "mean":
        rows = np.flatnonzero(known & (codes >= 0))
        return Macro(values=values[rows], classes=codes[rows], rows=rows) if rows.size else None
    broken = set(codes[~known].tolist())
    rows = np.array([row for row, code in enumerate(codes.tolist()) if code >= 0 and code not in broken], dtype=np.intp)
    if not rows.size:
        return None
    order = rows[np.argsort(codes[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    return Values(values=np.minimum.reduceat(values[order], starts), rows=order[starts], sets=codes)
