"""Makes pairs from drafts: the original question in words, and the perturbation of each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import permutations
from random import Random
from types import MappingProxyType

from vlgate.perturb.ontology import Number, Ontology
from vlgate.perturb.question_tests import VISUAL, Test
from vlgate.perturb.questions.chance import pick
from vlgate.perturb.questions.drafts import YES_NO, Asked, Draft, Kind, NounPhrase, QuestionPair
from vlgate.perturb.questions.templates import TEMPLATES, QuestionType, Template, ask, category_for, fits
from vlgate.perturb.scene_graph import Box
from vlgate.perturb.text.grammar import with_article
from vlgate.perturb.text.mirror import flip_words

_Likeness = tuple[Number, bool, bool]
_Phrases = tuple[_Likeness, _Likeness | None]
_PERSONS = frozenset(("person", "people"))
_FLIPPED = {"yes": "no", "no": "yes"}
_TYPES: Mapping[Kind, QuestionType] = MappingProxyType(
    {
        "object": "object",
        "object-related": "object",
        "conjunction": "conjunction",
        "disjunction": "disjunction",
        "attribute": "attribute",
        "attribute-related": "attribute",
        "object-choice-described": "object-choice",
        "object-choice-related": "object-choice",
        "attribute-choice": "attribute-choice",
        "attribute-choice-related": "attribute-choice",
        "action-choice": "action-choice",
        "action-choice-related": "action-choice",
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The two questions that a test makes from a draft, and what else differs from the original.

    ``other`` is the draft of the second question, if its words stand for something else. ``instead`` are the boxes that
    are covered in place of ``foreground`` in the original image.
    """

    questions: tuple[str, str]
    rule: str
    answer: str = ""
    choices: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    perturbation: str = ""
    foreground: tuple[Box, ...] = ()
    instead: tuple[Box, ...] = ()
    reverse: bool = False
    other: Draft | None = None


