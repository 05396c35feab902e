"""The relations of a corpus that a phrase can have, drawn by their wording and by whether they say left or right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import lru_cache
from random import Random

from vlgate.perturb.ontology import Reading
from vlgate.perturb.questions.chance import Weighted, pick
from vlgate.perturb.questions.corpus import View
from vlgate.perturb.questions.phrases import NounPhrase

Link = tuple[Reading, int]


def sideways(text: str) -> bool:
    """Whether a relation says left or right."""
    return "left" in text or "right" in text


class Links:
    """All relations with a wording, by wording."""

    def __init__(self, views: Sequence[View], power: float, odd: Collection[str] = ()) -> None:
        """Index them; a wording is drawn in proportion to its number to the ``power``.

        Those that are ``odd`` are never drawn if only one graph has them: what it shows is expected in no other image.
        """
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

    def draw(self, chance: Random, side: bool | None) -> tuple[View, int, Link] | None:
        """Draw a relation: to the left or right if ``side``, another one if it is False, any if it is None."""
        texts = self._texts[side]
        return pick(chance, self._places[texts.draw(chance)]) if texts else None


def of_side(links: Sequence[Link], side: bool | None) -> tuple[Link, ...]:
    """Those to the left or right if ``side``, the others if it is False, all if it is None."""
    return tuple(link for link in links if side is None or sideways(link[0].text) == side)


@lru_cache(maxsize=1 << 14)
def joined(phrase: NounPhrase, reading: Reading, other: NounPhrase) -> NounPhrase:
    """Return ``phrase`` with its relation to ``other``: "cup", "on" and "table" make "cup on the table"."""
    return NounPhrase(phrase.noun, phrase.number, phrase.attributes, reading.text, other, reading.that)
