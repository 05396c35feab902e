"""Generate pairs of questions from scene graphs: the tests of CARETS (Jimenez et al. 2022, section 4) at any size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from random import Random

from vlgate.perturb.question_tests import Distribution, Test
from vlgate.perturb.questions import choices, verification
from vlgate.perturb.questions.arguments import Arguments
from vlgate.perturb.questions.corpus import Corpus
from vlgate.perturb.questions.drafts import Draft, Kind, QuestionPair
from vlgate.perturb.questions.perturbing import Perturbing
from vlgate.perturb.questions.shares import SHARES, makeup, selected
from vlgate.perturb.questions.verification import Opposites
from vlgate.seeds import quick_generator

IN_VAIN = 1000  # draws in a row without a new question, after which a kind is exhausted
POOL = 3  # candidates for each choice question that is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The pairs of a test, and the number of questions missing of each kind that the graphs gave too few of."""

    pairs: tuple[QuestionPair, ...]
    wanting: Mapping[Kind, int]


Verify = Callable[[Random, bool, bool | None], Draft | None]
"""Drafts a question with the wanted answer, of a side as for `Links.draw`, or returns None if a draw fails."""


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
            chance, missing = chances[kind], number
            drafts = verified[kind] if kind in verified else self._choosing(test, kind, number, chance)
            for index, draft in enumerate(drafts):
                offered = len(draft.choices)
                position = positions[offered] % offered if offered else 0
                made = self._perturbing.pairs(test, chance, draft, f"{kind}/{index:05d}", position=position)
                if made and not any((made[0].graph.id, text) in forbidden for text in made[0].questions):
                    positions[offered] += 1
                    pairs += made
                    missing -= 1
            if missing > 0:
                wanting[kind] = missing
        return Made(pairs=tuple(pairs), wanting=wanting)

    def _verified(
        self, test: Test, numbers: Mapping[Kind, int], chances: Mapping[Kind, Random]
    ) -> dict[Kind, list[Draft]]:
        found: dict[Kind, list[Draft]] = {kind: [] for kind in numbers if "choice" not in kind}
        draws = {kind: self._verifier(test, kind) for kind in found}
        open_kinds, new = list(found), New(Room(self.corpus))
        while open_kinds:
            for kind in tuple(open_kinds):
                chance, yes = chances[kind], len(found[kind]) % 2 == 0
                sides = self._sides(test, kind, chance) if len(found[kind]) < numbers[kind] else ()
                draft = new.draft(kind, sides, partial(draws[kind], chance, yes))
                if draft is None:
                    open_kinds.remove(kind)
                else:
                    found[kind] += [draft] if draft.mate is None else [draft, replace(draft.mate, mate=draft)]
        return {kind: drafts[: numbers[kind]] for kind, drafts in found.items()}

    def _verifier(self, test: Test, kind: Kind) -> Verify:
        arguments = self._arguments
        if kind in {"attribute", "attribute-related"}:
            opposites = self._opposites[kind == "attribute-related"]
            return lambda chance, yes, side: opposites.draft(chance, yes=yes, side=side)
        if kind == "object-related":
            about, drawn = verification.about_related_object, Counter[str]()
            return lambda chance, yes, side: about(arguments, chance, yes=yes, side=side, drawn=drawn)
        if kind == "object":
            special = {"occlusion-dir": verification.covered, "ontological-inv": verification.renamed}
            draw = special.get(test, verification.about_object)
            return lambda chance, yes, _: draw(arguments, chance, yes=yes)
        joined = verification.conjunction if kind == "conjunction" else verification.disjunction
        return lambda chance, yes, _: joined(arguments, chance, yes=yes, alike=test == "order-inv")

    def _sides(self, test: Test, kind: Kind, chance: Random) -> list[bool | None]:
        if test == "mirror-inv":
            return [True]
        side = self._arguments.side(chance, kind) if kind.endswith("-related") else None
        return [side] if side is None else [side, not side]

    def _choosing(self, test: Test, kind: Kind, number: int, chance: Random) -> list[Draft]:
        arguments, related, drawn = self._arguments, kind.endswith("-related"), Counter[str]()
        new, pool = New(), list[Draft]()

        def draw(side: bool | None) -> Draft | None:
            if kind.startswith("object-choice"):
                return choices.of_objects(arguments, chance, related=related, side=side, drawn=drawn)
            action = kind.startswith("action")
            return choices.of_attributes(arguments, chance, related=related, action=action, side=side, drawn=drawn)

        while len(pool) < POOL * number and (draft := new.draft(kind, self._sides(test, kind, chance), draw)):
            pool.append(draft)
        return selected(chance, pool, number, self._shares)


class Room:
    """How often a noun may still be asked for in one test.

    If one image has most of the yeses of a noun, the questions about all other images say no, and so they tell its
    answer. So a noun that m images show is asked for at most m * m / 2 times, and once at least; the difference
    that one image makes is then below that which chance makes.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._left: dict[str, int] = {}

    def takes(self, draft: Draft) -> bool:
        """Use up room for what a draft asks for; False, and none is used, if one of its nouns has no room."""
        asked = draft.rare or tuple((noun, max(1, self._corpus.shown(noun) ** 2 // 2)) for noun in draft.nouns)
        for name, often in asked:
            if self._left.setdefault(name, often) == 0:
                return False
        for name, _ in asked:
            self._left[name] -= 1
        return True


class New:
    """Draws drafts with new keys whose nouns have room."""

    def __init__(self, room: Room | None = None) -> None:
        self._room = room
        self._seen: set[object] = set()
        self._spent: set[tuple[Kind, bool | None]] = set()  # of which no new question is left

    def draft(
        self, kind: Kind, sides: Collection[bool | None], draw: Callable[[bool | None], Draft | None]
    ) -> Draft | None:
        """Draw for each side in turn until a draft is new, or give up after ``IN_VAIN`` draws of each."""
        # A draft uses up its counterpart too, whichever of the two is asked about. So a phrase that is true of few
        # images is asked about equally often with both answers, and the answers so far do not tell the next one.
        for side in sides:
            for _ in range(0 if (kind, side) in self._spent else IN_VAIN):
                draft = draw(side)
                if draft is None or not self._seen.isdisjoint(draft.keys):
                    continue
                if self._room is None or self._room.takes(draft):
                    self._seen.update(draft.keys)
                    return draft
            self._spent.add((kind, side))
        return None