class Perturbing:
    """Puts drafts into words and perturbs them, with the words of one ontology."""

    def __init__(self, ontology: Ontology) -> None:
        """Take the ontology that the drafts were made with."""
        self._ontology = ontology
        self._ways: dict[Test, Callable[[Random, Draft], Iterator[Change]]] = {
            "rephrase-inv": self._rephrased,
            "order-inv": self._reordered,
            "ontological-inv": self._renamed,
            "visual-inv": self._obscured,
            "negation-dir": self._negated,
            "antonym-dir": self._opposed,
            "mirror-inv": self._mirrored,
            "occlusion-dir": self._occluded,
        }

    def pairs(self, test: Test, chance: Random, draft: Draft, identity: str, *, position: int) -> list[QuestionPair]:
        """Make the pairs of a draft: one, or one per perturbation for the visual test."""
        # ``position`` is the position of the right choice, from 0, if there are choices.
        ordered = _ordered(chance, draft, position)
        return [_pair(test, ordered, identity, change) for change in self._ways[test](chance, ordered)]

    def _templates(self, draft: Draft) -> tuple[Template, ...]:
        return fitting(_TYPES[draft.kind], draft.x, draft.y, self._category(draft))

    def _common(self, draft: Draft, other: Draft) -> tuple[Template, ...]:
        """The templates that fit both."""
        one, two = ((_likeness(each.x), each.y and _likeness(each.y)) for each in (draft, other))
        return _both(_TYPES[draft.kind], one, two, self._category(draft))

    def _category(self, draft: Draft) -> str:
        """The word for the category of the choices, or "" if it does not go with all of them."""
        # For kinds of things it is "kind", unless they are persons.
        categories = self._ontology.words.categories
        if draft.kind.startswith("object-choice"):
            return "" if draft.category in _PERSONS else "kind"
        return category_for(categories[draft.category].noun, draft.choices) if draft.category in categories else ""

    def _question(self, template: Template, draft: Draft, *, negated: bool = False) -> str:
        return ask(
            template,
            draft.x,
            draft.y,
            attribute=self._ontology.attributes[draft.attribute].after if draft.attribute else "",
            category=self._category(draft),
            choices=self._choice_texts(draft),
            negated=negated,
        )

    def _choice_texts(self, draft: Draft) -> tuple[str, ...]:
        if not draft.kind.startswith("object-choice"):
            return draft.choices
        nouns = self._ontology.nouns
        return tuple(with_article(name) if nouns[name].number == "singular" else name for name in draft.choices)

    def _rephrased(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if len(templates) > 1:
            first, second = chance.sample(templates, 2)
            questions = (self._question(first, draft), self._question(second, draft))
            yield Change(questions=questions, rule=f"template {first.id} to {second.id}")

    def _reordered(self, chance: Random, draft: Draft) -> Iterator[Change]:
        other = _other_order(chance, draft)
        templates = self._common(draft, other)
        if templates:
            template = pick(chance, templates)
            questions = (self._question(template, draft), self._question(template, other))
            rule = "operands exchanged" if draft.binary else f"choices {_list(draft)} to {_list(other)}"
            yield Change(questions=questions, rule=rule, choices=other.choices, other=other)

    def _renamed(self, chance: Random, draft: Draft) -> Iterator[Change]:
        other = replace(draft, x=draft.instead or draft.x)
        templates = self._common(draft, other)
        if templates:
            template = pick(chance, templates)
            questions = (self._question(template, draft), self._question(template, other))
            up = other.x.noun in self._ontology.hypernyms(draft.x.noun)
            direction = "hypernym" if up else "hyponym"
            # Of "is there a dog", yes, "is there an animal", yes, follows; the other way round it is annotated, too.
            follows = "yes" if up == (draft.answer == "yes") else "no"
            rule = f"{direction}: {draft.x.noun} to {other.x.noun}"
            yield Change(questions=questions, rule=rule, tags={"direction": direction, "follows": follows}, other=other)

    def _obscured(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if templates:
            question = self._question(pick(chance, templates), draft)
            boxes, whose = _foreground(chance, draft)
            for name in VISUAL:
                rule, tags = f"{name} around {whose}", {"perturbation": name}
                yield Change(questions=(question, question), rule=rule, tags=tags, perturbation=name, foreground=boxes)

    def _negated(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = [one for one in self._templates(draft) if one.negated]
        if templates:
            template = pick(chance, templates)
            questions = (self._question(template, draft), self._question(template, draft, negated=True))
            yield Change(questions=questions, rule=f"template {template.id} negated", answer=_FLIPPED[draft.answer])

    def _opposed(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if templates:
            template = pick(chance, templates)
            other = replace(draft, attribute=draft.opposite)
            questions = (self._question(template, draft), self._question(template, other))
            rule = f"antonym: {draft.attribute} to {draft.opposite}"
            yield Change(questions=questions, rule=rule, answer=_FLIPPED[draft.answer], other=other)

    def _mirrored(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if templates:
            question = self._question(pick(chance, templates), draft)
            mirrored = flip_words(question)
            if mirrored not in {None, question}:
                yield Change(questions=(question, mirrored or ""), rule="mirrored, left for right", perturbation="flip")

    def _occluded(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if templates:
            question = self._question(pick(chance, templates), draft)
            covered, others = (_seen(one) for one in (draft, draft.mate or draft))
            yield Change(
                questions=(question, question),
                rule=f"occlude objects {', '.join(covered)}, or {', '.join(others)}",
                answer=_FLIPPED[draft.answer],
                perturbation="occlude",
                foreground=tuple(draft.view.graph.objects[name].box for name in covered),
                instead=tuple(draft.view.graph.objects[name].box for name in others),
                reverse=draft.answer == "no",
            )


@cache  # bounded by its arguments: 7 types, 3 numbers, 2 forms and the few categories
def _fitting(kind: QuestionType, x: _Likeness, y: _Likeness | None, category: str) -> tuple[Template, ...]:
    """The templates for phrases like these; for each: its number, whether it has a relation, also in a clause."""
    first, second = _example(*x), None if y is None else _example(*y)
    return tuple(one for one in TEMPLATES[kind] if fits(one, first, second, category=category))


def fitting(kind: QuestionType, x: NounPhrase, y: NounPhrase | None = None, category: str = "") -> tuple[Template, ...]:
    """Return the templates of a type that take these phrases and, if there is one, this word for the choices."""
    return _fitting(kind, _likeness(x), None if y is None else _likeness(y), category)


@cache
def _both(kind: QuestionType, one: _Phrases, other: _Phrases, category: str) -> tuple[Template, ...]:
    """The templates that take both pairs of phrases."""
    also = _fitting(kind, *other, category)
    return tuple(template for template in _fitting(kind, *one, category) if template in also)


def _likeness(phrase: NounPhrase) -> _Likeness:
    return phrase.number, phrase.other is not None, phrase.that


def _example(number: Number, related: bool, that: bool) -> NounPhrase:
    other = NounPhrase("table", "singular") if related else None
    return NounPhrase("thing", number, (), "on" if related else "", other, that=that)


def _ordered(chance: Random, draft: Draft, position: int) -> Draft:
    """Put the right choice at ``position``, and the others around it in random order."""
    if draft.binary:
        return draft
    right, *others = draft.choices
    chance.shuffle(others)
    others.insert(position, right)
    return draft.offering(tuple(others))


def _other_order(chance: Random, draft: Draft) -> Draft:
    """Exchange the operands, or draw another order of the choices."""
    if draft.y is not None:
        return replace(draft, x=draft.y, y=draft.x, objects=draft.objects[::-1])
    orders = [order for order in permutations(draft.choices) if order != draft.choices]
    return draft.offering(pick(chance, orders))


def _foreground(chance: Random, draft: Draft) -> tuple[tuple[Box, ...], str]:
    """The boxes of the objects that the question names and the image shows, or of one or two random objects."""
    objects = draft.view.graph.objects
    shown = [name for name in draft.objects if name is not None]
    if shown:
        return tuple(objects[name].box for name in shown), f"objects {', '.join(shown)}"
    number = min(len(objects), 2 if draft.y is not None else 1)
    some = chance.sample(list(objects), number)
    return tuple(objects[name].box for name in some), f"objects {', '.join(some)}, chosen by chance"


def _pair(test: Test, draft: Draft, identity: str, change: Change) -> QuestionPair:
    choices = draft.choices or YES_NO
    return QuestionPair(
        id=f"{identity}/{change.perturbation}" if test == "visual-inv" else identity,
        test=test,
        kind=draft.kind,
        graph=draft.view.graph,
        questions=change.questions,
        choices=(choices, change.choices or choices),
        answers=(draft.answer, change.answer or draft.answer),
        rule=change.rule,
        objects=draft.objects,
        asked=(_asked(draft), _asked(change.other or draft)),
        tags={**_tags(draft), **change.tags},
        perturbation=change.perturbation,
        foreground=change.foreground,
        instead=change.instead,
        reverse=change.reverse,
    )


def _asked(draft: Draft) -> Asked:
    return Asked(x=draft.x, y=draft.y, attribute=draft.attribute, category=draft.category)


def _seen(draft: Draft) -> list[str]:
    return [name for name in draft.objects if name is not None]


def _list(draft: Draft) -> str:
    return ", ".join(draft.choices)


def _tags(draft: Draft) -> dict[str, str]:
    tags = {"question_type": draft.kind}
    if draft.binary:
        return tags | {"form": "binary", "answer": draft.answer}
    return tags | {"form": "multi-choice", "choices": str(len(draft.choices))}
