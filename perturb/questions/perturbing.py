"""Makes pairs from drafts: the original question in words, and the perturbation of each test."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from random import Random
from typing import cast

from vlgate.perturb.ontology import Ontology
from vlgate.perturb.question_tests import VISUAL, Test
from vlgate.perturb.questions.chance import pick
from vlgate.perturb.questions.drafts import YES_NO, Asked, Draft, QuestionPair
from vlgate.perturb.questions.templates import TEMPLATES, QuestionType, Template, ask, category_for, fits
from vlgate.perturb.scene_graph import Box
from vlgate.perturb.text.grammar import with_article
from vlgate.perturb.text.mirror import flip_words

_PERSONS = frozenset(("person", "people"))
_FLIPPED = {"yes": "no", "no": "yes"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The two questions that a test makes from a draft, and what else differs from the original."""

    questions: tuple[str, str]
    rule: str
    answer: str = ""
    choices: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    perturbation: str = ""
    foreground: tuple[Box, ...] = ()
    instead: tuple[Box, ...] = ()  # covered in place of ``foreground`` in the original image
    reverse: bool = False
    other: Draft | None = None  # of the second question, if its words stand for something else


class Perturbing:
    """Puts drafts into words and perturbs them, with the words of one ontology."""

    def __init__(self, ontology: Ontology) -> None:
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
        if not draft.binary:
            right, *others = draft.choices
            chance.shuffle(others)
            others.insert(position, right)
            draft = draft.offering(tuple(others))
        return [_pair(test, draft, identity, change) for change in self._ways[test](chance, draft)]

    def _templates(self, draft: Draft) -> tuple[Template, ...]:
        kind = cast(QuestionType, draft.kind.removesuffix("-related").removesuffix("-described"))
        category = self._category(draft)
        return tuple(template for template in TEMPLATES[kind] if fits(template, draft.x, draft.y, category=category))

    def _category(self, draft: Draft) -> str:
        """The word for the category of the choices, or "" if it does not go with all of them."""
        # For kinds of things it is "kind", unless they are persons.
        categories = self._ontology.words.categories
        if draft.kind.startswith("object-choice"):
            return "" if draft.category in _PERSONS else "kind"
        return category_for(categories[draft.category].noun, draft.choices) if draft.category in categories else ""

    def _question(self, template: Template, draft: Draft, *, negated: bool = False) -> str:
        choices, nouns = draft.choices, self._ontology.nouns
        if draft.kind.startswith("object-choice"):
            choices = tuple(with_article(name) if nouns[name].number == "singular" else name for name in choices)
        return ask(
            template,
            draft.x,
            draft.y,
            attribute=self._ontology.attributes[draft.attribute].after if draft.attribute else "",
            category=self._category(draft),
            choices=choices,
            negated=negated,
        )

    def _questions(self, chance: Random, draft: Draft, other: Draft | None = None) -> tuple[str, str] | None:
        """The questions of one template that fits both drafts; None if there is none."""
        templates = self._templates(draft)
        if other is not None:
            also = self._templates(other)
            templates = tuple(template for template in templates if template in also)
        if not templates:
            return None
        template = pick(chance, templates)
        return self._question(template, draft), self._question(template, other or draft)

    def _rephrased(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = self._templates(draft)
        if len(templates) > 1:
            first, second = chance.sample(templates, 2)
            questions = (self._question(first, draft), self._question(second, draft))
            yield Change(questions=questions, rule=f"template {first.id} to {second.id}")

    def _reordered(self, chance: Random, draft: Draft) -> Iterator[Change]:
        if draft.y is not None:
            other = replace(draft, x=draft.y, y=draft.x, objects=draft.objects[::-1])
            rule = "operands exchanged"
        else:
            orders = [order for order in permutations(draft.choices) if order != draft.choices]
            other = draft.offering(pick(chance, orders))
            rule = f"choices {', '.join(draft.choices)} to {', '.join(other.choices)}"
        if questions := self._questions(chance, draft, other):
            yield Change(questions=questions, rule=rule, choices=other.choices, other=other)

    def _renamed(self, chance: Random, draft: Draft) -> Iterator[Change]:
        other = replace(draft, x=draft.instead or draft.x)
        if questions := self._questions(chance, draft, other):
            up = other.x.noun in self._ontology.hypernyms(draft.x.noun)
            direction = "hypernym" if up else "hyponym"
            # Of "is there a dog", yes, "is there an animal", yes, follows; the other way round it is annotated, too.
            follows = "yes" if up == (draft.answer == "yes") else "no"
            rule = f"{direction}: {draft.x.noun} to {other.x.noun}"
            yield Change(questions=questions, rule=rule, tags={"direction": direction, "follows": follows}, other=other)

    def _obscured(self, chance: Random, draft: Draft) -> Iterator[Change]:
        if questions := self._questions(chance, draft):
            boxes, whose = _foreground(chance, draft)
            for name in VISUAL:
                rule, tags = f"{name} around {whose}", {"perturbation": name}
                yield Change(questions=questions, rule=rule, tags=tags, perturbation=name, foreground=boxes)

    def _negated(self, chance: Random, draft: Draft) -> Iterator[Change]:
        templates = [one for one in self._templates(draft) if one.negated]
        if templates:
            template = pick(chance, templates)
            questions = (self._question(template, draft), self._question(template, draft, negated=True))
            yield Change(questions=questions, rule=f"template {template.id} negated", answer=_FLIPPED[draft.answer])

    def _opposed(self, chance: Random, draft: Draft) -> Iterator[Change]:
        other = replace(draft, attribute=draft.opposite)
        if questions := self._questions(chance, draft, other):
            rule = f"antonym: {draft.attribute} to {draft.opposite}"
            yield Change(questions=questions, rule=rule, answer=_FLIPPED[draft.answer], other=other)

    def _mirrored(self, chance: Random, draft: Draft) -> Iterator[Change]:
        if questions := self._questions(chance, draft):
            question, mirrored = questions[0], flip_words(questions[0])
            if mirrored is not None and mirrored != question:
                yield Change(questions=(question, mirrored), rule="mirrored, left for right", perturbation="flip")

    def _occluded(self, chance: Random, draft: Draft) -> Iterator[Change]:
        if questions := self._questions(chance, draft):
            covered, others = (
                [name for name in one.objects if name is not None] for one in (draft, draft.mate or draft)
            )
            yield Change(
                questions=questions,
                rule=f"occlude objects {', '.join(covered)}, or {', '.join(others)}",
                answer=_FLIPPED[draft.answer],
                perturbation="occlude",
                foreground=tuple(draft.view.graph.objects[name].box for name in covered),
                instead=tuple(draft.view.graph.objects[name].box for name in others),
                reverse=draft.answer == "no",
            )


def _foreground(chance: Random, draft: Draft) -> tuple[tuple[Box, ...], str]:
    objects = draft.view.graph.objects
    shown = [name for name in draft.objects if name is not None]
    if shown:
        return tuple(objects[name].box for name in shown), f"objects {', '.join(shown)}"
    number = min(len(objects), 2 if draft.y is not None else 1)
    some = chance.sample(list(objects), number)
    return tuple(objects[name].box for name in some), f"objects {', '.join(some)}, chosen by chance"


def _pair(test: Test, draft: Draft, identity: str, change: Change) -> QuestionPair:
    choices = draft.choices or YES_NO
    other = change.other or draft
    form = {"form": "multi-choice", "choices": str(len(draft.choices))}
    if draft.binary:
        form = {"form": "binary", "answer": draft.answer}
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
        asked=(
            Asked(x=draft.x, y=draft.y, attribute=draft.attribute, category=draft.category),
            Asked(x=other.x, y=other.y, attribute=other.attribute, category=other.category),
        ),
        tags={"question_type": draft.kind, **form, **change.tags},
        perturbation=change.perturbation,
        foreground=change.foreground,
        instead=change.instead,
        reverse=change.reverse,
    )
