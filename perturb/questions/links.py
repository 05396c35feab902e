"""The relations of a corpus that a phrase can have, drawn by their wording and by whether they say left or right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from random import Random

from vlgate.perturb.ontology import Reading
from vlgate.perturb.questions.chance import Weighted, pick
from vlgate.perturb.questions.corpus import View

Link = tuple[Reading, int]


def sideways(text: str) -> bool:
    """Whether a relation says left or right."""
    return "left" in text or "right" in text


class Links:
    """All relations with a wording, by wording."""

    def __init__(self, views: Sequence[View], power: float, least: int = 1) -> None:
        """Index them; a wording is drawn in proportion to its number to the ``power``.

        Those that fewer than ``least`` graphs have are never drawn: what one image shows is expected in no other.
        """
        self._places: dict[str, list[tuple[View, int, Link]]] = defaultdict(list)
        for view in views:
            for number, links in view.links.items():
                for link in links:
                    self._places[link[0].text].append((view, number, link))
        graphs = {text: len({id(view) for view, _, _ in places}) for text, places in self._places.items()}
        counts = {text: len(places) ** power for text, places in self._places.items() if graphs[text] >= least}
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
