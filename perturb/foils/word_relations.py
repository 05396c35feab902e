"""What a wordnet says of two words: whether two verbs say the same, and whether one noun is a kind of another."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wn import Synset, Wordnet


class WordRelations:
    """The relations of words in a lexicon of ``wn``, looked up once for each word."""

    def __init__(self, wordnet: Wordnet) -> None:
        """Wrap a lexicon, such as ``wn.Wordnet("oewn:2024")``."""
        self._wordnet = wordnet
        self._near = cache(self._near_words)
        self._opposite = cache(self._antonyms)
        self._above = cache(self._above_words)
        self._senses = cache(self._words_above_senses)

    def same_action(self, one: str, other: str) -> bool:
        """Return whether two verbs are synonyms, or one is a hypernym of the other, in any of their senses.

        Antonyms are not, whatever else they share (VALSE, appendix A.5), nor is a verb that the lexicon lacks.
        """
        if one == other:
            return True
        if other in self._opposite(one) or one in self._opposite(other):
            return False
        return other in self._near(one) or one in self._near(other)

    def same_thing(self, one: str, other: str) -> bool:
        """Return whether two nouns may name one thing: synonyms, or one a kind of the other, in any sense."""
        return one == other or other in self._above(one) or one in self._above(other)

    def is_kind(self, noun: str, kind: str, senses: int) -> bool:
        """Return whether one of the first ``senses`` of a noun, the usual one first, is a kind of another noun."""
        return any(kind in words for words in self._senses(noun)[:senses])

    def _words_above_senses(self, noun: str) -> tuple[frozenset[str], ...]:
        return tuple(self._words(self._above_all([one])) for one in self._wordnet.synsets(noun, pos="n"))

    def _near_words(self, verb: str) -> frozenset[str]:
        return self._words(self._upwards(verb, "v"))

    def _above_words(self, noun: str) -> frozenset[str]:
        return self._words(self._upwards(noun, "n"))

    def _upwards(self, word: str, part: str) -> set[Synset]:
        return self._above_all(self._wordnet.synsets(word, pos=part))

    def _above_all(self, some: Iterable[Synset]) -> set[Synset]:
        todo = list(some)
        found = set(todo)
        while todo:
            more = [up for up in todo.pop().hypernyms() if up not in found]
            found.update(more)
            todo += more
        return found

    def _antonyms(self, verb: str) -> frozenset[str]:
        senses = self._wordnet.senses(verb, pos="v")
        return frozenset(one.word().lemma() for sense in senses for one in sense.get_related("antonym"))

    def _words(self, synsets: Iterable[Synset]) -> frozenset[str]:
        return frozenset(lemma for synset in synsets for lemma in synset.lemmas())
