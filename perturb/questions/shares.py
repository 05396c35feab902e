"""How often a question has which form: the shares of CARETS' release by default, or everything equally often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

Distribution = Literal["release", "uniform"]

BLACK_WHITE = frozenset(("black", "white"))
_NONE: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The distribution of what is asked.

    ``three`` is the share of choice questions with three choices, ``one`` and ``two`` those of phrases with one
    attribute and with two. ``sideways`` is the share of relations of left and right, by the kind of question; a kind
    that is not in it has as many as the graphs. ``categories`` are the shares of the categories of attribute and action
    choices; if there are none, categories are equally frequent as far as the graphs have them. ``black_white`` is the
    share of this pair among antonyms, None for as many as of every other pair. ``power`` is applied to the number of
    times that the graphs have a relation or an antonym: 0 makes all equally frequent, 1 as frequent as in the graphs.
    """

    three: float
    one: float
    two: float
    sideways: Mapping[str, float] = field(default_factory=lambda: _NONE)
    categories: Mapping[str, float] = field(default_factory=lambda: _NONE)
    black_white: float | None = None
    power: float = 0.0


RELEASE = Shares(
    three=0.49,
    one=0.38,
    two=0.05,
    sideways=MappingProxyType(
        {
            "object-related": 0.115,
            "attribute-related": 0.587,
            "object-choice-related": 0.436,
            "attribute-choice-related": 0.587,
            "action-choice-related": 0.25,
        }
    ),
    categories=MappingProxyType(
        {
            "color": 0.676,
            "material": 0.220,
            "mood": 0.036,
            "pattern": 0.033,
            "hair color": 0.017,
            "length": 0.009,
            "flavor": 0.005,
            "style": 0.002,
            "fit": 0.002,
            "pose": 0.468,
            "activity": 0.358,
            "sport": 0.174,
        }
    ),
    black_white=0.56,
    power=0.25,
)
"""Counted in the released questions of CARETS (Jimenez et al. 2022) that are not perturbed."""
UNIFORM = Shares(three=0.5, one=0.45, two=0.05)
"""Every relation, antonym, category and answer equally often, as far as the graphs have them."""

SHARES: Mapping[Distribution, Shares] = MappingProxyType({"release": RELEASE, "uniform": UNIFORM})
"""The distributions by name."""
