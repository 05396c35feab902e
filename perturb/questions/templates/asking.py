"""Makes questions from templates: which phrases a template takes, and the text that it gives."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.perturb.questions.phrases import NounPhrase
from vlgate.perturb.questions.templates import action_choices, attribute_choices
from vlgate.perturb.questions.templates.templates import Template

_TWO = frozenset(("conjunction", "disjunction"))
_CHOOSING = frozenset(("object-choice", "attribute-choice", "action-choice"))


def fits(template: Template, x: NounPhrase, y: NounPhrase | None = None, *, category: str = "") -> bool:
    """Whether ``template`` asks about phrases such as these, and about values of ``category``.

    >>> from vlgate.perturb.questions.templates.templates import TEMPLATES
    >>> fits(TEMPLATES["object"][0], NounPhrase("cup", "singular"))
    True
    """
    if (y is None) == (template.type in _TWO) or (y is not None and not _takes(template, y)):
        return False
    return _takes(template, x) and (not template.categories or category in template.categories)


def category_for(noun: str, choices: Sequence[str]) -> str:
    """Return the argument ``category`` of `fits` and `ask`: ``noun``, or "" if its words do not go with the choices.

    "What is the plane doing, flying or parked?" and "made of wooden or metal" are not English; general words are used
    instead.

    >>> category_for("activity", ("flying", "landing")), category_for("activity", ("flying", "parked"))
    ('activity', '')
    """
    if noun in action_choices.DOING:
        return noun if all(choice.split(" ")[0].endswith("ing") for choice in choices) else ""
    return "" if noun == "material" and not attribute_choices.ADJECTIVES.isdisjoint(choices) else noun


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
    """Return the question that ``template`` makes from its arguments, for which `fits` must hold.

    ``attribute`` is worded as behind "is" ("red", "made of wood"). ``choices`` are the answers ("red"; "a cow" for
    object choices; "walking" for action choices).

    Raises: ValueError if a second phrase, an attribute or choices are missing, or the template has no negation.

    >>> from vlgate.perturb.questions.templates.templates import TEMPLATES
    >>> cup, ball = NounPhrase("cup", "singular"), NounPhrase("balls", "plural", ("red",))
    >>> ask(TEMPLATES["object"][0], ball, negated=True)
    'Are there no red balls in the picture?'
    >>> ask(TEMPLATES["conjunction"][0], cup, ball)
    'Is there both a cup and red balls in the picture?'
    >>> ask(TEMPLATES["attribute-choice"][0], cup, category="material", choices=("clay", "glass"))
    'Is the cup made of clay or glass?'
    """
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
        doing=action_choices.DOING.get(category, ""),
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
