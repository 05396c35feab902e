"""Noun phrases of questions: a noun with its attributes, and perhaps a relation to another one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from vlgate.perturb.grammar import with_article

Number = Literal["singular", "plural", "mass"]

NUMBERS: tuple[Number, ...] = get_args(Number)


class Wording(NamedTuple):
    """The forms of one phrase, named like the slots of a template."""

    bare: str
    """Without a determiner: "red cup on the table"."""
    a: str
    """In a statement or as a choice: "a cow", "cows", "grass"."""
    any: str
    """In a question: "a cow", "any cows", "any grass"."""
    no: str
    """Negated: "no cow", "no cows", "no grass"."""
    the: str
    """With the definite article: "the red cup on the table"."""
    kind: str
    """Without the relation: "red cup"."""
    where: str
    """The relation: "on the table"; empty if there is none."""


@dataclass(frozen=True, slots=True)
class NounPhrase:
    """A noun with the attributes before it and the relation behind it.

    ``noun`` is the word itself ("cup", "trees", "traffic light"), and verbs and articles agree with ``number``.
    ``attributes`` are in the order of the text. ``relation`` and ``other`` come together ("on" and the table), and the
    other one is definite. ``that`` says that the relation may also stand in a clause ("the cup that is on the table").
    The wordings ``plain`` and ``clause`` are made once, with the phrase.

    Raises: ValueError for an empty noun, an unknown number, or only one of ``relation`` and ``other``.

    >>> cup = NounPhrase("cup", "singular", ("red",), "on", NounPhrase("table", "singular"), that=True)
    >>> cup.indefinite, cup.definite
    ('a red cup on the table', 'the red cup on the table')
    >>> cup.clause.bare
    'red cup that is on the table'
    >>> NounPhrase("grass", "mass").indefinite, NounPhrase("cows", "plural").choice
    ('any grass', 'cows')
    """

    noun: str
    number: Number
    attributes: tuple[str, ...] = ()
    relation: str = ""
    other: NounPhrase | None = None
    that: bool = False
    plain: Wording = field(init=False, repr=False, compare=False)
    clause: Wording = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the phrase and make its wordings.

        Raises: ValueError as described for the class.
        """
        _check(self)
        kind = " ".join((*self.attributes, self.noun))
        where = "" if self.other is None else f"{self.relation} {self.other.plain.the}"
        plain = _wording(kind, where, "", self.number)
        verb = "that are " if self.number == "plural" else "that is "
        object.__setattr__(self, "plain", plain)
        object.__setattr__(self, "clause", _wording(kind, where, verb, self.number) if where else plain)

    @property
    def bare(self) -> str:
        """Without a determiner: "red cup on the table"."""
        return self.plain.bare

    @property
    def indefinite(self) -> str:
        """With an indefinite determiner, in a question: "a red cup", "any red cups", "any grass"."""
        return self.plain.any

    @property
    def definite(self) -> str:
        """With the definite article: "the red cup on the table"."""
        return self.plain.the

    @property
    def choice(self) -> str:
        """As one of several choices: "a cow", "cows", "grass"."""
        return self.plain.a


def _check(phrase: NounPhrase) -> None:
    if not phrase.noun:
        raise ValueError(f"noun={phrase.noun!r}: expected a word; leave out objects that have no name")
    if phrase.number not in NUMBERS:
        raise ValueError(f"number={phrase.number!r}: expected one of {', '.join(NUMBERS)}; look the noun up first")
    if bool(phrase.relation) != (phrase.other is not None):
        raise ValueError(f"relation={phrase.relation!r}, other={phrase.other!r}: expected both or neither")


def _wording(kind: str, where: str, verb: str, number: Number) -> Wording:
    bare = f"{kind} {verb}{where}" if where else kind
    one = number == "singular"
    a = with_article(bare) if one else bare
    return Wording(
        bare=bare,
        a=a,
        any=a if one else f"any {bare}",
        no=f"no {bare}",
        the=f"the {bare}",
        kind=kind,
        where=where,
    )
