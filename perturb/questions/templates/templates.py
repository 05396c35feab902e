"""The question templates of all types.

CARETS (Jimenez et al. 2022, section 4.1) asks questions of seven types; here there are as many templates of each as
there. A text has slots: ``{x.any}`` is a wording of the phrase asked about (`phrases.Wording`) and ``{y.any}`` of the
second one, ``{Is} {is} {Does} {does}`` agree with the first phrase, ``{attribute}`` and ``{choices}`` are given,
``{said}`` is the choices as they read behind a verb ("made of wood or metal"), ``{category}`` is the name of what the
choices are values of, and ``{doing}`` the verb that goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from vlgate.perturb.questions.phrases import NUMBERS, Number
from vlgate.perturb.questions.templates import (
    action_choices,
    attribute_choices,
    attributes,
    conjunctions,
    disjunctions,
    object_choices,
    objects,
)

QuestionType = Literal[
    "object",
    "conjunction",
    "disjunction",
    "attribute",
    "object-choice",
    "attribute-choice",
    "action-choice",
]
Relations = Literal["none", "plain", "that"]
_Text = str | tuple[str, str] | tuple[str, tuple[str, ...]]

_SINGULAR = MappingProxyType({"Is": "Is", "is": "is", "Does": "Does", "does": "does"})
_PLURAL = MappingProxyType({"Is": "Are", "is": "are", "Does": "Do", "does": "do"})
_AGREES = re.compile(r"\{(Is|is|Does|does)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One way to ask a question of one type.

    ``id`` counts from 0 within the type. ``negated`` asks for the opposite, and is empty where there are choices.
    ``relation`` says which phrases it takes: without a related object, with one, or with one in a that-clause.
    ``numbers`` are those that all its phrases may have. ``categories`` are those that its words fit; empty for all.
    """

    id: int
    type: QuestionType
    text: str
    negated: str = ""
    relation: Relations = "none"
    numbers: frozenset[Number] = frozenset(NUMBERS)
    categories: frozenset[str] = frozenset()
    asked: Mapping[Number, str] = field(init=False, repr=False, compare=False)
    denied: Mapping[Number, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Write both texts out for each number."""
        object.__setattr__(self, "asked", _agreeing(self.text))
        object.__setattr__(self, "denied", _agreeing(self.negated))


def _agreeing(text: str) -> Mapping[Number, str]:
    singular = _AGREES.sub(lambda found: _SINGULAR[found[1]], text)
    return {"singular": singular, "plural": _AGREES.sub(lambda found: _PLURAL[found[1]], text), "mass": singular}


def _templates(of: QuestionType, texts: Mapping[Relations, Iterable[_Text]]) -> tuple[Template, ...]:
    rows = [(relation, row) for relation, one in texts.items() for row in one]
    return tuple(_template(number, of, relation, row) for number, (relation, row) in enumerate(rows))


def _template(number: int, of: QuestionType, relation: Relations, row: _Text) -> Template:
    """One template; with choices a text may have categories beside it, otherwise it has its opposite there."""
    if isinstance(row, str):
        return Template(id=number, type=of, text=row, relation=relation)
    text, beside = row
    if isinstance(beside, str):
        return Template(id=number, type=of, text=text, negated=beside, relation=relation)
    return Template(id=number, type=of, text=text, relation=relation, categories=frozenset(beside))


TEMPLATES: Mapping[QuestionType, tuple[Template, ...]] = MappingProxyType(
    {
        "object": _templates(
            "object",
            {"none": objects.ALONE, "plain": objects.RELATED, "that": objects.RELATED},
        ),
        "conjunction": _templates("conjunction", {"none": conjunctions.ALONE}),
        "disjunction": _templates("disjunction", {"none": disjunctions.ALONE}),
        "attribute": _templates(
            "attribute",
            {"none": attributes.ALONE, "plain": attributes.RELATED, "that": attributes.RELATED},
        ),
        "object-choice": _templates(
            "object-choice",
            {"none": object_choices.ALONE, "plain": object_choices.RELATED, "that": object_choices.CLAUSE},
        ),
        "attribute-choice": _templates(
            "attribute-choice",
            {"none": attribute_choices.ALONE, "plain": attribute_choices.RELATED, "that": attribute_choices.RELATED},
        ),
        "action-choice": _templates(
            "action-choice",
            {"none": action_choices.ALONE, "plain": action_choices.RELATED, "that": action_choices.RELATED},
        ),
    },
)
