"""Read the numeral of an answer: "2", "Two.", "None."."""

from __future__ import annotations

import re

from vlgate.perturb.numbers import NUMBER_WORDS

LARGEST = 99
"""The largest number that an answer may have; larger ones are guesses."""

_VALUES = {word: value for value, word in enumerate(NUMBER_WORDS)} | {"none": 0}


def numeral(answer: str) -> int | None:
    """Return the number that an answer consists of, or None if it has other words or a number above ``LARGEST``.

    >>> [numeral(answer) for answer in ("2", "Two.", "None.", "2 or 3", "a few", "1000")]
    [2, 2, 0, None, None, None]
    """
    word = answer.strip().rstrip(".!").strip().lower()
    if re.fullmatch(r"[0-9]{1,2}", word):
        return int(word)
    return _VALUES.get(word)
