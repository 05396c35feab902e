"""Generate pairs of questions from scene graphs: the tests of CARETS (Jimenez et al. 2022, section 4) at any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Protocol

from vlgate.perturb.question_tests import Test
from vlgate.perturb.questions import choices, verification
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.questions.attributes_asked import Opposites
from vlgate.perturb.questions.corpus import Corpus
from vlgate.perturb.questions.drafts import Draft, Kind
from vlgate.perturb.questions.makeup import makeup
from vlgate.perturb.questions.pairs import QuestionPair
from vlgate.perturb.questions.perturbing import Perturbing
from vlgate.seeds import quick_generator

IN_VAIN = 2000  # draws in a row without a new question, after which a kind is exhausted
POOL = 3  # candidates for each choice question that is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The pairs of a test, and the number of questions missing of each kind that the graphs gave too few of."""

    pairs: tuple[QuestionPair, ...]
    wanting: Mapping[Kind, int]


class Verify(Protocol):
    """A function that drafts a question with the wanted answer, or returns None if a draw fails."""

    def __call__(self, chance: Random, *, yes: bool) -> Draft | None:
        """Draw once."""


class Generator:
    """Generates the tests from one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        """Look up what all tests need.

        Raises: ValueError if none of the graphs shows anything that can be asked about.
        """
        self.corpus = corpus
        self._arguments = Arguments(corpus)
        self._opposites = {related: Opposites(self._arguments, related=related) for related in (False, True)}
        self._perturbing = Perturbing(corpus.ontology)

    def make(
        self, test: Test, *, size: int | None = None, seed: int = 0, without: Collection[tuple[str, str]] = ()
    ) -> Made:
        """Make the pairs of one test.

        ``size`` is the number of original questions, by default the paper's; the visual test has five pairs for each.
        ``without`` contains the (id of the image, question) that no pair may have, so that training data do not overlap
        with a test. The result depends on the graphs, ``size``, ``seed`` and ``without`` only.

        Raises: ValueError if ``size`` is below 1.
        """
        wanting: dict[Kind, int] = {}
        pairs: list[QuestionPair] = []
        forbidden = frozenset(without)
        for kind, number in makeup(test, size).items():
            chance = quick_generator(f"{seed}/{test}/{kind}")
            made = list(self._of_kind(test, kind, number, chance, forbidden))
            pairs.extend(pair for group in made for pair in group)
            if len(made) < number:
                wanting[kind] = number - len(made)
        return Made(pairs=tuple(pairs), wanting=wanting)

    def _of_kind(
        self, test: Test, kind: Kind, number: int, chance: Random, without: frozenset[tuple[str, str]]
    ) -> Iterator[list[QuestionPair]]:
        positions: Counter[int] = Counter()
        make = self._verifying if _binary(kind) else self._choosing
        drafts = make(test, kind, number, chance)
        for place, draft in enumerate(drafts):
            offered = len(draft.choices)
            position = positions[offered] % offered if offered else 0
            made = self._perturbing.pairs(test, chance, draft, f"{kind}/{place:05d}", position=position)
            if made and not any((made[0].graph.id, text) in without for text in made[0].questions):
                positions[offered] += 1
                yield made

    def _verifying(self, test: Test, kind: Kind, number: int, chance: Random) -> Iterator[Draft]:
        """Drafts with the answers yes and no in turn."""
        draw = self._verifier(test, kind)
        seen: set[object] = set()
        for place in range(number):
            draft = _new(_usable(test, partial(draw, chance, yes=place % 2 == 0)), seen)
            if draft is None:
                return
            yield draft

    def _verifier(self, test: Test, kind: Kind) -> Verify:
        arguments = self._arguments
        if test == "occlusion-dir":
            return lambda chance, *, yes: verification.covered(arguments, chance, yes=yes)
        if test == "ontological-inv":
            return lambda chance, *, yes: verification.more_general(arguments, chance, yes=yes)
        if kind in {"attribute", "attribute-related"}:
            return self._opposites[kind == "attribute-related"].draft
        way = {
            "object": verification.about_object,
            "object-related": verification.about_related_object,
            "conjunction": verification.conjunction,
            "disjunction": verification.disjunction,
        }[kind]
        return lambda chance, *, yes: way(arguments, chance, yes=yes)

    def _choosing(self, test: Test, kind: Kind, number: int, chance: Random) -> list[Draft]:
        """Drafts from a larger pool, with classes and answers as balanced as possible.

        A candidate is kept with a probability inverse to the counts of its class and of its answer (section 4.1).
        """
        draw, seen = _usable(test, partial(self._chooser(kind), chance)), set[object]()
        pool: list[Draft] = []
        while len(pool) < POOL * number and (draft := _new(draw, seen)) is not None:
            pool.append(draft)
        classes = Counter(draft.category for draft in pool)
        answers = Counter(draft.answer for draft in pool)
        # The n smallest exponential waiting times are a weighted sample without replacement (Efraimidis and Spirakis
        # 2006).
        waits = [chance.expovariate(1 / (classes[draft.category] * answers[draft.answer])) for draft in pool]
        kept = sorted(range(len(pool)), key=waits.__getitem__)[:number]
        return [pool[place] for place in sorted(kept)]

    def _chooser(self, kind: Kind) -> Callable[[Random], Draft | None]:
        arguments, related = self._arguments, kind.endswith("-related")
        if kind.startswith("object-choice"):
            return lambda chance: choices.of_objects(arguments, chance, related=related)
        action = kind.startswith("action")
        return lambda chance: choices.of_attributes(arguments, chance, related=related, action=action)


def _binary(kind: Kind) -> bool:
    return "choice" not in kind


def _usable(test: Test, draw: Callable[[], Draft | None]) -> Callable[[], Draft | None]:
    """For the mirror test, draw only what is to the left or the right of something."""
    if test != "mirror-inv":
        return draw

    def sideways() -> Draft | None:
        """Draw, and return the draft if it has a relation of left or right."""
        draft = draw()
        return draft if draft and any(side in draft.x.relation for side in ("left", "right")) else None

    return sideways


def _new(draw: Callable[[], Draft | None], seen: set[object]) -> Draft | None:
    """Draw until a draft has new keys, or give up after ``IN_VAIN`` draws.

    A draft uses up its counterpart too, whichever of the two is asked about. So a phrase that is true of few images is
    asked about equally often with both answers, and the answers so far do not tell the next one.
    """
    for _ in range(IN_VAIN):
        draft = draw()
        if draft is not None and seen.isdisjoint(draft.keys):
            seen.update(draft.keys)
            return draft
    return None
