"""Facts from the captions of images: attributes, numbers, and relations between neighbouring noun phrases.

Only what the parse says plainly is taken. A phrase that follows its noun at once belongs to it; the head of one further
on is often a guess, as in "a man on a bench with a dog".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from vlgate.perturb.dictionary import form
from vlgate.perturb.parsing.parsed import Parsed, Token
from vlgate.perturb.swaps.scenes import NUMBERS, Fact, Has, Relates, Scene, Statement, Vocabulary

_NOT_THE_THING = frozenset(
    "toy stuffed fake plastic model ceramic miniature painted inflatable imaginary artificial wooden glass paper "  # noqa: SIM905
    "cartoon animated metal other another".split()
)
"""Words before a noun that name another thing: a toy truck is not a truck."""
_PICTURED = frozenset(
    "picture photo photograph image painting drawing statue sculpture poster sign figure figurine shape head "  # noqa: SIM905
    "print pattern reflection logo decoration cake view shot".split()
)
"""Nouns whose "of" names what they show: a statue of a man is not a man."""
_MANY = frozenset(
    "group bunch pair row couple herd flock crowd number lot variety set stack pile line team pack collection dozen "  # noqa: SIM905
    "assortment array bowl plate box basket bag vase tray".split()
)
"""Nouns whose "of" names several things."""
_POSTURES = frozenset("sitting standing lying laying resting parked perched seated sleeping".split())  # noqa: SIM905
_LONG = {("in", "front", "of"): "in front of", ("on", "top", "of"): "on top of"}
_SHADES = frozenset("light dark bright pale deep".split())  # noqa: SIM905
_MORE = frozenset("another other others each rest more".split())  # noqa: SIM905
"""Words that tell of things beyond those that are named: "a burger with another next to it"."""

_Thing = tuple[str, int]
"""The name of a thing, and the position of its noun."""


def caption_scenes(captions: Iterable[tuple[str, Parsed]], vocabulary: Vocabulary) -> list[Scene]:
    """Return a scene for each image of the captions, which are (image, parsed caption); an image may have several."""
    by_image: dict[str, list[Parsed]] = defaultdict(list)
    for image, caption in captions:
        by_image[image].append(caption)
    return [_scene(image, parsed, vocabulary) for image, parsed in by_image.items()]


def _scene(image: str, captions: Sequence[Parsed], vocabulary: Vocabulary) -> Scene:
    facts: set[Fact] = set()
    several: set[str] = set()
    statements = []
    for caption in captions:
        reader = _Reader(caption, vocabulary)
        found = tuple(dict.fromkeys(reader.facts()))
        facts.update(found)
        several |= reader.several
        words = tuple(_lemma(token) for token in caption.tokens if token.pos not in {"PUNCT", "SPACE"})
        text = " ".join(caption.text.split())
        if words:
            nouns = tuple(sorted(_lemma(token) for token in caption.tokens if token.pos == "NOUN"))
            key = tuple(sorted(words))
            statements.append(Statement(image=image, key=key, facts=found, text=text, words=words, nouns=nouns))
    return Scene(image=image, facts=frozenset(facts), several=frozenset(several), captions=tuple(statements))


def _lemma(token: Token) -> str:
    return "a" if token.lower == "an" else token.lemma.lower()


class _Reader:
    """The facts of one caption. ``several`` are the names that it gives to more than one thing, once it is read."""

    def __init__(self, parsed: Parsed, vocabulary: Vocabulary) -> None:
        self._tokens = parsed.tokens
        self._vocabulary = vocabulary
        self.several: set[str] = set()
        self._below: dict[int, list[int]] = defaultdict(list)
        for place, token in enumerate(self._tokens):
            if token.head != place:
                self._below[token.head].append(place)
        self._things = {place: name for name, place in self._named()}

    def facts(self) -> Iterator[Fact]:
        """Yield what the caption says of each thing, in the caption's order."""
        for place, name in self._things.items():
            yield from self._values(place, name)
            yield from self._relations(place, name)

    def _named(self) -> Iterator[_Thing]:
        names: Counter[str] = Counter()
        more = any(token.lower in _MORE for token in self._tokens)
        for place, token in enumerate(self._tokens):
            if token.pos != "NOUN" or token.dep == "compound":
                continue
            before = [self._tokens[child].lower for child in self._children(place, "compound")]
            name = " ".join([*before, token.lemma.lower()])
            names[name] += 1
            if more or token.tag == "NNS" or names[name] > 1 or self._one_of_many(place):
                self.several.add(name)
            if not self._is_the_thing(place):
                self.several |= {name, token.lemma.lower()}  # a toy truck beside a truck may be called a truck, too
            elif self._vocabulary.knows(name):
                yield name, place

    def _values(self, place: int, name: str) -> Iterator[Has]:
        number = next((self._tokens[c].lower for c in self._children(place, "nummod", "det")), "")
        number = "one" if number in {"a", "an"} else number
        agrees = number in NUMBERS and (number == "one") == (self._tokens[place].tag == "NN")
        if agrees and not self._one_of_many(place) and self._vocabulary.countable(name):
            yield Has(name, number)
        if self._tokens[place].tag != "NN":
            return
        for verb in self._verbs(place):
            if self._vocabulary.action(self._tokens[verb].lower) and not self._children(verb, "dobj", "neg", "prt"):
                yield Has(name, self._tokens[verb].lower)
        adjectives = self._children(place, "amod")
        head = self._tokens[place].head
        if self._tokens[place].dep == "nsubj" and self._tokens[head].lemma == "be":
            adjectives += self._children(head, "acomp")
        for adjective in adjectives:
            for one in (adjective, *self._children(adjective, "conj")):
                value = self._tokens[one].lower
                shade = value in _SHADES or (one > 0 and self._tokens[one - 1].lower in _SHADES)
                changed = self._children(one, "advmod", "npadvmod", "neg", "prep")
                if self._vocabulary.attribute(value) and not shade and not changed:
                    yield Has(name, value)

    def _relations(self, place: int, name: str) -> Iterator[Relates]:
        if self._tokens[place].tag != "NN":
            return
        for relation, end in self._joined(place):
            others = [c for c in self._below[end] if c in self._things and self._tokens[c].dep in {"pobj", "dobj"}]
            for other in others:
                if self._tokens[other].tag == "NN" and not self._coordinated(place) | self._coordinated(other):
                    for text in {relation, self._without_posture(relation)}:
                        if self._vocabulary.one_way(text):
                            yield Relates(name, text, self._things[other])

    def _joined(self, place: int) -> Iterator[tuple[str, int]]:
        """Yield each relation that a noun is the subject of, with the position of the word that governs the object."""
        if self._tokens[place].dep in {"ROOT", "nsubj", "attr"}:  # behind an object, it may belong to the verb
            yield from self._after(place, place, "")
        for verb in self._verbs(place):
            if self._children(verb, "neg", "nsubjpass", "prt"):
                continue
            tag = self._tokens[verb].tag
            text = self._tokens[verb].lower if tag in {"VBG", "VBN"} else _participle(self._tokens[verb].lemma)
            if tag != "VBN":
                yield text, verb
            yield from self._after(verb, verb, f"{text} ")

    def _verbs(self, place: int) -> Iterator[int]:
        """Yield the verbs that a noun is the subject of; a participle must follow it at once."""
        yield from (c for c in self._children(place, "acl") if c == place + 1 and self._tokens[c].tag in {"VBG", "VBN"})
        head = self._tokens[place].head
        if self._tokens[place].dep == "nsubj" and self._tokens[head].pos == "VERB":
            yield head

    def _after(self, head: int, place: int, text: str) -> Iterator[tuple[str, int]]:
        """Yield the preposition that follows a word at once."""
        for child in self._children(head, "prep"):
            if child != place + 1:
                continue
            long = tuple(token.lower for token in self._tokens[child : child + 3])
            if long in _LONG:
                yield text + _LONG[long], child + 2
            else:
                yield text + self._tokens[child].lower, child

    def _children(self, place: int, *labels: str) -> list[int]:
        return [child for child in self._below[place] if self._tokens[child].dep in labels]

    def _without_posture(self, relation: str) -> str:
        first, _, rest = relation.partition(" ")
        return rest if first in _POSTURES else relation

    def _coordinated(self, place: int) -> bool:
        return self._tokens[place].dep == "conj" or bool(self._children(place, "conj"))

    def _is_the_thing(self, place: int) -> bool:
        words = {self._tokens[child].lower for child in self._children(place, "amod", "det", "compound")}
        if words & _NOT_THE_THING or "no" in words or self._tokens[place].dep in {"poss", "nmod", "npadvmod"}:
            return False
        return self._governor(place) not in _PICTURED

    def _one_of_many(self, place: int) -> bool:
        words = {self._tokens[child].lower for child in self._children(place, "amod", "det")}
        return bool(words & {"another", "other", "each", "every", "several", "many"}) or self._governor(place) in _MANY

    def _governor(self, place: int) -> str:
        """Return the lemma of A in "A of ...", if the thing is what follows "of"; otherwise ""."""
        head = self._tokens[place].head
        if self._tokens[place].dep != "pobj" or self._tokens[head].lower != "of":
            return ""
        return self._tokens[self._tokens[head].head].lemma.lower()


@lru_cache(maxsize=4096)
def _participle(lemma: str) -> str:
    """Return the form of a verb that ends in -ing."""
    found = form(lemma, "VBG")
    return found[0] if found else lemma
