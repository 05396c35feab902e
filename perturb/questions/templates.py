"""The question templates of all types: which phrases each takes, and the text that it gives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, get_args

from vlgate.perturb.ontology.tables import rows_in
from vlgate.perturb.questions.drafts import NounPhrase

# CARETS (Jimenez et al. 2022, section 4.1) asks questions of seven types; here there are as many templates of each as
# there. A text has slots: ``{x.any}`` is a wording of the phrase asked about (`phrases.Wording`) and ``{y.any}`` of
# the second one, ``{Is} {is} {Does} {does}`` agree with the first phrase, ``{attribute}`` and ``{choices}`` are given,
# ``{said}`` is the choices as they read behind a verb ("made of wood or metal"), ``{category}`` is the name of what
# the choices are values of, and ``{doing}`` the verb that goes with it.

QuestionType = Literal[
    "object", "conjunction", "disjunction", "attribute", "object-choice", "attribute-choice", "action-choice"
]
Relations = Literal["none", "plain", "that"]

DOING: Mapping[str, str] = MappingProxyType(
    {"pose": "in", "sport": "doing", "activity": "engaged in", "action": "doing"}
)
"""The verb that goes with a category: "what pose is the man in", "which sport is he doing"."""
MATERIAL_ADJECTIVES = frozenset(("wooden", "metallic"))  # materials that nothing is "made of"

_VERBS: Mapping[bool, Mapping[str, str]] = {
    False: {"Is": "Is", "is": "is", "Does": "Does", "does": "does"},
    True: {"Is": "Are", "is": "are", "Does": "Do", "does": "do"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """One way to ask a question of one type."""

    id: int  # counts from 0 within the type
    type: QuestionType
    text: str
    negated: str = ""  # asks for the opposite; empty if there are choices
    # Which phrases it takes: without a related object, with one, or with one in a that-clause
    relation: Relations = "none"
    categories: frozenset[str] = frozenset()  # those that its words fit; empty for all


def _templates() -> Mapping[QuestionType, tuple[Template, ...]]:
    file = Path(__file__).with_name("templates.tsv")
    rows = list(rows_in(file, "type", "relation", "text", "opposite", "categories"))
    found: dict[QuestionType, tuple[Template, ...]] = {}
    for kind in get_args(QuestionType):
        texts = [
            (relation, row)
            for relation in get_args(Relations)
            for row in rows
            if row["type"] == kind and relation in row.names("relation")
        ]
        found[kind] = tuple(
            Template(
                id=number,
                type=kind,
                text=row["text"],
                negated=row["opposite"],
                relation=relation,
                categories=frozenset(row.names("categories")),
            )
            for number, (relation, row) in enumerate(texts)
        )
    return MappingProxyType(found)


TEMPLATES: Mapping[QuestionType, tuple[Template, ...]] = _templates()

_TWO = frozenset(("conjunction", "disjunction"))


def fits(template: Template, x: NounPhrase, y: NounPhrase | None = None, *, category: str = "") -> bool:
    """Whether ``template`` asks about phrases such as these, and about values of ``category``."""
    if (y is None) == (template.type in _TWO) or (y is not None and not _takes(template, y)):
        return False
    return _takes(template, x) and (not template.categories or category in template.categories)


def category_for(noun: str, choices: Sequence[str]) -> str:
    """Return the argument ``category`` of `fits` and `ask`: ``noun``, or "" if its words do not go with the choices."""
    # "What is the plane doing, flying or parked?" and "made of wooden or metal" are not English; general words are used
    # instead.
    if noun in DOING:
        return noun if all(choice.split(" ")[0].endswith("ing") for choice in choices) else ""
    return "" if noun == "material" and not MATERIAL_ADJECTIVES.isdisjoint(choices) else noun


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
    text, kind = template.negated if negated else template.text, template.type
    listed = ""
    if kind.endswith("-choice"):
        if len(choices) < 2:
            raise ValueError(f"choices={choices!r}: expected two or more for a question with choices")
        listed = f"{', '.join(choices[:-1])}{',' if len(choices) > 2 else ''} or {choices[-1]}"
    if not text:
        raise ValueError(f"negated={negated!r}: a template of type {kind} has no negated text; use negated=False")
    if (y is None and kind in _TWO) or (not attribute and kind == "attribute"):
        raise ValueError(f"template={template!r}: expected {'y=' if kind in _TWO else 'attribute='} as well")
    return text.format(
        x=x.clause if template.relation == "that" else x.plain,
        y=None if y is None else y.plain,
        attribute=attribute,
        choices=listed,
        said=f"made of {listed}" if category == "material" else listed,
        category=category,
        doing=DOING.get(category, ""),
        **_VERBS[x.number == "plural"],
    )


def _takes(template: Template, phrase: NounPhrase) -> bool:
    if template.relation == "none":
        return phrase.other is None
    return phrase.other is not None and (phrase.that or template.relation == "plain")
