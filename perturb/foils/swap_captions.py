"""Facts from the captions of images: attributes, numbers, and relations between neighbouring noun phrases."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from vlgate.perturb.foils.swap_facts import NUMBERS, SOME, Fact, Has, Relates, Scene, Statement, Vocabulary, Words
from vlgate.perturb.text.grammar import form, plural
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words

# Only what the parse says plainly is taken. A phrase that follows its noun at once belongs to it; the head of one
# further on is often a guess, as in "a man on a bench with a dog".

_NOT_THE_THING = words("not the thing")  # words before a noun that name another thing: a toy truck is not a truck
_PICTURED = words("picture of")  # nouns whose "of" names what they show: a statue of a man is not a man
_IMAGE = frozenset("image photo photograph picture shot view".split())  # what its "of" names is all the image shows
_MANY = words("many of")  # nouns whose "of" names several things
_POSTURES = {posture: posture for posture in "sitting standing lying resting parked perched sleeping".split()}
_POSTURES |= {"laying": "lying", "laid": "lying", "seated": "sitting"}
_LONG = {("in", "front", "of"): "in front of", ("on", "top", "of"): "on top of"}
_ENTAILED = {"on top of": "on", "riding": "on", "inside": "in", "underneath": "under", "beneath": "under"}
_FURTHER = words("further")
_CROWD = words("many") - {"group", "groups"}
_COUNTED = dict.fromkeys(("a", "an", "the", "this", "that", "his", "her", "its", "their"), "one")
_COUNTED |= {str(count): word for count, word in enumerate(NUMBERS[1:-1], 2)}
_SHADES = frozenset("light dark bright pale deep".split())
_MORE = frozenset("another other others each rest more".split())
"""Words that tell of things beyond those that are named: "a burger with another next to it"."""

_ONLOOKERS = frozenset("audience crowd fans onlookers spectators".split())
_GROUPS = {
    "person": words("group of people") | {"group", "people", "someone", "traffic"},
    "animal": {"flock", "herd", "pack"},
}

_Thing = tuple[Words, int]  # the names of a thing, and the position of its noun


def caption_scenes(captions: Iterable[tuple[str, Parsed]], vocabulary: Vocabulary) -> list[Scene]:
    by_image: dict[str, list[Parsed]] = defaultdict(list)
    for image, caption in captions:
        by_image[image].append(caption)
    return [_scene(image, parsed, vocabulary) for image, parsed in by_image.items()]


def _scene(image: str, captions: Sequence[Parsed], vocabulary: Vocabulary) -> Scene:
    facts: set[Fact] = set()
    several: set[str] = set()
    uncounted: set[str] = set()
    statements = []
    for caption in captions:
        reader = _Reader(caption, vocabulary)
        said = tuple(dict.fromkeys(reader.facts()))
        facts.update(said)
        several |= reader.several
        uncounted |= reader.uncounted
        words = tuple(_lemma(token) for token in caption.tokens if token.pos not in {"PUNCT", "SPACE"})
        text = " ".join(caption.text.split())
        if words:
            nouns = tuple(sorted(_lemma(token) for token in caption.tokens if token.pos == "NOUN"))
            key = tuple(sorted(words))
            statements.append(Statement(image=image, key=key, facts=said, text=text, words=words, nouns=nouns))
    return Scene(
        image=image,
        facts=frozenset(facts),
        several=frozenset(several),
        uncounted=frozenset(uncounted),
        captions=tuple(statements),
    )


def _lemma(token: Token) -> str:
    return "a" if token.lower == "an" else token.lemma.lower()


class _Reader:
    """The facts of one caption. ``several`` are the names that it gives to more than one thing, once it is read."""

    def __init__(self, parsed: Parsed, vocabulary: Vocabulary) -> None:
        self._tokens = parsed.tokens
        self._lower = [token.lower for token in parsed.tokens]
        self._vocabulary = vocabulary
        self.several: set[str] = set()
        self.uncounted: set[str] = set()
        self.pairs: set[str] = set()
        self._below: dict[int, list[int]] = defaultdict(list)
        for index, token in enumerate(self._tokens):
            if token.head != index:
                self._below[token.head].append(index)
        self._things = {index: names for names, index in self._named()}

    def facts(self) -> Iterator[Fact]:
        for index, names in self._things.items():
            for name in names:
                yield from self._values(index, name)
                yield from self._relations(index, name)
        yield from (Has(name, number) for name in sorted(self.pairs) for number in ("two", SOME))

    def _named(self) -> Iterator[_Thing]:
        mentions: dict[str, list[int]] = defaultdict(list)
        more, further = (not listed.isdisjoint(self._lower) for listed in (_MORE, _FURTHER))
        self._read_groups()
        for index, token in enumerate(self._tokens):
            if token.pos != "NOUN" or token.dep == "compound" or self._is_before_noun(index):
                continue
            noun = "person" if self._lower[index] == "people" else token.lemma.lower()
            name = " ".join([*(self._lower[child] for child in self._children(index, "compound")), noun])
            known = next((each for each in (name, noun) if self._vocabulary.knows(each)), "")
            names = (name, *self._vocabulary.names(known)[1:]) if known else (name,)
            for each in names:
                mentions[each].append(index)
            if more or token.tag == "NNS" or self._one_of_many(index):
                self.several.update(names)
            if further or self._is_crowd(index):
                self.uncounted.update(names)
            is_thing, is_shown = self._is_the_thing(index), self._governor(index) in _IMAGE
            if not (is_thing or is_shown):
                self.several.update((*names, noun))  # a toy truck beside a truck may be called a truck, too
            elif known != name:
                self.several.add(noun)  # and the home plate of a batter a plate
            elif is_thing:
                yield names[: 1 if noun == "baby" else None], index  # it may be an animal's
        repeated = {name for name, places in mentions.items() if len(places) > 1}
        self.several |= repeated
        self.pairs = {name for name in repeated if self._is_pair(*mentions[name])}
        self.uncounted |= repeated - self.pairs

    def _read_groups(self) -> None:
        for name, groups in _GROUPS.items():
            for index in (index for index, word in enumerate(self._lower) if word in groups):
                if not any(self._lower[child] == "of" for child in self._children(index, "prep")):
                    self.several.add(name)
        if not _ONLOOKERS.isdisjoint(self._lower):
            self.uncounted.add("person")

    def _is_pair(self, one: int, other: int, *more: int) -> bool:
        """Whether two things are all that a caption names so: "a man and a woman" are two people."""
        first, second = self._tokens[one], self._tokens[other]
        joined = second.dep == "conj" and second.head == one and first.lemma != second.lemma
        return joined and not more and first.tag == second.tag == "NN"

    def _is_before_noun(self, index: int) -> bool:
        """Whether a noun is part of a name that the parse does not join: a fire hydrant, a horse drawn carriage."""
        following = self._tokens[index + 1 : index + 2]
        if not following or not self._tokens[index].space:
            return bool(following and following[0].text == "-")
        name = f"{self._lower[index]} {following[0].lemma.lower()}"
        return following[0].pos in {"NOUN", "PROPN"} or following[0].lower == "drawn" or self._vocabulary.knows(name)

    def _is_crowd(self, index: int) -> bool:
        words = {self._lower[child] for child in self._children(index, "amod", "det")}
        return not _CROWD.isdisjoint(words | {self._governor(index)})

    def _values(self, index: int, name: str) -> Iterator[Has]:
        numbers = (*self._children(index, "nummod"), *self._children(index, "det", "poss"))
        number = next((_COUNTED.get(self._lower[c], self._lower[c]) for c in numbers), "")
        agrees = number in NUMBERS and (number == "one") == (self._tokens[index].tag == "NN")
        if plural(name) is not None:
            if agrees and not self._one_of_many(index):
                yield Has(name, number)
            if self._tokens[index].tag == "NNS":
                yield Has(name, SOME)
        for verb in self._verbs(index):
            action = self._participle(verb)
            if self._vocabulary.acts(name, action) and not self._children(verb, "dobj", "neg", "prt"):
                yield Has(name, action)
        adjectives = [*self._children(index, "amod"), *self._coloured(index)]
        head = self._tokens[index].head
        if self._tokens[index].dep == "nsubj" and self._tokens[head].lemma == "be":
            adjectives += self._children(head, "acomp")
        for adjective in adjectives:
            for one in (adjective, *self._children(adjective, "conj")):
                value = self._lower[one]
                shade = value in _SHADES or (one > 0 and self._lower[one - 1] in _SHADES)
                changed = self._children(one, "advmod", "npadvmod", "neg", "prep")
                if self._vocabulary.attribute(value) and not shade and not changed:
                    yield Has(name, value)

    def _coloured(self, index: int) -> Iterator[int]:
        """Yield the colours before a noun; the parse may miss some: "a brown black and white dog"."""
        for place in range(index - 1, -1, -1):
            if self._vocabulary.colour(self._lower[place]):
                yield place
            elif self._lower[place] not in {"and", ",", "-"}:
                return

    def _relations(self, index: int, name: str) -> Iterator[Relates]:
        if self._tokens[index].tag != "NN":
            return
        for relation, end in self._joined(index):
            others = [c for c in self._below[end] if c in self._things and self._tokens[c].dep in {"pobj", "dobj"}]
            for other in others:
                if self._tokens[other].tag == "NN" and not self._coordinated(index) | self._coordinated(other):
                    first, _, rest = relation.partition(" ")
                    texts = {relation, rest if first in _POSTURES else relation}
                    texts |= {_ENTAILED[text] for text in texts if text in _ENTAILED}
                    for text in filter(self._vocabulary.one_way, sorted(texts)):
                        yield from (Relates(name, text, each) for each in self._things[other])

    def _joined(self, index: int) -> Iterator[tuple[str, int]]:
        if self._tokens[index].dep in {"ROOT", "nsubj", "attr"}:  # behind an object, it may belong to the verb
            yield from self._after(index, index, "")
        for verb in self._verbs(index):
            if self._children(verb, "neg", "nsubjpass", "prt"):
                continue
            text = self._participle(verb)
            if self._tokens[verb].tag != "VBN":
                yield text, verb
            yield from self._after(verb, verb, f"{text} ")

    def _verbs(self, index: int) -> Iterator[int]:
        """Yield the verbs that a noun is the subject of; a participle must follow it at once."""
        yield from (c for c in self._children(index, "acl") if c == index + 1 and self._tokens[c].tag in {"VBG", "VBN"})
        head = self._tokens[index].head
        if self._tokens[index].dep == "nsubj" and self._tokens[head].pos == "VERB":
            yield head

    def _participle(self, verb: int) -> str:
        token = self._tokens[verb]
        text = token.lower if token.tag in {"VBG", "VBN"} else _participle(token.lemma)
        return _POSTURES.get(text, text)

    def _after(self, head: int, index: int, text: str) -> Iterator[tuple[str, int]]:
        for child in self._children(head, "prep"):
            if child != index + 1:
                continue
            long = tuple(token.lower for token in self._tokens[child : child + 3])
            if long in _LONG:
                yield text + _LONG[long], child + 2
            else:
                yield text + self._lower[child], child

    def _children(self, index: int, *labels: str) -> list[int]:
        return [child for child in self._below[index] if self._tokens[child].dep in labels]

    def _coordinated(self, index: int) -> bool:
        return self._tokens[index].dep == "conj" or bool(self._children(index, "conj"))

    def _is_the_thing(self, index: int) -> bool:
        words = {self._lower[child] for child in self._children(index, "amod", "det", "compound")}
        if words & _NOT_THE_THING or "no" in words or self._tokens[index].dep in {"poss", "nmod", "npadvmod"}:
            return False
        return self._governor(index) not in _PICTURED

    def _one_of_many(self, index: int) -> bool:
        words = {self._lower[child] for child in self._children(index, "amod", "det")}
        return bool(words & {"another", "other", "each", "every", "several", "many"}) or self._governor(index) in _MANY

    def _governor(self, index: int) -> str:
        """Return the lemma of A in "A of ...", if the thing is what follows "of"; otherwise ""."""
        head = self._tokens[index].head
        if self._tokens[index].dep != "pobj" or self._lower[head] != "of":
            return ""
        return self._tokens[self._tokens[head].head].lemma.lower()


@lru_cache(maxsize=4096)
def _participle(lemma: str) -> str:
    participles = form(lemma, "VBG")
    return participles[0] if participles else lemma
