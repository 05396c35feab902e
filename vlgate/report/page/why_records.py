"""The records of the section that says why cases were missed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """A picture with the method that drew it, and how often that method is true, one sentence per measured model."""

    source: str
    method: str
    about: str
    rates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """An explained case: the sentence, the maps of interventions, those of attention, and the effects of words.

    ``anchor`` is empty if the page does not show the case itself.
    """

    task: str
    case: str
    anchor: str
    texts: tuple[str, ...]
    says: str
    maps: tuple[Map, ...]
    attention: tuple[Map, ...]
    words: tuple[tuple[str, str, float, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whys:
    """The explained cases of a page, of ``all`` that the folder has, and what is to know about attention."""

    shown: tuple[Why, ...] = ()
    all: int = 0
    attention: str = ""
