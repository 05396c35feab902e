"""The number of pairs of each kind in a test: the paper's proportions, at any size."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vlgate.perturb.question_tests import Test
from vlgate.perturb.questions.drafts import Kind

_OBJECTS: Mapping[Kind, int] = {"object": 2500, "object-related": 2500}
_JOINED: Mapping[Kind, int] = {"conjunction": 2500, "disjunction": 2500}
_ATTRIBUTES: Mapping[Kind, int] = {"attribute": 2500, "attribute-related": 2500}
# 248, 2,250 and 1,664 are from the released files. The other three are not printed one by one; they are the rest of the
# 9,412 choice questions of Table 6.
_CHOICES: Mapping[Kind, int] = {
    "object-choice-described": 2500,
    "object-choice-related": 2500,
    "attribute-choice": 1664,
    "attribute-choice-related": 2250,
    "action-choice": 248,
    "action-choice-related": 250,
}
# 18,000 of the 26,272 questions are binary and 8,272 offer choices (Table 6); the number of each type is not printed.
_SEEN_BINARY: Mapping[Kind, int] = dict.fromkeys((*_OBJECTS, *_JOINED, *_ATTRIBUTES), 3000)
_SEEN_CHOICES: Mapping[Kind, int] = {
    "object-choice-described": 2197,
    "object-choice-related": 2197,
    "attribute-choice": 1462,
    "attribute-choice-related": 1977,
    "action-choice": 219,
    "action-choice-related": 220,
}

MAKEUP: Mapping[Test, Mapping[Kind, int]] = MappingProxyType(
    {
        "rephrase-inv": {**_OBJECTS, **_JOINED, **_CHOICES},
        "order-inv": {**_JOINED, **_CHOICES},
        "ontological-inv": {"object": 13952},
        "visual-inv": {**_SEEN_BINARY, **_SEEN_CHOICES},
        "negation-dir": {**_OBJECTS, **_JOINED},
        "antonym-dir": dict(_ATTRIBUTES),
        "mirror-inv": {"object-related": 2500, "object-choice-related": 2500, "attribute-choice-related": 2250},
        "occlusion-dir": {"object": 2500},
    },
)
"""The questions of each kind in each test (CARETS, section 4.2 and Table 6; the last two are not the paper's)."""


def makeup(test: Test, size: int | None = None) -> dict[Kind, int]:
    """Divide ``size`` questions among the kinds of a test in the paper's proportions, or return the paper's numbers.

    The largest remainders are rounded up, and every kind gets at least one question if there are enough.

    Returns: the number of each kind; they sum to ``size``.
    Raises: ValueError if ``size`` is below 1.

    >>> makeup("antonym-dir", 7)
    {'attribute': 4, 'attribute-related': 3}
    """
    whole = MAKEUP[test]
    if size is None:
        return dict(whole)
    if size < 1:
        raise ValueError(f"size={size!r}: expected at least 1 question, or None for the paper's own number")
    least = 1 if size >= len(whole) else 0
    total, free = sum(whole.values()), size - least * len(whole)
    exact = {kind: free * count / total for kind, count in whole.items()}
    shares = {kind: least + int(share) for kind, share in exact.items()}
    by_remainder = sorted(whole, key=lambda kind: int(exact[kind]) - exact[kind])  # stable: ties in the paper's order
    for kind in by_remainder[: size - sum(shares.values())]:
        shares[kind] += 1
    return shares
