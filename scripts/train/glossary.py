"""Short phrases about a scene that are taught widely, such as "a red cup", "an animal" and "some hats"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from train.captions import FRAMES, MADE_OF, THERE, denied, framed
from train.scenes import Scene
from vlgate.fixtures.scenes.graph import Graph
from vlgate.perturb.ontology import Number, default_ontology
from vlgate.perturb.questions.drafts import NounPhrase
from vlgate.perturb.questions.templates import TEMPLATES, ask, fits
from vlgate.perturb.text.grammar import plural

Phrase = tuple[str, str]
"""A word and a noun: ("red", "cup"), ("", "animal"), (SEVERAL, "hat"), or ("red", "") for anything red."""

SINGLE, SEVERAL = "one", "several"
MORE = ("three", "four")
LEAST = 0.001
"""The share of the scenes in which a phrase must be true to be taught."""
ASKED, ALONE = 0.45, 0.2
"""The shares of the phrases that are asked for, and that are captions without a denial."""
DENIED = 0.25
"""The share of the questions that deny."""


def phrases_of(graph: Graph) -> set[Phrase]:
    """Return all phrases that are true of a scene."""
    phrases: set[Phrase] = set()
    counts: Counter[str] = Counter()
    ontology = default_ontology()
    for item in graph["objects"].values():
        nouns = (item["name"], *ontology.hypernyms(item["name"]))
        counts.update(nouns)
        phrases.update((word, noun) for word in ("", *item["attributes"]) for noun in nouns)
        phrases.update((word, "") for word in item["attributes"])
    for noun, count in counts.items():
        phrases.add((SINGLE if count == 1 else SEVERAL, noun))
        phrases.update((word, noun) for least, word in enumerate(MORE, 3) if count >= least)
    return phrases


def glossary(scenes: Sequence[Scene]) -> tuple[list[Phrase], NDArray[np.uint8]]:
    """Choose the phrases that are true of some scenes, and say of which.

    Returns: the phrases, and an array of shape (scenes, phrases) of zeros and ones.
    """
    true = [phrases_of(scene.graph) for scene in scenes]
    often = Counter(phrase for phrases in true for phrase in phrases)
    phrases = sorted(phrase for phrase, count in often.items() if count >= LEAST * len(scenes))
    place = {phrase: column for column, phrase in enumerate(phrases)}
    truths = np.zeros((len(scenes), len(phrases)), np.uint8)
    for row, known in enumerate(true):
        truths[row, [place[phrase] for phrase in known if phrase in place]] = 1
    return phrases, truths


def can_be_written(phrase: Phrase) -> bool:
    """Return whether ``written`` has texts for a phrase; of a noun without a plural no number is said."""
    word, noun = phrase
    return noun != "" and word not in MORE and (word not in (SINGLE, SEVERAL) or plural(noun) is not None)


def written(phrase: Phrase, chance: np.random.Generator) -> tuple[str, str]:
    """Write a text that is true if a phrase is, and one that is true if it is not, "" for none.

    They are a statement and its denial, a question with both answers, or a caption alone.

    >>> written(("red", "cup"), np.random.default_rng(0))
    ('A picture of a red cup.', '')
    """
    word, noun = phrase
    if word in (SINGLE, SEVERAL):
        return _number(noun, chance, several=word == SEVERAL), ""
    attribute = MADE_OF.get(word, word)
    way = chance.random()
    if way < ASKED:
        return _question(NounPhrase(noun, _grammar(noun), (attribute,) if word else ()), chance)
    named = f"{attribute} {noun}".strip()
    if way < ASKED + ALONE:
        return framed(_any(chance, FRAMES), named), ""
    frame = _any(chance, THERE)
    return framed(frame, named), denied(frame, named)


def _number(noun: str, chance: np.random.Generator, *, several: bool) -> str:
    if several:
        return _any(chance, ("There are some {}.", "There are a number of {}.")).format(plural(noun))
    return _any(chance, ("There is exactly one {}.", "There is a single {}.")).format(noun)


def _question(phrase: NounPhrase, chance: np.random.Generator) -> tuple[str, str]:
    """A question about a thing with the answers yes and no, in the form in which a matcher is asked."""
    fit = [template for template in TEMPLATES["object"] if fits(template, phrase)]
    template = fit[int(chance.integers(len(fit)))]
    negated = chance.random() < DENIED and bool(template.negated)
    question = ask(template, phrase, negated=negated)
    yes, no = f"{question} yes", f"{question} no"
    return (no, yes) if negated else (yes, no)


def _grammar(noun: str) -> Number:
    if plural(noun) is not None:
        return "singular"
    return "plural" if noun.endswith("s") else "mass"


def _any(chance: np.random.Generator, frames: Sequence[str]) -> str:
    return frames[int(chance.integers(len(frames)))]
