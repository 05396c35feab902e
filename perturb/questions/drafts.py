"""A question before it is put into words: what is asked of which picture, and the right answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vlgate.perturb.questions.corpus import View
from vlgate.perturb.questions.phrases import NounPhrase

Kind = Literal[
    "object",
    "object-related",
    "conjunction",
    "disjunction",
    "attribute",
    "attribute-related",
    "object-choice-described",
    "object-choice-related",
    "attribute-choice",
    "attribute-choice-related",
    "action-choice",
    "action-choice-related",
]
"""The seven question types of CARETS (section 4.1), those of one object apart by how it is told from others."""

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Draft:
    """One question in the making.

    ``x`` and ``y`` are what it asks about. ``attribute`` is asked of ``x`` where one is; the choices, and the category
    that they are of, where it offers any, the right one first. ``objects`` are the ids of the graph's objects that the
    nouns stand for in the order of the text, None for what is not in the picture. ``opposite`` is what the perturbed
    question asks in place of ``attribute``, ``instead`` in place of ``x``. ``counterpart`` is the picture of
    which the same question has the other answer, where that is yes or no.
    """

    kind: Kind
    view: View
    answer: str
    x: NounPhrase
    objects: tuple[str | None, ...]
    y: NounPhrase | None = None
    attribute: str = ""
    category: str = ""
    choices: tuple[str, ...] = ()
    opposite: str = ""
    instead: NounPhrase | None = None
    counterpart: View | None = None

    @property
    def binary(self) -> bool:
        """Whether the answer is yes or no."""
        return not self.choices

    @property
    def keys(self) -> tuple[object, ...]:
        """What tells the question from others, whatever its words; of the picture with the other answer too."""
        asked = self.kind, self.x, self.y, self.attribute, frozenset(self.choices)
        views = (self.view,) if self.counterpart is None else (self.view, self.counterpart)
        return tuple((view.graph.id, asked) for view in views)

    def offering(self, choices: tuple[str, ...]) -> Draft:
        """Return the draft with its choices in another order; much quicker than ``dataclasses.replace``."""
        return Draft(
            self.kind, self.view, self.answer, self.x, self.objects, self.y, self.attribute, self.category, choices
        )
