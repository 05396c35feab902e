"""What a text says to a model with one defect of reading, for texts of any kind and without an image.

The reader of the drawn tasks parses its texts; captions of photographs are too free for that. Here a text is its words,
and a defect leaves words out, or takes one for another. If a caption and its foil say the same to a model, it can only
guess between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from types import MappingProxyType

from vlgate.fixtures.defects.misreading import first_tokens
from vlgate.sensitivity.words import (
    AMOUNTS,
    Words,
    attributes,
    describes,
    is_number,
    is_participle,
    named,
    raw,
    said,
)

_AND = frozenset(("and", "or", "nor", "but"))
_DENIALS = frozenset(("no", "not", "never", "neither", "nor", "none", "nobody", "nothing"))
_BESIDE_DENIALS = frozenset(("do", "some"))  # "does not lie", "no dogs" against "some dogs"
_ANSWERS = (("yes",), ("no",))
_NONE_OR_ONE = frozenset(("zero", "one", "0", "1"))
_THING = "thing"


def alike(defect: str, one: str, other: str) -> bool:
    """Return whether two texts say the same to a model with a defect, but not to an intact one.

    Raises: KeyError if the defect is not one of ``READINGS``.

    >>> alike("bag-of-words", "A dog chases a man.", "A man chases a dog.")
    True
    >>> alike("negation-deaf", "There are no dogs.", "There are some dogs.")
    True
    >>> alike("negation-deaf", "There are no dogs.", "There are no cats.")
    False
    """
    read = READINGS[defect]
    return said(one) != said(other) and read(one) == read(other)


def _unordered(text: str) -> Words:
    return tuple(sorted(said(text)))


def _nouns(text: str) -> Words:
    return tuple(word for word, names in named(text) if names)


def _without_kinds(text: str) -> Words:
    shapes = attributes("shape")
    return tuple(_THING if names else word for word, names in named(text) if word not in shapes)


def _without_colours(text: str) -> Words:
    dropped = attributes("color") | attributes("shade")
    return tuple(word for word in said(text) if word not in dropped)


def _one_or_many(text: str) -> Words:
    return tuple("several" if is_number(word) and word not in _NONE_OR_ONE else word for word in said(text))


def _uncounted(text: str) -> Words:
    return tuple(word for word in said(text) if not is_number(word) and word not in AMOUNTS)


def _undenied(text: str) -> Words:
    words = said(text)
    stated = words[:-1] if words[-1:] in _ANSWERS else words
    dropped = _DENIALS | _BESIDE_DENIALS
    return tuple("with" if word == "without" else word for word in stated if word not in dropped)


def _as_one(*words: str) -> Callable[[str], Words]:
    """The reading that takes each of these words for the first."""
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
        "bag-of-words": _unordered,
        "noun-order": _nouns,
        "colour-blind": _without_colours,
        "shape-blind": _without_kinds,
        "count-blind": _one_or_many,
        "quantifier-deaf": _uncounted,
        "negation-deaf": _undenied,
        "left-right": _as_one("left", "right", "leftmost", "rightmost"),
        "above-below": _as_one("above", "below", "over", "under", "beneath", "underneath", "top", "bottom"),
        "front-behind": _front_and_behind,
        "active-passive": _active,
        "second-operand": _first_operand,
        "ten-tokens": lambda text: said(first_tokens(text)),
    }
)
"""What a text says to a model with each of the defects that texts alone can show, by their names in ``SAYS``."""
