"""Drafts of questions: what is asked about which image, and the right answer, before it is put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.questions.views import View

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
"""The seven question types of CARETS (section 4.1); those about one object are divided by how it is described."""

YES_NO = ("yes", "no")


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before it is put into words.

    ``x`` and ``y`` are what it asks about, and ``attribute`` is the attribute of ``x`` that it asks about, if any.
    ``choices`` are what it offers, if anything, the right one first, and ``category`` is their category. ``objects``
    are the ids of the graph's objects that the nouns stand for, in the order of the text, with None for what is not in
    the image. The perturbed question has ``opposite`` instead of ``attribute``, and ``instead`` instead of ``x``.
    ``counterpart`` is an image for which the same yes/no question has the other answer. ``rare`` are what the answer
    may be learned for, if it is not the nouns, and how often each may be asked about in a test. ``mate`` is the draft
    about the things that the perturbed image hides in turn, which is made together with this one: of the two images,
    each hides the things of one of them.
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
    rare: tuple[tuple[str, int], ...] = ()
    mate: Draft | None = None

    @property
    def binary(self) -> bool:
        """Whether the answer is yes or no."""
        return not self.choices

    @property
    def nouns(self) -> tuple[str, ...]:
        """The nouns whose presence decides the answer, if that is what is asked."""
        mine = dict.fromkeys(one.noun for one in (self.x, self.y, self.instead) if one is not None)
        return tuple(mine) if self.mate is None else (*mine, self.mate.x.noun)

    @property
    def keys(self) -> tuple[object, ...]:
        """What makes the question distinct, whatever its wording; for the image with the other answer too."""
        asked = self.kind, self.x, self.y, self.attribute, frozenset(self.choices)
        views = (self.view,) if self.counterpart is None else (self.view, self.counterpart)
        mine = tuple((view.graph.id, asked) for view in views)
        return mine if self.mate is None else (*mine, *self.mate.keys)

    def offering(self, choices: tuple[str, ...]) -> Draft:
        """Return the draft with its choices in another order; much faster than ``dataclasses.replace``."""
        return Draft(
            self.kind, self.view, self.answer, self.x, self.objects, self.y, self.attribute, self.category, choices
        )
