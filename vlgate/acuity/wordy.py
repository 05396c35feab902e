"""True sentences before the one that decides, with so many words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vlgate.acuity.placing import phrase

_FORMS = {
    4: ("The {noun} is {colour}.",),
    5: ("There is {phrase}.", "{Phrase} is visible."),
    6: ("{Phrase} can be seen.", "The picture shows {phrase}.", "{Phrase} can be found."),
}
"""Sentences by the number of their words, an article and "colour noun" included."""


def before(chance: np.random.Generator, things: Sequence[tuple[str, str]], words: int) -> str:
    """Return true sentences about things, each a colour and a noun, with so many words in all.

    Raises: ValueError for 1, 2, 3 and 7 words, which no sentences have.

    >>> len(before(np.random.default_rng(0), [("red", "cup")], 13).split())
    13
    """
    said = []
    for number, length in enumerate(_lengths(chance, words)):
        colour, noun = things[number % len(things)]
        told = phrase(colour, noun)
        form = str(chance.choice(_FORMS[length]))
        said.append(form.format(noun=noun, colour=colour, phrase=told, Phrase=told[0].upper() + told[1:]))
    return " ".join(said)


def _lengths(chance: np.random.Generator, words: int) -> list[int]:
    """Lengths of sentences, 4 to 6, that add up; those that leave a rest that no sentences have are not drawn."""
    lengths: list[int] = []
    while words:
        fits = [length for length in _FORMS if words - length not in {1, 2, 3, 7} and words >= length]
        if not fits:
            raise ValueError(
                f"words={words!r}: no sentences of 4 to 6 words have so many; expected 0, 4, 5, 6 or more than 7"
            )
        lengths.append(int(chance.choice(fits)))
        words -= lengths[-1]
    return lengths
