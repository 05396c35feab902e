"""What a text about any image says to a model with one defect of reading, by its words and without a parser."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType

from vlgate.fixtures.reader.defects import first_tokens
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.text.grammar import form, lemmas, singular
from vlgate.perturb.text.rewriting import NUMBER_WORDS

# The tables of the ontology and the dictionary decide, and the article before a word. Both texts of a case are read by
# the same rules, so that a word that is read wrongly is read wrongly in both.

Words = tuple[str, ...]

AMOUNTS = frozenset(
    (
        "all both couple dozen each every exactly few group just least lot many more most multiple number numerous of "
        "only several single some than there various"
    ).split()
)  # words that say how many: "a number of", "at least", "a single"; with "there", as in "there is exactly one"

_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_ARTICLES = frozenset(("a", "an", "any", "the"))
_BASES = MappingProxyType(
    {
        **dict.fromkeys(("is", "are", "was", "were", "am", "been", "being"), "be"),
        **dict.fromkeys(("has", "had", "having"), "have"),
        **dict.fromkeys(("does", "did", "done", "doing"), "do"),
        **dict.fromkeys(("they", "them"), "it"),
        "their": "its",
        "themselves": "itself",
    }
)
_SIDES = frozenset(("left", "right", "over", "under", "above", "below", "behind"))
_AS_THEY_ARE = _SIDES | {"his", "this", "yes", "no"}  # here "left" is not a form of "leave"
_NUMBERS = frozenset(NUMBER_WORDS)
_PREPOSITIONS = _SIDES | {"in", "on", "up", "down", "off", "out", "through", "past", "near", "next", "like", "inside"}
_OF_A_THING = frozenset(("his", "her", "its", "some", "another", "several", "many"))
_CACHED = 65_536


@functools.lru_cache(maxsize=_CACHED)
def said(text: str) -> Words:
    # Forms of one word are the same word, because a foil with another number has other forms of its verb, too.
    return tuple(_base(word) for word in raw(text) if word not in _ARTICLES)


def raw(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("\u2019", "'").replace("n't", " not").replace("cannot", "can not"))


def named(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of a text, and whether each names a thing; the words of one name are one.

    >>> list(named("A brown teddy bear sleeps."))
    [('brown', False), ('teddy bear', True), ('sleep', False)]
    """
    ontology = default_ontology()
    # What an article stands before is a noun if it can be; an attribute before a noun ("metal bowl") is none.
    both = [(before in _ARTICLES, word) for before, word in pairwise(("", *raw(text))) if word not in _ARTICLES]
    told = [(_base(word), is_noun(word) or (after and _may_be_noun(word))) for after, word in both]
    words = [word for word, _ in told]
    following = pairwise((*told, ("", False)))
    nouns = [noun and not (after and word in ontology.attributes) for (word, noun), (_, after) in following]
    place = 0
    while place < len(words):
        end = place + 1
        while end < len(words) and all(nouns[place : end + 1]) and ontology.knows(" ".join(words[place : end + 1])):
            end += 1
        yield " ".join(words[place:end]), nouns[place]
        place = end


@functools.lru_cache(maxsize=_CACHED)
def is_noun(word: str) -> bool:
    if word in AMOUNTS:
        return False
    if default_ontology().knows(word):
        return word not in attributes("color")
    return _may_be_noun(word) and not any(lemmas(word, kind) for kind in ("VERB", "ADJ", "ADV"))


@functools.lru_cache(maxsize=_CACHED)
def describes(word: str) -> bool:
    adjective = bool(lemmas(word, "ADJ")) and word not in _PREPOSITIONS
    return adjective or is_number(word) or word in _OF_A_THING or word in default_ontology().attributes


@functools.lru_cache(maxsize=_CACHED)
def is_participle(word: str) -> bool:
    return any(word in form(verb, "VBN") for verb in lemmas(word, "VERB"))


def is_number(word: str) -> bool:
    return word in _NUMBERS or word.isdigit()


@functools.cache  # the categories are few
def attributes(category: str) -> frozenset[str]:
    known = default_ontology().attributes.items()
    return frozenset(word for name, one in known if one.category == category for word in name.split() if word != "and")


