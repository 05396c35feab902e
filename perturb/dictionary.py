"""The dictionary of ``lemminflect``: the forms of a word, and the words of a form.

``import lemminflect`` imports spaCy, and all that spaCy imports, for attributes of spaCy's tokens, which nothing here
uses. So the two modules that read the dictionary are imported without running the code of their package.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from typing import Any

_LIBRARY = "lemminflect"


def lemmas(word: str, upos: str) -> tuple[str, ...]:
    """Return the words of a part of speech that have ``word`` as a form.

    >>> lemmas("left", "VERB"), lemmas("gribbleflax", "NOUN")
    (('leave',), ())
    """
    found: tuple[str, ...] = _reader("Lemmatizer").getAllLemmas(word, upos).get(upos, ())
    return found


def is_word(word: str) -> bool:
    """Return whether the dictionary has ``word``, or has it as a form of another one.

    >>> is_word("left"), is_word("gribbleflax")
    (True, False)
    """
    return bool(_reader("Lemmatizer").getAllLemmas(word))


def forms(lemma: str, upos: str) -> dict[str, tuple[str, ...]]:
    """Return the forms of a word by their Penn tags, the usual one first; none if the dictionary lacks it.

    >>> forms("lift", "VERB")["VBZ"], forms("gribbleflax", "NOUN")
    (('lifts',), {})
    """
    found: dict[str, tuple[str, ...]] = _reader("Inflections").getAllInflections(lemma, upos)
    return found


def form(lemma: str, tag: str, *, guess: bool = True) -> tuple[str, ...]:
    """Return one form of a word by its Penn tag; ``guess`` applies the library's rules to words that it lacks.

    >>> form("gribble", "VBG"), form("gribble", "VBG", guess=False)
    (('gribbling',), ())
    """
    found: tuple[str, ...] = _reader("Inflections").getInflection(lemma, tag, guess)
    return found


@cache
def _reader(name: str) -> Any:
    """Return one of the library's classes, which reads its dictionary at the first look-up, in 0.3 s."""
    module = f"{_LIBRARY}.core.{name}"
    spec = find_spec(_LIBRARY)
    if _LIBRARY in sys.modules or spec is None:
        return getattr(import_module(module), name)()
    sys.modules[_LIBRARY] = module_from_spec(spec)
    try:
        return getattr(import_module(module), name)()
    finally:
        del sys.modules[_LIBRARY]  # a later import of the library runs its own code, and finds these modules
