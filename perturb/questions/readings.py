"""Read a question with the templates: which of them could have made the text, and from which arguments.

There may be several readings: to the templates, "Is the red cup large?" might ask whether the red is cup large.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

from vlgate.perturb.grammar import with_article
from vlgate.perturb.inflection import may_be_plural
from vlgate.perturb.questions.phrases import NUMBERS, NounPhrase, Number
from vlgate.perturb.questions.templates.asking import ask
from vlgate.perturb.questions.templates.templates import TEMPLATES, QuestionType, Template

_WORDS = re.compile(r"\{[^}]*\}|[\w'-]+|[^\w\s]")
_FORMS = {"{Is}": {"Is", "Are"}, "{is}": {"is", "are"}, "{Does}": {"Does", "Do"}, "{does}": {"does", "do"}}
_DETERMINERS = {
    "any": {"a", "an", "any"},
    "a": {"a", "an"},
    "no": {"no"},
    "the": {"the"},
}
# Words that are not part of a noun phrase: they belong to the template, or to a second phrase.
_NO_PHRASE = frozenset(
    ("a", "an", "and", "any", "both", "either", "made", "neither", "no", "nor", "not", "or", "there")
)
_CLAUSE = frozenset(("that", "the", "which", "who"))
_CHOICES = {"{choices}", "{said}"}
# A phrase with one of these is related to another one, and only some templates keep their meaning around it.
_RELATED = re.compile(
    r"\b(?:at|behind|below|by|for|from|in|into|near|of|on|over|than|that|the|to|under|which|who|with)\b"
)
_MOST_CHOICES = 4

_Slots = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionReading:
    """A reading of a text: the type, the phrases without determiners, and the other slots."""

    type: QuestionType
    negated: bool
    x: tuple[str, Number]
    y: tuple[str, Number] | None
    attribute: str
    category: str
    choices: tuple[str, ...]

    @property
    def is_related(self) -> bool:
        """Whether a phrase is related to another one, so that only some templates keep their meaning around it."""
        return any(_RELATED.search(phrase) for phrase, _ in (self.x, self.y or self.x))


def readings(text: str, choices: Sequence[str]) -> list[QuestionReading]:
    """Return all readings by the templates that match most of the words; ``choices`` are what the question offers."""
    words = tuple(_WORDS.findall(text))
    found: dict[QuestionReading, int] = {}
    for template, negated, pattern in _patterns():
        fixed = sum(word not in _CHOICES and "." not in word and word[0] != "{" for word in pattern)
        for slots in _fill(pattern, words):
            for reading in _of(template, slots, choices, negated=negated):
                if said(template, reading) == text:
                    found[reading] = max(fixed, found.get(reading, 0))
    most = max(found.values(), default=0)
    kept = [reading for reading, fixed in found.items() if fixed == most]
    kept = [reading for reading in kept if reading.type == _likely(reading.choices)] or kept
    return [reading for reading in kept if _may_be(reading.x) and _may_be(reading.y or reading.x)] or kept


def said(template: Template, reading: QuestionReading) -> str:
    """Return the question that ``template`` makes from a reading."""
    y = None if reading.y is None else NounPhrase(*reading.y)
    return ask(
        template,
        NounPhrase(*reading.x),
        y,
        attribute=reading.attribute,
        category=reading.category,
        choices=reading.choices,
        negated=reading.negated,
    )


def _may_be(phrase: tuple[str, Number]) -> bool:
    """Whether a phrase may have its number: a plural has a word that ends like one ("is" does not count)."""
    bare, number = phrase
    return number != "plural" or any(len(word) > 2 and may_be_plural(word) for word in bare.split())


def _likely(choices: Sequence[str]) -> str:
    """The type of a question that three types word alike: "is the man a cook or a waiter", "... tall or short"."""
    if any(choice.split()[0].lower() in _DETERMINERS["a"] for choice in choices):
        return "object-choice"
    return "action-choice" if all(choice.endswith("ing") for choice in choices) else "attribute-choice"


@cache  # two patterns per template
def _patterns() -> tuple[tuple[Template, bool, tuple[str, ...]], ...]:
    templates = [template for of_type in TEMPLATES.values() for template in of_type]
    texts = [(template, False, template.text) for template in templates]
    texts += [(template, True, template.negated) for template in templates if template.negated]
    # A template with only the class or only the relation does not contain the whole phrase.
    usable = [row for row in texts if "{x.kind}" not in row[2] and "{x.where}" not in row[2]]
    return tuple((template, negated, tuple(_WORDS.findall(text))) for template, negated, text in usable)


def _fill(pattern: tuple[str, ...], words: tuple[str, ...]) -> Iterator[_Slots]:
    """Every way to match a pattern with the words: the words of each slot."""
    if not pattern or not words:
        if not pattern and not words:
            yield {}
        return
    slot, rest = pattern[0], pattern[1:]
    if slot[0] != "{" or slot in _FORMS:
        if words[0] in _FORMS.get(slot, {slot}):
            yield from _fill(rest, words[1:])
        return
    for length in range(1, len(words) - len(rest) + 1):
        if not _may_hold(slot, words[:length]):
            continue
        for slots in _fill(rest, words[length:]):
            if slots.get(slot, words[:length]) == words[:length]:
                yield {slot: words[:length], **slots}


def _may_hold(slot: str, words: tuple[str, ...]) -> bool:
    if slot in _CHOICES:
        return True
    if slot[1:3] in {"x.", "y."}:
        inner = words[1:] if _determined(slot, words) else words
        whole = _RELATED.fullmatch(words[-1]) is None  # a phrase does not end with a preposition
    else:
        inner = words[1:] if words[:2] == ("made", "of") else words
        whole = _CLAUSE.isdisjoint(words)  # a clause belongs to the phrase before
    return whole and bool(inner) and all(word[0].isalnum() and word.lower() not in _NO_PHRASE for word in inner)


def _determined(slot: str, words: tuple[str, ...]) -> bool:
    return words[0] in _DETERMINERS[slot[3:-1]]


def _of(template: Template, slots: _Slots, choices: Sequence[str], *, negated: bool) -> Iterator[QuestionReading]:
    """The readings of filled slots, for all numbers of the phrases, and orders and articles of the choices."""
    phrases = [_bare(slots, name) for name in ("x", "y") if any(slot[1:3] == f"{name}." for slot in slots)]
    if not phrases or any(phrase is None for phrase in phrases):
        return
    listed = slots.get("{said}", ())
    category = " ".join(slots.get("{category}", ())) or ("material" if listed[:2] == ("made", "of") else "")
    offered = _orders(choices) if _CHOICES & set(slots) else [()]
    for numbers in product(NUMBERS, repeat=len(phrases)):
        x, *y = [(phrase, number) for phrase, number in zip(phrases, numbers, strict=True) if phrase is not None]
        for order in offered:
            yield QuestionReading(
                type=template.type,
                negated=negated,
                x=x,
                y=y[0] if y else None,
                attribute=" ".join(slots.get("{attribute}", ())),
                category=category,
                choices=order,
            )


def _bare(slots: _Slots, name: str) -> str | None:
    """The words of a phrase without its determiner; None if two of its slots differ."""
    found = set()
    for slot, words in slots.items():
        if slot[1:3] == f"{name}.":
            found.add(" ".join(words[1:] if _determined(slot, words) else words))
    return found.pop() if len(found) == 1 else None


def _orders(choices: Sequence[str]) -> list[tuple[str, ...]]:
    """The choices in every order, as they are and with articles ("a cow" for "cow")."""
    if not 2 <= len(choices) <= _MOST_CHOICES:
        return []
    forms = (tuple(choices), tuple(map(with_article, choices)))
    return [order for form in forms for order in permutations(form)]
