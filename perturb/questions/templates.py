"""The question templates of all types: which phrases each takes, and the text that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from vlgate.perturb.questions import template_tables
from vlgate.perturb.questions.drafts import NUMBERS, NounPhrase, PhraseNumber

# The question templates of all types.
#
# CARETS (Jimenez et al. 2022, section 4.1) asks questions of seven types; here there are as many templates of each as
# there. A text has slots: ``{x.any}`` is a wording of the phrase asked about (`phrases.Wording`) and ``{y.any}`` of
# the second one, ``{Is} {is} {Does} {does}`` agree with the first phrase, ``{attribute}`` and ``{choices}`` are given,
# ``{said}`` is the choices as they read behind a verb ("made of wood or metal"), ``{category}`` is the name of what
# the choices are values of, and ``{doing}`` the verb that goes with it.

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

    ``id`` counts from 0 within the type. ``negated`` asks for the opposite, and is empty if there are choices.
    ``relation`` says which phrases it takes: without a related object, with one, or with one in a that-clause.
    ``numbers`` are those that all its phrases may have. ``categories`` are those that its words fit; empty for all.
    """

    id: int
    type: QuestionType
    text: str
    negated: str = ""
    relation: Relations = "none"
    numbers: frozenset[PhraseNumber] = frozenset(NUMBERS)
    categories: frozenset[str] = frozenset()
    asked: Mapping[PhraseNumber, str] = field(init=False, repr=False, compare=False)
    denied: Mapping[PhraseNumber, str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Write both texts out for each number."""
        object.__setattr__(self, "asked", _agreeing(self.text))
        object.__setattr__(self, "denied", _agreeing(self.negated))


def _agreeing(text: str) -> Mapping[PhraseNumber, str]:
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
            {
                "none": template_tables.OBJECTS_ALONE,
                "plain": template_tables.OBJECTS_RELATED,
                "that": template_tables.OBJECTS_RELATED,
            },
        ),
        "conjunction": _templates("conjunction", {"none": template_tables.CONJUNCTIONS_ALONE}),
        "disjunction": _templates("disjunction", {"none": template_tables.DISJUNCTIONS_ALONE}),
        "attribute": _templates(
            "attribute",
            {
                "none": template_tables.ATTRIBUTES_ALONE,
                "plain": template_tables.ATTRIBUTES_RELATED,
                "that": template_tables.ATTRIBUTES_RELATED,
            },
        ),
        "object-choice": _templates(
            "object-choice",
            {
                "none": template_tables.OBJECT_CHOICES_ALONE,
                "plain": template_tables.OBJECT_CHOICES_RELATED,
                "that": template_tables.OBJECT_CHOICES_CLAUSE,
            },
        ),
        "attribute-choice": _templates(
            "attribute-choice",
            {
                "none": template_tables.ATTRIBUTE_CHOICES_ALONE,
                "plain": template_tables.ATTRIBUTE_CHOICES_RELATED,
                "that": template_tables.ATTRIBUTE_CHOICES_RELATED,
            },
        ),
        "action-choice": _templates(
            "action-choice",
            {
                "none": template_tables.ACTION_CHOICES_ALONE,
                "plain": template_tables.ACTION_CHOICES_RELATED,
                "that": template_tables.ACTION_CHOICES_RELATED,
            },
        ),
    },
)


# Makes questions from templates: which phrases a template takes, and the text that it gives.

_TWO = frozenset(("conjunction", "disjunction"))
_CHOOSING = frozenset(("object-choice", "attribute-choice", "action-choice"))


def fits(template: Template, x: NounPhrase, y: NounPhrase | None = None, *, category: str = "") -> bool:
    """Whether ``template`` asks about phrases such as these, and about values of ``category``."""
    if (y is None) == (template.type in _TWO) or (y is not None and not _takes(template, y)):
        return False
    return _takes(template, x) and (not template.categories or category in template.categories)


def category_for(noun: str, choices: Sequence[str]) -> str:
    """Return the argument ``category`` of `fits` and `ask`: ``noun``, or "" if its words do not go with the choices."""
    # "What is the plane doing, flying or parked?" and "made of wooden or metal" are not English; general words are used
    # instead.
    if noun in template_tables.DOING:
        return noun if all(choice.split(" ")[0].endswith("ing") for choice in choices) else ""
    return "" if noun == "material" and not template_tables.MATERIAL_ADJECTIVES.isdisjoint(choices) else noun


def ask(  # noqa: PLR0913 -- each one is a slot of the texts
    template: Template,
    x: NounPhrase,
    y: NounPhrase | None = None,
    *,
    attribute: str = "",
    category: str = "",
    choices: Sequence[str] = (),
    negated: bool = False,
) -> str:
    """Return the question that ``template`` makes from its arguments, for which `fits` must hold."""
    # ``attribute`` is worded as behind "is" ("red", "made of wood"). ``choices`` are the answers ("red"; "a cow" for
    # object choices; "walking" for action choices).
    text = template.denied[x.number] if negated else template.asked[x.number]
    kind = template.type
    listed = _listed(choices) if kind in _CHOOSING else ""
    if not text or (y is None and kind in _TWO) or (not attribute and kind == "attribute"):
        raise ValueError(_complaint(template, negated=negated))
    return text.format(
        x=x.clause if template.relation == "that" else x.plain,
        y=None if y is None else y.plain,
        attribute=attribute,
        choices=listed,
        said=f"made of {listed}" if category == "material" else listed,
        category=category,
        doing=template_tables.DOING.get(category, ""),
    )


def _takes(template: Template, phrase: NounPhrase) -> bool:
    if phrase.number not in template.numbers:
        return False
    if template.relation == "none":
        return phrase.other is None
    return phrase.other is not None and (phrase.that or template.relation == "plain")


def _listed(choices: Sequence[str]) -> str:
    if len(choices) == 2:
        return f"{choices[0]} or {choices[1]}"
    if len(choices) < 2:
        raise ValueError(f"choices={choices!r}: expected two or more for a question with choices")
    return f"{', '.join(choices[:-1])}, or {choices[-1]}"


def _complaint(template: Template, *, negated: bool) -> str:
    if negated and not template.negated:
        return f"negated={negated!r}: a template of type {template.type} has no negated text; use negated=False"
    needed = "attribute=" if template.type == "attribute" else "y="
    return f"template={template!r}: expected {needed} as well"
