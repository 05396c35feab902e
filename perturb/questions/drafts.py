"""Questions as data: noun phrases, views of a graph, drafts with their answers, and pairs in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from vlgate.perturb.ontology import Number, Reading
from vlgate.perturb.question_tests import Test
from vlgate.perturb.scene_graph import Box, SceneGraph, SceneObject
from vlgate.perturb.text.grammar import with_article

NUMBERS: tuple[Number, ...] = get_args(Number)


class Wording(NamedTuple):
    """The forms of one phrase, named like the slots of a template."""

    bare: str  # without a determiner: "red cup on the table"
    a: str  # in a statement or as a choice: "a cow", "cows", "grass"
    any: str  # in a question: "a cow", "any cows", "any grass"
    no: str  # negated: "no cow", "no cows", "no grass"
    the: str  # with the definite article: "the red cup on the table"
    kind: str  # without the relation: "red cup"
    where: str  # the relation: "on the table"; empty if there is none


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with the attributes before it and the relation behind it; its wordings are made once."""

    noun: str  # the word itself ("cup", "trees", "traffic light")
    number: Number  # of verbs and articles
    attributes: tuple[str, ...] = ()  # in the order of the text
    relation: str = ""  # comes with ``other``, which is definite
    other: NounPhrase | None = None
    that: bool = False  # whether the relation may also stand in a clause ("the cup that is on the table")
    plain: Wording = field(init=False, repr=False, compare=False)
    clause: Wording = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.noun:
            raise ValueError(f"noun={self.noun!r}: expected a word; leave out objects that have no name")
        if self.number not in NUMBERS:
            raise ValueError(f"number={self.number!r}: expected one of {', '.join(NUMBERS)}; look the noun up first")
        if bool(self.relation) != (self.other is not None):
            raise ValueError(f"relation={self.relation!r}, other={self.other!r}: expected both or neither")
        kind = " ".join((*self.attributes, self.noun))
        where = "" if self.other is None else f"{self.relation} {self.other.plain.the}"
        plain = _wording(kind, where, "", self.number)
        verb = "that are " if self.number == "plural" else "that is "
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "clause", _wording(kind, where, verb, self.number) if where else plain)


def _wording(kind: str, where: str, verb: str, number: Number) -> Wording:
    bare = f"{kind} {verb}{where}" if where else kind
    one = number == "singular"
    a = with_article(bare) if one else bare
    return Wording(
        bare=bare, a=a, any=a if one else f"any {bare}", no=f"no {bare}", the=f"the {bare}", kind=kind, where=where
    )


class Masks(NamedTuple):
    """Sets of names, as bits (``Corpus.bits``)."""

    possible: int  # what something might be called
    certain: int  # what it is
    own: int  # what it may have unannotated
    beside: int  # the same, with its wholes and what these may have


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ObjectView:
    """An object with what the ontology says about it, if the name is ``known``."""

    object: SceneObject
    known: bool
    askable: bool
    number: Number
    masks: Masks
    adjectives: tuple[str, ...]  # what can stand before its name

    @property
    def name(self) -> str:
        return self.object.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """A graph whose objects are looked up in the ontology."""

    graph: SceneGraph
    things: tuple[ObjectView, ...]
    askable: tuple[int, ...]
    # Relations with a wording, by the object that has them: the wording, the other
    links: Mapping[int, tuple[tuple[Reading, int], ...]]
    marks: Mapping[int, tuple[tuple[Reading, int], ...]]  # those that tell the object apart
    names: tuple[str, ...]
    might: int  # every name that could be true of something in the image, as bits
    named: int  # those of what is annotated itself
    shown: int  # what it is, by name and class


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
    """A question before it is put into words."""

    kind: Kind
    view: View
    answer: str
    x: NounPhrase  # what it asks about
    # The ids of the graph's objects that the nouns stand for, in order, None for what is not shown
    objects: tuple[str | None, ...]
    y: NounPhrase | None = None  # the second thing it asks about
    attribute: str = ""  # the attribute of ``x`` that it asks about, if any
    category: str = ""  # of the choices
    choices: tuple[str, ...] = ()  # what it offers, if anything, the right one first
    opposite: str = ""  # instead of ``attribute`` in the perturbed question
    instead: NounPhrase | None = None  # instead of ``x`` in the perturbed question
    counterpart: View | None = None  # an image for which the same yes/no question has the other answer
    # What the answer may be learned for, if not the nouns, and how often each may be asked
    rare: tuple[tuple[str, int], ...] = ()
    mate: Draft | None = None  # the draft about the things that the perturbed image hides in turn

    @property
    def binary(self) -> bool:
        """Whether the answer is yes or no."""
        return not self.choices

    @property
    def nouns(self) -> tuple[str, ...]:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the words of a question stand for: its noun phrases, the attribute asked about, the class of its choices.

    ``x`` is the first phrase, ``y`` the second operand of a conjunction or disjunction. ``attribute`` is "" and
    ``category`` is "" if the question has none.
    """

    x: NounPhrase
    y: NounPhrase | None = None
    attribute: str = ""
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPair:
    """Two questions about one image, or one question about an image and its perturbed form.

    ``questions``, ``choices`` and ``answers`` are those of the original and of the perturbed form. ``perturbation`` is
    the perturbation of the second image, or of the first if ``reverse``, and "" if the image is not perturbed.
    ``foreground`` are the boxes that it keeps or covers, in the graph's pixels; empty if it needs none. ``instead`` are
    the boxes that it covers in the other image; empty if that is as it was.

    ``rule`` says how the second question was made from the first. ``objects`` are the ids of the graph's objects that
    the nouns of the first question stand for, in the order of the text, with None for what is not in the image.
    ``asked`` is what the words of both questions stand for.
    ``tags`` are the slices that the paper reports (Tables 2 to 4, 18).
    """

    id: str
    test: Test
    kind: Kind
    graph: SceneGraph
    questions: tuple[str, str]
    choices: tuple[tuple[str, ...], tuple[str, ...]]
    answers: tuple[str, str]
    rule: str
    objects: tuple[str | None, ...]
    asked: tuple[Asked, Asked]
    tags: Mapping[str, str]
    perturbation: str = ""
    foreground: tuple[Box, ...] = ()
    instead: tuple[Box, ...] = ()
    reverse: bool = False
