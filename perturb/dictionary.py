"""The dictionary of ``lemminflect``: the forms of a word, and the words of a form.

``import lemminflect`` imports spaCy, and all that spaCy imports, for attributes of spaCy's tokens, which nothing here
uses. So the modules that read the dictionary are imported without running the code of their package. The library reads
all entries at the first look-up, in 0.4 s; here its own code reads those of the words that are looked up.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from io import BytesIO
from pathlib import Path
from typing import Any

_LIBRARY = "lemminflect"
# Of each class that reads: its attributes of the entries and of their file, and the class that reads the file.
_ENTRIES = {
    "Lemmatizer": ("lemma_dict", "lemma_lu_fn", "LemmaLUCodec"),
    "Inflections": ("infl_dict", "infl_lu_fn", "InflectionLUCodec"),
}


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


class Entries(Mapping[str, Any]):
    """The entries of one of the library's files, each read by the library's ``load`` when it is looked up.

    ``load`` takes a file name or a file, of gzip. Words that it adds to those of any file are entries, too.
    """

    def __init__(self, file: Path, load: Callable[[Any], dict[str, Any]]) -> None:
        """Find the lines of each word."""
        self._load = load
        self._lines: dict[str, bytes] = {}
        for line in gzip.decompress(file.read_bytes()).splitlines(keepends=True):
            word = line.partition(b",")[0].decode()
            self._lines[word] = self._lines.get(word, b"") + line
        self._read = self._entries(b"")
        self._more = frozenset(self._read)

    def _entries(self, lines: bytes) -> dict[str, Any]:
        return self._load(BytesIO(gzip.compress(lines, compresslevel=0)))

    def __getitem__(self, word: str) -> Any:
        """Return the entry of a word; KeyError if there is none."""
        if word not in self._read:
            self._read[word] = self._entries(self._lines[word])[word]
        return self._read[word]

    def __iter__(self) -> Iterator[str]:
        """Yield the words."""
        yield from self._lines
        yield from self._more - self._lines.keys()

    def __len__(self) -> int:
        """Return how many words there are."""
        return len(self._lines.keys() | self._more)


@cache
def _reader(name: str) -> Any:
    """Return one of the library's classes, with entries that are read when they are looked up."""
    attribute, file, codec = _ENTRIES[name]
    reader = getattr(_module(f"core.{name}"), name)()
    if not hasattr(reader, attribute):  # there is one reader in a process, which may have read all of them
        load = getattr(_module(f"codecs.{codec}"), codec).load
        setattr(reader, attribute, Entries(Path(getattr(reader, file)), load))
    return reader


def _module(name: str) -> Any:
    module = f"{_LIBRARY}.{name}"
    spec = find_spec(_LIBRARY)
    if _LIBRARY in sys.modules or spec is None:
        return import_module(module)
    sys.modules[_LIBRARY] = module_from_spec(spec)
    try:
        return import_module(module)
    finally:
        del sys.modules[_LIBRARY]  # a later import of the library runs its own code, and finds these modules
