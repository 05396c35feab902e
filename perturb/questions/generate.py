"""Generate pairs of questions from scene graphs: the tests of CARETS (Jimenez et al. 2022, section 4) at any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Protocol

from vlgate.perturb.question_tests import Test
from vlgate.perturb.questions import choices, verification
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.questions.corpus import Corpus
from vlgate.perturb.questions.drafts import Draft, Kind, QuestionPair
from vlgate.perturb.questions.perturbing import Perturbing
from vlgate.perturb.questions.shares import SHARES, Distribution, makeup, selected
from vlgate.perturb.questions.verification import Opposites
from vlgate.seeds import quick_generator

IN_VAIN = 1000  # draws in a row without a new question, after which a kind is exhausted
POOL = 3  # candidates for each choice question that is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The pairs of a test, and the number of questions missing of each kind that the graphs gave too few of."""

    pairs: tuple[QuestionPair, ...]
    wanting: Mapping[Kind, int]


class Verify(Protocol):
    """A function that drafts a question with the wanted answer, or returns None if a draw fails."""

    def __call__(self, chance: Random, *, yes: bool, side: bool | None) -> Draft | None:
        """Draw once; ``side`` is as for `links.Links.draw`."""


class Generator:
    """Generates the tests from one corpus."""

    def __init__(self, corpus: Corpus, shares: Distribution = "release") -> None:
        """Look up what all tests need; ``shares`` names how often what is asked, see `shares.SHARES`.

        Raises: ValueError if none of the graphs shows anything that can be asked about.
        """
        self.corpus = corpus
        self._shares = SHARES[shares]
        self._arguments = Arguments(corpus, self._shares)
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
        forbidden, numbers = frozenset(without), makeup(test, size)
        chances = {kind: quick_generator(f"{seed}/{test}/{kind}") for kind in numbers}
        verified = self._verified(test, numbers, chances)
        positions: Counter[int] = Counter()  # by turns over all kinds, since a small test has one question of some
        for kind, number in numbers.items():
            chance = chances[kind]
            drafts = verified[kind] if _binary(kind) else self._choosing(test, kind, number, chance)
            made = list(self._of_kind(test, (kind, drafts), chance, forbidden, positions))
            pairs.extend(pair for group in made for pair in group)
            if len(made) < number:
                wanting[kind] = number - len(made)
        return Made(pairs=tuple(pairs), wanting=wanting)

    def _of_kind(
        self,
        test: Test,
        drafted: tuple[Kind, Sequence[Draft]],
        chance: Random,
        without: frozenset[tuple[str, str]],
        positions: Counter[int],
    ) -> Iterator[list[QuestionPair]]:
        """The pairs of each draft of a kind; ``positions`` counts the questions so far by the choices they offer."""
        kind, drafts = drafted
        for place, draft in enumerate(drafts):
            offered = len(draft.choices)
            position = positions[offered] % offered if offered else 0
            made = self._perturbing.pairs(test, chance, draft, f"{kind}/{place:05d}", position=position)
            if made and not any((made[0].graph.id, text) in without for text in made[0].questions):
                positions[offered] += 1
                yield made

    def _verified(
        self, test: Test, numbers: Mapping[Kind, int], chances: Mapping[Kind, Random]
    ) -> dict[Kind, list[Draft]]:
        """Drafts with the answers yes and no in turn, for all kinds by turns, since they share their nouns."""
        found: dict[Kind, list[Draft]] = {kind: [] for kind in numbers if _binary(kind)}
        draws = {kind: self._verifier(test, kind) for kind in found}
        open_kinds, seen, room, spent = list(found), set[object](), Room(self.corpus), Spent()
        while open_kinds:
            for kind in tuple(open_kinds):
                yes = len(found[kind]) % 2 == 0
                full, draft = len(found[kind]) >= numbers[kind], None
                sides = () if full else self._sides(test, kind, chances[kind])
                for side in spent.left(kind, sides):
                    draft = _new(partial(draws[kind], chances[kind], yes=yes, side=side), seen, room)
                    if draft is not None:
                        break
                    spent.add((kind, side))
                if draft is None:
                    open_kinds.remove(kind)
                else:
                    found[kind] += [draft] if draft.mate is None else [draft, replace(draft.mate, mate=draft)]
        return {kind: drafts[: numbers[kind]] for kind, drafts in found.items()}

    def _verifier(self, test: Test, kind: Kind) -> Verify:
        arguments = self._arguments
        if kind in {"attribute", "attribute-related"}:
            return self._opposites[kind == "attribute-related"].draft
        if kind == "object-related":
            return partial(verification.about_related_object, arguments, drawn=Counter())
        if kind == "object":
            special = {"occlusion-dir": verification.covered, "ontological-inv": verification.renamed}
            return _of_any_side(partial(special.get(test, verification.about_object), arguments))
        joined = verification.conjunction if kind == "conjunction" else verification.disjunction
        return _of_any_side(partial(joined, arguments, alike=test == "order-inv"))

    def _sides(self, test: Test, kind: Kind, chance: Random) -> list[bool | None]:
        """Whether the next question shall say left or right, drawn once, and what else will do if none is found."""
        if test == "mirror-inv":
            return [True]
        side = self._arguments.side(chance, kind) if kind.endswith("-related") else None
        return [side] if side is None else [side, not side]

    def _choosing(self, test: Test, kind: Kind, number: int, chance: Random) -> list[Draft]:
        """Drafts from a larger pool, with classes and answers as balanced as the shares allow."""
        draw, seen, spent = self._chooser(kind), set[object](), Spent()
        pool: list[Draft] = []
        while len(pool) < POOL * number:
            draft = None
            for side in spent.left(kind, self._sides(test, kind, chance)):
                draft = _new(partial(draw, chance, side), seen)
                if draft is not None:
                    break
                spent.add((kind, side))
            if draft is None:
                break
            pool.append(draft)
        return selected(chance, pool, number, self._shares)

    def _chooser(self, kind: Kind) -> Callable[[Random, bool | None], Draft | None]:
        arguments, related, drawn = self._arguments, kind.endswith("-related"), Counter[str]()
        if kind.startswith("object-choice"):
            return lambda chance, side: choices.of_objects(arguments, chance, related=related, side=side, drawn=drawn)
        action = kind.startswith("action")
        return lambda chance, side: choices.of_attributes(
            arguments, chance, related=related, action=action, side=side, drawn=drawn
        )


