"""The dictionary of ``lemminflect``: the forms of a word, and the words of a form.

``import lemminflect`` imports spaCy, and all that spaCy imports, for attributes of spaCy's tokens, which nothing here
uses. So the two classes that read the dictionary are imported from the library's folder under a name of ours.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

_ALIAS = "_vlgate_lemminflect"


def lemmas(word: str, upos: str) -> tuple[str, ...]:
    """Return the words of a part of speech that have ``word`` as a form.

    >>> lemmas("left", "VERB"), lemmas("gribbleflax", "NOUN")
    (('leave',), ())
    """
    found: tuple[str, ...] = _reader("Lemmatizer").getAllLemmas(word, upos).get(upos, ())
    return found


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
    package = "lemminflect"
    if package not in sys.modules:
        package = _ALIAS
        if package not in sys.modules:
            sys.modules[package] = _package()
    return getattr(import_module(f"{package}.core.{name}"), name)()


def _package() -> ModuleType:
    spec = find_spec("lemminflect")
    if spec is None or spec.submodule_search_locations is None:
        raise ModuleNotFoundError("No module named 'lemminflect'; run pip install vlgate", name="lemminflect")
    package = ModuleType(_ALIAS)
    package.__path__ = list(spec.submodule_search_locations)
    return package
