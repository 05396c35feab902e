"""Short captions of a scene graph with their foils: one word is changed, and the caption is then false."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from vlgate.fixtures.scenes.graph import GqaObject, Graph
from vlgate.fixtures.scenes.objects.catalogue import CATALOGUE
from vlgate.fixtures.scenes.objects.people import BUILDS, POSES
from vlgate.fixtures.scenes.shapes import ALL_COLOURS
from vlgate.perturb.text.grammar import plural
from vlgate.perturb.text.grammar import with_article as with_any_article
from vlgate.perturb.text.rewriting import NUMBER_WORDS

Text = tuple[str, bool]
NOUNS: tuple[str, ...] = (*CATALOGUE, *BUILDS)
THERE = ("There is {}.", "There is {} in the picture.")
FRAMES = (*THERE, "A picture of {}.", "{}.")
PLURALS = ("pants", "shorts", "clothes")
"""Nouns that are plurals, of one thing too."""
UNCOUNTED = ("clothing", "equipment", "food", "furniture")
"""Nouns that have no article."""
PAIRED = 2
"""Of each kind of caption, at most so many a scene, each with its foil."""


def captions_of(graph: Graph, chance: np.random.Generator) -> list[Text]:
    """Write captions of each kind, each followed by its foil."""
    things = list(graph["objects"].values())
    texts: list[Text] = []
    for kind in (_noun, _several, _colour, _attribute, _none, _number, _related):
        for _ in range(PAIRED):
            texts.extend(kind(things, chance))
    return texts


def _noun(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    frame = _any(chance, FRAMES)
    yield framed(frame, _any(chance, _present(things))), True
    yield framed(frame, _any(chance, _absent(things))), False


def _several(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """Two or three things; in the foil, one is another."""
    present = _present(things)
    if len(present) < 2:
        return
    named = [str(name) for name in chance.permutation(present)[: int(chance.integers(2, 4))]]
    frame = _any(chance, FRAMES)
    yield framed(frame, *named), True
    named[int(chance.integers(len(named)))] = _any(chance, _absent(things))
    yield framed(frame, *named), False


def _colour(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """The colour of a thing, and one that no thing of its kind has."""
    coloured = [item for item in things if _colour_of(item)]
    if not coloured:
        return
    name = coloured[int(chance.integers(len(coloured)))]["name"]
    has = sorted({_colour_of(item) for item in coloured if item["name"] == name})
    lacks = sorted({*ALL_COLOURS} - set(has))
    frame = _any(chance, (*FRAMES, "The {kind} is {colour}."))
    for colours, truth in ((has, True), (lacks, False)):
        colour = _any(chance, colours)
        yield framed(frame, f"{colour} {name}", kind=name, colour=colour), truth


def _attribute(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """Another attribute of a thing, and one of its kind that no such thing has."""
    candidates = [(item["name"], word) for item in things for word in item["attributes"] if word not in ALL_COLOURS]
    if not candidates:
        return
    name, word = candidates[int(chance.integers(len(candidates)))]
    rivals = next((group for group in attribute_groups(name) if word in group), ())
    has = {other for item in things if item["name"] == name for other in item["attributes"]}
    lacks = [other for other in rivals if other not in has]
    if not lacks:
        return
    frame = "The {kind} is {attribute}." if word in POSES or chance.random() < 0.5 else "There is {}."
    for one, truth in ((word, True), (_any(chance, lacks), False)):
        said = MADE_OF.get(one, one)
        yield framed(frame, f"{said} {name}", kind=name, attribute=said), truth


def attribute_groups(name: str) -> list[tuple[str, ...]]:
    """Return the attributes of a kind in groups: a thing has at most one of each."""
    if name in BUILDS:
        return [tuple(POSES)]
    known = CATALOGUE[name]
    patterns = ("plain", "striped", "dotted", "checkered") if known.patterned else ()
    states = tuple(state for state in known.looks if state)
    return [("small", "large"), tuple(known.materials), patterns, ("clean", "dirty"), states]


MADE_OF = {"wood": "wooden"}


def _none(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """A kind that is absent is denied, and one that is present is denied falsely; with a colour or without."""
    frame = _any(chance, THERE)
    for name, truth in ((_any(chance, _absent(things)), True), (_any(chance, _present(things)), False)):
        colours = [_colour_of(item) for item in things if item["name"] == name and _colour_of(item)]
        if truth:
            colours = list(ALL_COLOURS)
        phrase = f"{_any(chance, colours)} {name}" if colours and chance.random() < 0.6 else name
        yield denied(frame, phrase), truth


def _number(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """How many things of a kind there are: exactly, or one against several.

    A number is said as often of a kind that has it as of one that has another, so the number alone tells nothing.
    Kinds that have no plural are left out.
    """
    counts = Counter(item["name"] for item in things if plural(item["name"]))
    if not counts:
        return
    if chance.random() < 0.4:
        several = chance.random() < 0.5
        kinds = sorted(name for name, number in counts.items() if (number > 1) == several)
        if 0 < len(kinds) < len(counts):  # both are there, so each is as often true
            name = _any(chance, kinds)
            yield _any(chance, ("There is exactly one {}.", "There is a single {}.")).format(name), not several
            many = _any(chance, ("There are some {}.", "There are a number of {}."))
            yield many.format(plural(name)), several
        return
    counts[_any(chance, [name for name in _absent(things) if plural(name)])] = 0
    name, other = (str(one) for one in chance.permutation(sorted(counts))[:2])
    if counts[name] != counts[other]:
        yield _exactly(counts[name], name), True
        yield _exactly(counts[other], name), False


def _exactly(number: int, name: str) -> str:
    noun = name if number == 1 else plural(name)
    return f"There {'is' if number == 1 else 'are'} exactly {NUMBER_WORDS[number]} {noun}."


def _related(things: Sequence[GqaObject], chance: np.random.Generator) -> Iterator[Text]:
    """A relation; there is no foil, only the captions of other scenes."""
    found = [(item, relation) for item in things for relation in item["relations"]]
    if not found:
        return
    item, relation = found[int(chance.integers(len(found)))]
    target = things[int(relation["object"])]["name"]
    frame = "{} is {relation} {target}." if chance.random() < 0.5 else "{} {relation} {target}."
    yield framed(frame, item["name"], relation=relation["name"], target=with_article(target)), True


def framed(frame: str, *phrases: str, **words: str) -> str:
    """Put phrases with their articles into a frame, whose verb is "are" if the first phrase is a plural.

    >>> framed("There is {}.", "red pants"), framed("{} there.", "cup", "open box")
    ('There are red pants.', 'A cup and an open box there.')
    """
    *first, last = map(with_article, phrases)
    said = f"{', '.join(first)} and {last}" if first else last
    return _capital(_with_verb(frame, phrases[0]).format(said, **words))


def denied(frame: str, phrase: str) -> str:
    """Put a phrase with "no" into a frame.

    >>> denied("There is {}.", "red pants"), denied("There is {} there.", "cup")
    ('There are no red pants.', 'There is no cup there.')
    """
    return _with_verb(frame, phrase).format(f"no {phrase}")


def _with_verb(frame: str, phrase: str) -> str:
    return frame.replace(" is ", " are ") if phrase.endswith(PLURALS) else frame


def with_article(phrase: str) -> str:
    """Put an article before a phrase, unless its noun is a plural or is not counted."""
    return phrase if phrase.endswith((*PLURALS, *UNCOUNTED)) else with_any_article(phrase)


def _present(things: Sequence[GqaObject]) -> list[str]:
    return sorted({item["name"] for item in things})


def _absent(things: Sequence[GqaObject]) -> list[str]:
    return sorted(set(NOUNS) - {item["name"] for item in things})


def _colour_of(item: GqaObject) -> str:
    return next((word for word in item["attributes"] if word in ALL_COLOURS), "")


def _any(chance: np.random.Generator, words: Sequence[str]) -> str:
    return words[int(chance.integers(len(words)))]


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