def _of_any_side(draw: Callable[..., Draft | None]) -> Verify:
    def drafted(chance: Random, *, yes: bool, side: bool | None) -> Draft | None:  # noqa: ARG001 -- it has no relation
        """Draw once."""
        return draw(chance, yes=yes)

    return drafted


def _binary(kind: Kind) -> bool:
    return "choice" not in kind


class Spent(set[tuple[Kind, bool | None]]):
    """The kinds, each with a side, that no new question is left of: they are not tried again."""

    def left(self, kind: Kind, sides: Collection[bool | None]) -> list[bool | None]:
        """The sides that a kind may still have."""
        return [side for side in sides if (kind, side) not in self]


class Room:
    """How often a noun may still be asked for in one test.

    If one image has most of the yeses of a noun, the questions about all other images say no, and so they tell its
    answer. So a noun that m images show is asked for at most m * m / 2 times, and once at least; the difference
    that one image makes is then below that which chance makes.
    """

    def __init__(self, corpus: Corpus) -> None:
        """Nothing is asked yet."""
        self._corpus = corpus
        self._left: dict[str, int] = {}

    def takes(self, draft: Draft) -> bool:
        """Use up room for what a draft asks for; False, and none is used, if one of its nouns has no room."""
        asked = draft.rare or tuple((noun, self._often(noun)) for noun in draft.nouns)
        for name, often in asked:
            if self._left.setdefault(name, often) == 0:
                return False
        for name, _ in asked:
            self._left[name] -= 1
        return True

    def _often(self, noun: str) -> int:
        return max(1, self._corpus.shown(noun) ** 2 // 2)


def _new(draw: Callable[[], Draft | None], seen: set[object], room: Room | None = None) -> Draft | None:
    """Draw until a draft has new keys and its nouns have room, or give up after ``IN_VAIN`` draws."""
    # A draft uses up its counterpart too, whichever of the two is asked about. So a phrase that is true of few images
    # is asked about equally often with both answers, and the answers so far do not tell the next one.
    for _ in range(IN_VAIN):
        draft = draw()
        if draft is not None and seen.isdisjoint(draft.keys) and (room is None or room.takes(draft)):
            seen.update(draft.keys)
            return draft
    return None
