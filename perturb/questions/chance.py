"""Seeded random choices, and the relations of a corpus, drawn by wording and side."""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from random import Random
from typing import Any, TypeVar

from vlgate.perturb.ontology import Reading
from vlgate.perturb.questions.drafts import NounPhrase, View

T = TypeVar("T")


def pick(chance: Random, things: Sequence[T]) -> T:
    """Choose one of ``things`` with equal probability."""
    return things[int(chance.random() * len(things))]


class Weighted:
    """Words that are drawn in proportion to their weights."""

    __slots__ = ("_sums", "words")

    def __init__(self, weights: Mapping[str, float]) -> None:
        self.words = tuple(sorted(word for word, weight in weights.items() if weight > 0))
        self._sums = tuple(accumulate(weights[word] for word in self.words))

    def __bool__(self) -> bool:
        return bool(self.words)

    def kept(self, keeps: Callable[[str], bool]) -> Weighted:
        sums = (0.0, *self._sums)
        return Weighted({word: sums[at + 1] - sums[at] for at, word in enumerate(self.words) if keeps(word)})

    def draw(self, chance: Random) -> str:
        sums = self._sums
        return self.words[bisect(sums, chance.random() * sums[-1])]


def drawn(chance: Random, things: Sequence[T], weights: Sequence[float]) -> T:
    """Choose one of ``things`` in proportion to ``weights``, which must be above 0."""
    sums = list(accumulate(weights))
    return things[bisect(sums, chance.random() * sums[-1])]


Link = tuple[Reading, int]
AMONG = 3  # wordings of relations that are drawn for one question, so that the rare ones are asked about too


def sideways(text: str) -> bool:
    """Whether a relation says left or right."""
    return "left" in text or "right" in text


class Links:
    """All relations with a wording, by wording."""

    def __init__(self, views: Sequence[View], power: float, odd: Collection[str] = ()) -> None:
        # Those that are ``odd`` are never drawn if only one graph has them: what it shows is expected in no other
        # image.
        self._places: dict[str, list[tuple[View, int, Link]]] = defaultdict(list)
        for view in views:
            for number, links in view.links.items():
                for link in links:
                    self._places[link[0].text].append((view, number, link))
        graphs = {text: len({id(view) for view, _, _ in places}) for text, places in self._places.items()}
        usual = [text for text in self._places if text not in odd or graphs[text] > 1]
        counts = {text: len(self._places[text]) ** power for text in usual}
        self._texts = {
            side: Weighted({text: weight for text, weight in counts.items() if side is None or sideways(text) == side})
            for side in (None, False, True)
        }

    def draw(self, chance: Random, side: bool | None, drawn: Counter[str]) -> tuple[View, int, Link] | None:
        """Draw a relation: to the left or right if ``side``, another one if it is False, any if it is None."""
        # ``drawn`` counts the draws of each wording, see `seldom`.
        texts = self._texts[side]
        if not texts:
            return None
        return pick(chance, self._places[seldom(chance, texts, drawn)])


def seldom(chance: Random, texts: Weighted, drawn: Counter[str]) -> str:
    """Draw ``AMONG`` wordings, return the one that was ``drawn`` least, and count it there."""
    text = min((texts.draw(chance) for _ in range(AMONG)), key=drawn.__getitem__)
    drawn[text] += 1
    return text


def of_side(links: Sequence[Link], side: bool | None) -> tuple[Link, ...]:
    """Those to the left or right if ``side``, the others if it is False, all if it is None."""
    return tuple(link for link in links if side is None or sideways(link[0].text) == side)


@lru_cache(maxsize=1 << 14)
def joined(phrase: NounPhrase, reading: Reading, other: NounPhrase) -> NounPhrase:
    """Return ``phrase`` with its relation to ``other``: "cup", "on" and "table" make "cup on the table"."""
    return NounPhrase(phrase.noun, phrase.number, phrase.attributes, reading.text, other, reading.that)


class Ways:
    """Draws a thing and a way to ask about it, and perhaps one of its relations.

    Its methods call ``ways`` once for each thing and keep the results under the name ``what``.
    """

    def __init__(self, views: Sequence[View], power: float) -> None:
        self._views = views
        self._power = power
        self._found: dict[str, tuple[tuple[View, int, tuple[Any, ...]], ...]] = {}
        self._linked: dict[str, tuple[Weighted, dict[str, list[tuple[View, int, Link, tuple[Any, ...]]]]]] = {}

    def draw(self, chance: Random, what: str, ways: Callable[[View, int], Sequence[T]]) -> tuple[View, int, T] | None:
        if what not in self._found:
            every = ((view, number) for view in self._views for number in view.askable)
            found = ((view, number, tuple(ways(view, number))) for view, number in every)
            self._found[what] = tuple(place for place in found if place[2])
        places = self._found[what]
        if not places:
            return None
        view, number, offered = pick(chance, places)
        return view, number, pick(chance, offered)

    def along(
        self,
        chance: Random,
        what: str,
        side: bool | None,
        ways: Callable[[View, int], Sequence[T]],
        drawn: Counter[str],
    ) -> tuple[View, int, Link, T] | None:
        """Draw a relation that tells a thing apart by its wording, and a way to ask about that thing."""
        # ``side`` is as for `of_side`, ``drawn`` as for `seldom`.
        name = f"{what}, {side=}"
        if name not in self._linked:
            self._linked[name] = self._by_wording(side, ways)
        texts, places = self._linked[name]
        if not texts:
            return None
        view, number, link, offered = pick(chance, places[seldom(chance, texts, drawn)])
        return view, number, link, pick(chance, offered)

    def _by_wording(
        self, side: bool | None, ways: Callable[[View, int], Sequence[T]]
    ) -> tuple[Weighted, dict[str, list[tuple[View, int, Link, tuple[Any, ...]]]]]:
        places: dict[str, list[tuple[View, int, Link, tuple[Any, ...]]]] = defaultdict(list)
        for view in self._views:
            for number, links in view.marks.items():
                kept = of_side(links, side)
                offered = tuple(ways(view, number)) if kept else ()
                for link in kept if offered else ():
                    places[link[0].text].append((view, number, link, offered))
        return Weighted({text: len(found) ** self._power for text, found in places.items()}), places