@functools.lru_cache(maxsize=_CACHED)
def _base(word: str) -> str:
    if word in _AS_THEY_ARE:
        return word
    verbs = lemmas(word, "VERB")
    return _BASES.get(word) or singular(word) or (verbs[0] if verbs else word)


@functools.lru_cache(maxsize=_CACHED)
def _may_be_noun(word: str) -> bool:
    return bool(lemmas(word, "NOUN")) and word not in AMOUNTS


# The reader of the drawn tasks parses its texts; captions of photographs are too free for that. Here a text is its
# words, and a defect leaves words out, or takes one for another. If a caption and its foil say the same to a model, it
# can only guess between them.

_AND = frozenset(("and", "or", "nor", "but"))
_DENIALS = frozenset(("no", "not", "never", "neither", "nor", "none", "nobody", "nothing"))
_BESIDE_DENIALS = frozenset(("do", "some"))  # "does not lie", "no dogs" against "some dogs"
_ANSWERS = (("yes",), ("no",))
_NONE_OR_ONE = frozenset(("zero", "one", "0", "1"))
_THING = "thing"


def alike(defect: str, one: str, other: str) -> bool:
    read = READINGS[defect]
    return said(one) != said(other) and read(one) == read(other)


def _without_kinds(text: str) -> Words:
    shapes = attributes("shape")
    return tuple(_THING if names else word for word, names in named(text) if word not in shapes)


def _without_colours(text: str) -> Words:
    dropped = attributes("color") | attributes("shade")
    return tuple(word for word in said(text) if word not in dropped)


def _one_or_many(text: str) -> Words:
    return tuple("several" if is_number(word) and word not in _NONE_OR_ONE else word for word in said(text))


def _undenied(text: str) -> Words:
    words = said(text)
    stated = words[:-1] if words[-1:] in _ANSWERS else words
    dropped = _DENIALS | _BESIDE_DENIALS
    return tuple("with" if word == "without" else word for word in stated if word not in dropped)


def _as_one(*words: str) -> Callable[[str], Words]:
    return lambda text: tuple(words[0] if word in words else word for word in said(text))


def _front_and_behind(text: str) -> Words:
    return _as_one("behind", "front", "rear", "back")(re.sub(r"\bin (?:the )?front of\b", "behind", text.lower()))


def _active(text: str) -> Words:
    """Leave out the auxiliary and the "by" of a passive verb: "is chased by" says "chases"."""
    words = raw(text)
    passive = "by" in words and any(said(word) == ("be",) and is_participle(after) for word, after in pairwise(words))
    return tuple(word for word in said(text) if not (passive and word in {"be", "by"}))


def _first_operand(text: str) -> Words:
    """Leave out what is joined by "and": the noun phrase behind it if a noun stands before it, else one word."""
    words, kept = list(named(text)), list[tuple[str, bool]]()
    while words:
        word, names = words.pop(0)
        if word not in _AND or not kept or not words:
            kept.append((word, names))
        elif not kept[-1][1]:
            words.pop(0)
        else:
            while words and not words[0][1] and describes(words[0][0]):
                words.pop(0)
            while words and words[0][1]:
                words.pop(0)
    return tuple(word for word, _ in kept)


READINGS: Mapping[str, Callable[[str], Words]] = MappingProxyType(
    {
        "bag-of-words": lambda text: tuple(sorted(said(text))),
        "noun-order": lambda text: tuple(word for word, names in named(text) if names),
        "colour-blind": _without_colours,
        "shape-blind": _without_kinds,
        "count-blind": _one_or_many,
        "quantifier-deaf": lambda text: tuple(w for w in said(text) if not is_number(w) and w not in AMOUNTS),
        "negation-deaf": _undenied,
        "left-right": _as_one("left", "right", "leftmost", "rightmost"),
        "above-below": _as_one("above", "below", "over", "under", "beneath", "underneath", "top", "bottom"),
        "front-behind": _front_and_behind,
        "active-passive": _active,
        "second-operand": _first_operand,
        "ten-tokens": lambda text: said(first_tokens(text)),
    }
)  # what a text says to a model with each of the defects that texts alone can show, by their names in ``SAYS``
