"""What a perturbation of a caption gives: candidates with their reasons, and reasons why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Foil:
    """A caption and its foil, which is false of the caption's image.

    ``classes`` are what differs, the caption's and the foil's, as in VALSE's ``classes`` and ``classes_foil`` ("on",
    "under"). ``why`` says in a sentence how the foil was made and why it is false. ``tags`` are slices of the metrics,
    such as {"direction": "sg2pl"}.
    """

    caption: str
    foil: str
    classes: tuple[str, str]
    why: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSet:
    """Two true and two false sentences about one image, as in BLA, each two in the release's order."""

    true: tuple[str, str]
    false: tuple[str, str]
    why: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """Two captions of the same words in another order, as in Winoground: the first is true of the first image."""

    images: tuple[str, str]
    captions: tuple[str, str]
    why: str
    tags: Mapping[str, str] = field(default_factory=dict)


Candidate = Foil | SentenceSet | Swap


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The candidates made from one input, and a short reason for each part of it that gave none.

    Reasons are constant texts ("no noun phrase", "the noun has no plural"), so that they can be counted.
    """

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[str, ...] = ()
