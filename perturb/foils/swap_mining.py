"""Find two images with captions of the same words in another order, each true of one of them only.

All statements of all images are put into an index by the multiset of their words, so no two are compared that do not
have the same words (Winoground, section 3.1). Two statements make a pair if one contradicts the other: A is behind B
and B is behind A; a red cup and a blue plate, and a blue cup and a red plate; two dogs and one cat, and one dog and two
cats.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from vlgate.perturb.foils.candidates import Perturbed, Swap
from vlgate.perturb.foils.swap_facts import (
    BROADER,
    NUMBERS,
    SOME,
    Fact,
    Has,
    Lacks,
    Relates,
    Scene,
    Statement,
    Vocabulary,
    certain,
    statements,
    undisputed,
)

SAME_IMAGE = "both are captions of one image"
SAME_FACTS = "the order changes no fact"
NO_CONTRADICTION = "neither caption contradicts the other"
BOTH_TRUE = "a caption is true of both images"
UNSURE = "an image may have several such things, or its captions disagree"

_MOST = 2  # cases of one image

_WORD = re.compile(r"[\w'-]+")


class _Contrast(NamedTuple):
    """Facts of two statements that contradict each other, and what changes places: Object, Relation or Both."""

    one: frozenset[Fact]
    other: frozenset[Fact]
    collapsed_tag: str


def mine(scenes: Iterable[Scene], vocabulary: Vocabulary) -> Perturbed:
    """The pairs of all scenes, at most one for each two images, and a reason for each pair that is not one."""
    by_image = {scene.image: scene for scene in scenes}
    plain = {scene.image: undisputed(scene, vocabulary) for scene in by_image.values()}
    sure = {scene.image: certain(scene, plain[scene.image], vocabulary) for scene in by_image.values()}
    index: dict[tuple[str, ...], list[Statement]] = defaultdict(list)
    for scene in by_image.values():
        for statement in (*scene.captions, *statements(scene, plain[scene.image], sure[scene.image], vocabulary)):
            index[statement.key].append(statement)
    swaps: dict[tuple[str, str], Swap] = {}
    taken: Counter[str] = Counter()
    refused: list[str] = []
    shared = (index[key] for key in sorted(key for key, group in index.items() if len(group) > 1))
    for group in sorted(shared, key=_rank):
        for one, other in _pairs(group, taken):
            contrast = _contrast(one, other, vocabulary)
            why = _refused((one, other), contrast, by_image, plain, sure)
            if contrast is None or why:
                refused.append(why)
            elif max(taken[one.image], taken[other.image]) < _MOST:
                first, second = sorted((one.image, other.image))
                if (first, second) not in swaps:
                    taken.update((first, second))
                    swaps[first, second] = _swap(one, other, contrast, vocabulary)
    return Perturbed.of(*swaps.values(), *refused)


def _rank(group: Sequence[Statement]) -> tuple[bool, bool, bool, int]:
    """Whole captions come first, then words that say most."""
    return not group[0].text, SOME in group[0].key, not BROADER.isdisjoint(group[0].key), -len(group[0].key)


def _pairs(group: Sequence[Statement], taken: Mapping[str, int]) -> Iterator[tuple[Statement, Statement]]:
    by_wording: dict[tuple[object, ...], dict[str, Statement]] = defaultdict(dict)
    for statement in group:
        by_wording[statement.words or statement.facts].setdefault(statement.image, statement)
    for both in combinations(by_wording.values(), 2):
        one, other = ([each for each in images.values() if taken[each.image] < _MOST] for images in both)
        yield from zip(one, other, strict=False)


def _refused(
    pair: tuple[Statement, Statement],
    contrast: _Contrast | None,
    scenes: Mapping[str, Scene],
    plain: Mapping[str, set[Has]],
    sure: Mapping[str, frozenset[Fact]],
) -> str:
    statement, other = pair
    if statement.image == other.image:
        return SAME_IMAGE
    if contrast is None:
        return NO_CONTRADICTION if set(statement.facts) ^ set(other.facts) else SAME_FACTS
    if contrast.one <= scenes[other.image].facts or contrast.other <= scenes[statement.image].facts:
        return BOTH_TRUE
    for facts, image in ((contrast.one, statement.image), (contrast.other, other.image)):
        if any(isinstance(fact, Has) for fact in (facts & scenes[image].facts) - plain[image]):
            return UNSURE
    return "" if _sure(contrast, sure[statement.image], sure[other.image]) else UNSURE


def _sure(contrast: _Contrast, sure: frozenset[Fact], of_other: frozenset[Fact]) -> bool:
    """Whether a thing of which nothing else can hold has one value in the one image and another in the other."""
    # What a thing lacks follows from a value that it is said to have.
    both = [fact for fact in contrast.one if isinstance(fact, Relates) or fact.value in NUMBERS]
    if both:
        return contrast.one <= sure and contrast.other <= of_other
    if any(isinstance(fact, Lacks) for fact in contrast.one):
        return True
    return bool({fact[0] for fact in contrast.one & sure} & {fact[0] for fact in contrast.other & of_other})


def _swap(statement: Statement, other: Statement, contrast: _Contrast, vocabulary: Vocabulary) -> Swap:
    first, second = (vocabulary.wording(sorted(facts)) for facts in (contrast.one, contrast.other))
    captions = (statement.text or vocabulary.wording(statement.facts), other.text or vocabulary.wording(other.facts))
    morphemes = {} if _forms(captions[0]) == _forms(captions[1]) else {"secondary_tag": "Morpheme-Level"}
    return Swap(
        images=(statement.image, other.image),
        captions=captions,
        why=f"The first image has {first}, the second has {second}.",
        tags=_tags(contrast, statement, vocabulary) | morphemes,
    )


def _forms(text: str) -> list[str]:
    return sorted("a" if word == "an" else word for word in _WORD.findall(text.lower()))


def _contrast(statement: Statement, other: Statement, vocabulary: Vocabulary) -> _Contrast | None:
    turned = next(_turned(statement, other, vocabulary), None)
    exchanged = next(_exchanged(statement, other, vocabulary), None)
    facts = turned or exchanged or _moved(statement, other)
    if facts is None:
        return None
    # Two nouns that change places under their adjectives are one swap, and so are two phrases with them.
    apart = turned and exchanged and {f.noun for f in exchanged[0]} != {turned[0][0].subject, turned[0][0].object}
    if apart or statement.nouns != other.nouns:
        return _Contrast(frozenset(facts[0]), frozenset(facts[1]), "Both")
    return _Contrast(frozenset(facts[0]), frozenset(facts[1]), "Object" if turned else "Relation")


def _turned(
    statement: Statement, other: Statement, vocabulary: Vocabulary
) -> Iterator[tuple[tuple[Relates], tuple[Relates]]]:
    for fact in statement.facts:
        if isinstance(fact, Relates) and fact not in other.facts and vocabulary.one_way(fact.relation):
            turned = Relates(fact.object, fact.relation, fact.subject)
            if turned in other.facts:
                yield (fact,), (turned,)


def _exchanged(
    statement: Statement, other: Statement, vocabulary: Vocabulary
) -> Iterator[tuple[tuple[Has, Has], tuple[Has, Has]]]:
    # Each two values of the first statement that the second says of each other's thing.
    for first, second in combinations([fact for fact in statement.facts if isinstance(fact, Has)], 2):
        if vocabulary.exchangeable(first, second):
            exchanged = (Has(first.noun, second.value), Has(second.noun, first.value))
            if set(exchanged) <= set(other.facts):
                yield (first, second), exchanged


def _moved(statement: Statement, other: Statement) -> tuple[tuple[Fact, ...], tuple[Fact, ...]] | None:
    """A value that the one statement says of the one thing and the other of the other: "a black cat and a dog"."""
    found = [fact for fact in statement.facts if isinstance(fact, Has)]
    lacked = [fact for fact in statement.facts if isinstance(fact, Lacks)]
    if len(found) == len(lacked) == 1 and {Has(*lacked[0]), Lacks(*found[0])} == set(other.facts):
        return statement.facts, other.facts
    return None


def _tags(contrast: _Contrast, statement: Statement, vocabulary: Vocabulary) -> dict[str, str]:
    fact = min(contrast.one, key=lambda fact: isinstance(fact, Lacks))
    if isinstance(fact, Relates):
        tag = "Noun"
    elif fact.value in NUMBERS:
        tag = "Determiner-Numeral"
    elif vocabulary.action(fact.value):
        tag = "Verb-Intransitive"
    else:
        tag = f"Adjective-{vocabulary.category(fact.value).title()}"
    preds = "2" if tag == "Verb-Intransitive" else "1"
    origin = "caption" if statement.text else "part"
    return {"collapsed_tag": contrast.collapsed_tag, "tag": tag, "num_main_preds": preds, "origin": origin}
