"""Facts about images, from their captions or scene graphs, and statements made of one or two facts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any, NamedTuple

from vlgate.perturb.graphs.absence import WHOLE, has_many, has_others
from vlgate.perturb.graphs.checklist import Slots
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.attributes import ACTION
from vlgate.perturb.ontology.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.perturb.text.grammar import form, plural, with_article
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words

SOME = "some"
NUMBERS = ("one", "two", "three", "four", "five", "six", SOME)
"""The numbers that can change places; a caption seldom counts further."""

SOMETHING = "something"
"""Names a thing whose name does not matter: "a black cat and something white"."""

BROADER = frozenset(("person", "animal", "vehicle", "boat", "aircraft", "bird", "computer", "phone"))
"""Names under which two images may have the same facts: a dog behind a car, and a truck behind a cow."""

_BEARING = frozenset(("on", "carrying", "pulling", "riding"))
"""Of these the contrary does not hold of another thing of the name either: nobody leads two horses that ride on him."""
_FACING = frozenset({"in front of", "standing in front of", "sitting in front of"})
_ANIMATE = frozenset({"person", "animal"})


class Has(NamedTuple):
    """A thing has an attribute ("red", "sitting"), or there are so many of it: ``value`` is then one of ``NUMBERS``."""

    noun: str
    value: str


class Lacks(NamedTuple):
    """A thing is there and has another value that excludes this one: a white cat lacks "black"."""

    noun: str
    value: str


class Relates(NamedTuple):
    """A thing is in a relation to another one: ("dog", "behind", "cat")."""

    subject: str
    relation: str
    object: str


Fact = Has | Lacks | Relates
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text that is true of an image: a whole caption, or one that says ``facts`` and no more, without ``text``."""

    image: str
    key: Words  # its words, sorted; all are lemmas
    facts: tuple[Fact, ...]
    text: str = ""
    words: Words = ()  # of a caption, in order
    nouns: Words = ()  # of a caption, sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What captions or a graph say of an image."""

    image: str
    facts: frozenset[Fact]
    # Names of which there may be more than one thing, so that a fact tells nothing of the others
    several: frozenset[str]
    # Names of which an image may have more than its graph: enough to leave a relation open, but not two attributes
    more: frozenset[str] = frozenset()
    # Names whose numbers may leave some out: "two dogs", if another caption has many dogs, or a dog and others
    uncounted: frozenset[str] = frozenset()
    captions: tuple[Statement, ...] = field(default=(), repr=False)  # for the whole captions


class Vocabulary:
    """What the ontology says of names and values, each looked up once."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.slots = Slots(ontology=ontology)
        self._kept: dict[Any, Any] = {}

    def knows(self, noun: str) -> bool:
        """Return whether a noun can name a thing: it is in the ontology, and is not of the kind of "part"."""
        return self.ontology.knows(noun) and self.ontology.nouns[noun].askable

    @kept
    def names(self, noun: str) -> Words:
        """Return a name that is known, and the broader ones that its things certainly have."""
        return (noun, *(name for name in sorted(BROADER) if name != noun and name in self.ontology.certain(noun)))

    @kept
    def one_way(self, relation: str) -> bool:
        known = self.ontology.relations.get(relation)
        return known is not None and known.asymmetric and bool(known.text)

    @kept
    def attribute(self, value: str) -> bool:
        return value in self.ontology.attributes and self.ontology.attributes[value].before

    def action(self, value: str) -> bool:
        """Return whether an attribute is an action or a pose that can be said behind a noun: "a man sitting"."""
        known = self.ontology.attributes.get(value)
        if known is None or not known.category or known.after != value:
            return False
        return self.ontology.words.categories[known.category].kind == ACTION

    @kept
    def acts(self, noun: str, value: str) -> bool:
        return self.action(value) and self.ontology.acts(noun, value)

    def category(self, value: str) -> str:
        return self.ontology.attributes[value].category

    def colour(self, value: str) -> bool:
        return value in self.ontology.attributes and self.category(value) == "color"

    @kept
    def apart(self, one: str, other: str) -> bool:
        """Whether the other thing is no part of the one and not worn by it."""
        return other not in self.ontology.own_parts(one)

    def exchangeable(self, one: Has, other: Has) -> bool:
        apart = SOMETHING in {one.noun, other.noun} or not self.alike(one.noun, other.noun)
        return one.noun != other.noun and apart and self.exclusive(one.value, other.value)

    def wording(self, facts: Iterable[Fact]) -> str:
        return " and ".join(self._wording(fact) for fact in facts)

    def _wording(self, fact: Fact) -> str:
        if isinstance(fact, Relates):
            text = self.ontology.relations[fact.relation].text
            return f"{self._named(fact.subject)} {text} {self._named(fact.object)}"
        if isinstance(fact, Lacks):
            return self._named(fact.noun)
        if fact.noun == SOMETHING:
            return f"{SOMETHING} {fact.value}"
        if fact.value in NUMBERS:
            return f"{fact.value} {fact.noun if fact.value == 'one' else plural(fact.noun)}"
        if self.action(fact.value):
            return f"{self._named(fact.noun)} {fact.value}"
        return self._named(fact.noun, f"{fact.value} {fact.noun}")

    def _named(self, noun: str, phrase: str = "") -> str:
        return with_article(phrase or noun) if self.ontology.nouns[noun].number == "singular" else phrase or noun

    @kept
    def exclusive(self, one: str, other: str) -> bool:
        if one in NUMBERS or other in NUMBERS:
            counted = one != other and one in NUMBERS and other in NUMBERS
            return counted and (SOME not in {one, other} or "one" in {one, other})
        return self.ontology.exclusive(one, other)

    @kept
    def disputes(self, one: str, other: str) -> bool:
        """Whether a value leaves open that another one holds alone; a thing of two colours has neither."""
        return self.exclusive(one, other) or (one != other and self.colour(one) and self.colour(other))

    @kept
    def same(self, one: str, other: str) -> bool:
        return other in self.ontology.certain(one) and one in self.ontology.certain(other)

    @kept
    def mutual(self, relation: str, one: str, other: str) -> bool:
        """Whether two things may be in a relation to each other: two who face each other are each in front."""
        return relation in _FACING and all(_ANIMATE & {*self.ontology.certain(name)} for name in (one, other))

    @kept
    def alike(self, one: str, other: str) -> bool:
        """Whether all things with one of two names have the other name, too, or one contains the other."""
        within = f" {one} " in f" {other} " or f" {other} " in f" {one} "
        return within or other in self.ontology.certain(one) or one in self.ontology.certain(other)

    @kept
    def possible(self, one: str, other: str) -> bool:
        # The second name may be unknown.
        return one == other or (self.knows(other) and other in self.ontology.possible(one))


def certain(scene: Scene, vocabulary: Vocabulary) -> frozenset[Fact]:
    """The facts whose contrary cannot hold in the image as well."""
    # They are about things of which there are not several, or say a number. Values that another caption of the image
    # contradicts are left out, and so are relations in which both things may be to each other.
    single = scene.several | (_UNBOUNDED if scene.captions else set())
    if "person" in scene.several and scene.captions:
        single |= {fact[0] for fact in scene.facts if not _UNSAID.isdisjoint(vocabulary.ontology.certain(fact[0]))}
    vague = {"": single, **dict.fromkeys(NUMBERS[1:-1], scene.uncounted), SOME: frozenset()}
    plain = undisputed(scene, vocabulary)
    return frozenset(
        fact
        for fact in scene.facts
        if (
            _one_way(fact, scene, vocabulary)
            if isinstance(fact, Relates)
            else fact in plain and fact.noun not in vague.get(fact.value, vague[""])
        )
    )


def undisputed(scene: Scene, vocabulary: Vocabulary) -> set[Has]:
    """The values that nothing else said of the image contradicts; "a man" is said of one of two as well."""
    values: dict[str, list[Has]] = {}
    for fact in scene.facts:
        if isinstance(fact, Has):
            values.setdefault(fact.noun, []).append(fact)
    names = {name: [x for other in values if vocabulary.same(name, other) for x in values[other]] for name in values}
    return {
        fact
        for facts in values.values()
        for fact in facts
        if not any(
            vocabulary.disputes(other.value, fact.value)
            for other in names[fact.noun]
            if other.value != "one" or fact.value not in NUMBERS[1:-1]
        )
    }


def statements(scene: Scene, sure: Collection[Fact], vocabulary: Vocabulary) -> Iterator[Statement]:
    """Yield what facts of a scene say: each relation, and each two values of two things that exclude each other."""
    # One of two values must be sure, and two numbers must. A value is also said alone of the thing that has it: "a black
    # cat and a dog", if the dog is white; and with the colour of anything else: "a black cat and something white".
    yield from (_statement(scene.image, fact) for fact in sure if isinstance(fact, Relates))
    values = sorted(fact for fact in undisputed(scene, vocabulary) if scene.captions or fact in sure)
    for one, other in permutations(values, 2):
        if other not in sure or not vocabulary.exclusive(one.value, other.value):
            continue
        if not vocabulary.exchangeable(one, other):
            continue
        if one.value in NUMBERS:
            if one < other and one in sure and _counted(one, other, scene):
                yield _statement(scene.image, one, other)
            continue
        if one < other or one not in sure:
            yield _statement(scene.image, *sorted((one, other)))
        if {one.noun, other.noun}.isdisjoint(scene.more):
            yield _statement(scene.image, one, Lacks(other.noun, one.value))
        if scene.captions and vocabulary.colour(one.value) and vocabulary.apart(other.noun, one.noun):
            yield _statement(scene.image, other, Has(SOMETHING, one.value))


def _counted(one: Has, other: Has, scene: Scene) -> bool:
    if not any({one, other} <= set(caption.facts) for caption in scene.captions):
        return False
    said = Counter(fact for caption in scene.captions for fact in caption.facts)
    if any(said[Has(fact.noun, "one")] > said[Has(fact.noun, SOME)] for fact in (one, other) if fact.value != "one"):
        return False
    # Captions seldom tell how many there are of what they name in passing.
    return SOME not in {one.value, other.value} or 3 * min(said[one], said[other]) >= len(scene.captions)


def _one_way(fact: Relates, scene: Scene, vocabulary: Vocabulary) -> bool:
    unsure = {fact.subject, fact.object} & (scene.several | scene.more)
    return (
        (not unsure or (fact.relation in _BEARING and len(unsure) == 1))
        and not vocabulary.alike(fact.subject, fact.object)
        and not vocabulary.mutual(fact.relation, fact.subject, fact.object)
    )


def _statement(image: str, *facts: Fact) -> Statement:
    said = (fact[:1] if isinstance(fact, Lacks) else fact for fact in facts)
    return Statement(image=image, key=tuple(sorted(word for fact in said for word in fact)), facts=facts)


# Facts from the captions of images: attributes, numbers, and relations between neighbouring noun phrases.
# Only what the parse says plainly is taken. A phrase that follows its noun at once belongs to it; the head of one
# further on is often a guess, as in "a man on a bench with a dog".

_NOT_THE_THING = words("not the thing")  # words before a noun that name another thing: a toy truck is not a truck
_UNBOUNDED = words("unbounded") - {"person"}  # things of which more may be there than a caption tells
_PICTURED = words("picture of")  # nouns whose "of" names what they show: a statue of a man is not a man
_IMAGE = frozenset(("image", "photo", "photograph", "picture", "shot", "view"))
_MANY = words("many of")  # nouns whose "of" names several things
_POSTURES = {posture: posture for posture in "sitting standing lying resting parked perched sleeping".split()}
_POSTURES |= {"laying": "lying", "laid": "lying", "seated": "sitting"}
_LONG = {("in", "front", "of"): "in front of", ("on", "top", "of"): "on top of"}
_ENTAILED = {"on top of": "on", "riding": "on", "inside": "in", "underneath": "under", "beneath": "under"}
_CROWD = words("many") - {"group", "groups"}
_COUNTED = dict.fromkeys(("a", "an", "the", "this", "that", "his", "her", "its", "their"), "one")
_COUNTED |= {str(count): word for count, word in enumerate(NUMBERS[1:-1], 2)}
_SHADES = frozenset("light dark bright pale deep".split())
_MORE = frozenset("another other others each rest more".split())
"""Words that tell of things beyond those that are named: "a burger with another next to it"."""

_ONLOOKERS = frozenset("audience crowd fans onlookers spectators".split())
_GROUPS = {"person": words("group of people") | {"group", "people", "someone"}, "animal": {"flock", "herd", "pack"}}

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
    return Scene(image=image, facts=frozenset(facts), several=frozenset(several), uncounted=frozenset(uncounted), captions=tuple(statements))


def _lemma(token: Token) -> str:
    return "a" if token.lower == "an" else token.lemma.lower()


class _Reader:
    """The facts of one caption. ``several`` are the names that it gives to more than one thing, once it is read."""

    def __init__(self, parsed: Parsed, vocabulary: Vocabulary) -> None:
        self._tokens = parsed.tokens
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
        more, further = (any(token.lower in listed for token in self._tokens) for listed in (_MORE, words("further")))
        for index, token in enumerate(self._tokens):
            if not any(self._tokens[child].lower == "of" for child in self._children(index, "prep")):
                self.several.update(name for name, groups in _GROUPS.items() if token.lower in groups)
            if token.lower in _ONLOOKERS:
                self.uncounted.add("person")
            if token.pos != "NOUN" or token.dep == "compound" or self._is_before_noun(index):
                continue
            before = [self._tokens[child].lower for child in self._children(index, "compound")]
            noun = "person" if token.lower == "people" else token.lemma.lower()
            name = " ".join([*before, noun])
            known = next((each for each in (name, noun) if self._vocabulary.knows(each)), "")
            names = (name, *self._vocabulary.names(known)[1:]) if known else (name,)
            if known != name:
                self.several.add(noun)  # the plate of a batter may be called a home plate
            for each in names:
                mentions[each].append(index)
            if more or token.tag == "NNS" or self._one_of_many(index):
                self.several.update(names)
            if further or self._is_crowd(index):
                self.uncounted.update(names)
            if not self._is_the_thing(index):
                if self._is_shown(index):
                    continue
                self.several.update((*names, noun))  # a toy truck beside a truck may be called a truck, too
            elif known == name:
                yield names[: 1 if noun == "baby" else None], index  # it may be an animal's
        repeated = {name for name, places in mentions.items() if len(places) > 1}
        self.several |= repeated
        self.pairs = {name for name in repeated if self._is_pair(*mentions[name])}
        self.uncounted |= repeated - self.pairs

    def _is_pair(self, one: int, other: int, *more: int) -> bool:
        """Whether two things are all that a caption names so: "a man and a woman" are two people."""
        first, second = self._tokens[one], self._tokens[other]
        joined = second.dep == "conj" and second.head == one and first.lemma != second.lemma
        return joined and not more and first.tag == second.tag == "NN"

    def _is_shown(self, index: int) -> bool:
        """Whether a thing is what the whole image shows: "a photo of a girl with two dogs"."""
        return self._governor(index) in _IMAGE and self._tokens[index].dep == "pobj"

    def _is_before_noun(self, index: int) -> bool:
        """Whether a noun is part of a name that the parse does not join: a fire hydrant, a horse drawn carriage."""
        following = self._tokens[index + 1 : index + 2]
        if not following or not self._tokens[index].space:
            return bool(following and following[0].text == "-")
        name = f"{self._tokens[index].lower} {following[0].lemma.lower()}"
        return following[0].pos in {"NOUN", "PROPN"} or following[0].lower == "drawn" or self._vocabulary.knows(name)

    def _is_crowd(self, index: int) -> bool:
        words = {self._tokens[child].lower for child in self._children(index, "amod", "det")}
        return not _CROWD.isdisjoint(words | {self._governor(index)})

    def _values(self, index: int, name: str) -> Iterator[Has]:
        numbers = (*self._children(index, "nummod"), *self._children(index, "det", "poss"))
        number = next((_COUNTED.get(self._tokens[c].lower, self._tokens[c].lower) for c in numbers), "")
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
                value = self._tokens[one].lower
                shade = value in _SHADES or (one > 0 and self._tokens[one - 1].lower in _SHADES)
                changed = self._children(one, "advmod", "npadvmod", "neg", "prep")
                if self._vocabulary.attribute(value) and not shade and not changed:
                    yield Has(name, value)

    def _coloured(self, index: int) -> Iterator[int]:
        """Yield the colours before a noun, of which the parse may miss some: "a brown black and white dog"."""
        for place in range(index - 1, -1, -1):
            if self._vocabulary.colour(self._tokens[place].lower):
                yield place
            elif self._tokens[place].lower not in {"and", ",", "-"}:
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
                yield text + self._tokens[child].lower, child

    def _children(self, index: int, *labels: str) -> list[int]:
        return [child for child in self._below[index] if self._tokens[child].dep in labels]

    def _coordinated(self, index: int) -> bool:
        return self._tokens[index].dep == "conj" or bool(self._children(index, "conj"))

    def _is_the_thing(self, index: int) -> bool:
        words = {self._tokens[child].lower for child in self._children(index, "amod", "det", "compound")}
        if words & _NOT_THE_THING or "no" in words or self._tokens[index].dep in {"poss", "nmod", "npadvmod"}:
            return False
        return self._governor(index) not in _PICTURED

    def _one_of_many(self, index: int) -> bool:
        words = {self._tokens[child].lower for child in self._children(index, "amod", "det")}
        return bool(words & {"another", "other", "each", "every", "several", "many"}) or self._governor(index) in _MANY

    def _governor(self, index: int) -> str:
        """Return the lemma of A in "A of ...", if the thing is what follows "of"; otherwise ""."""
        head = self._tokens[index].head
        if self._tokens[index].dep != "pobj" or self._tokens[head].lower != "of":
            return ""
        return self._tokens[self._tokens[head].head].lemma.lower()


@lru_cache(maxsize=4096)
def _participle(lemma: str) -> str:
    participles = form(lemma, "VBG")
    return participles[0] if participles else lemma


# Facts from scene graphs: attributes and relations of things that have a name of their own in the graph.
# If a graph has two things with one name, or with names that may mean the same, no fact about one of them is used: "a
# cup behind a plate" may be true of the other cup as well. If an image may have more things of a name than its graph,
# facts about them are not used.

_UNSAID = frozenset(("clothing", "clothes", "footwear", "body part", "body parts"))
"""Of these an image may have others, if a graph has few things."""


def graph_scene(graph: SceneGraph, vocabulary: Vocabulary) -> Scene:
    known = {name: object_ for name, object_ in graph.objects.items() if vocabulary.knows(object_.name)}
    names = Counter(thing.name for thing in graph.objects.values())
    few = len(graph.objects) < WHOLE and not graph.complete
    several = {
        name
        for name in {thing.name for thing in known.values()}
        if sum(number for other, number in names.items() if vocabulary.possible(name, other)) > 1
        or has_many(name, graph, vocabulary.ontology)
        or (few and not _UNSAID.isdisjoint(vocabulary.ontology.certain(name)))
    }
    more = {thing.name for thing in known.values() if has_others(thing.name, graph, vocabulary.ontology)}
    facts: set[Fact] = set()
    for thing in known.values():
        facts |= {Has(thing.name, value) for value in thing.attributes if vocabulary.attribute(value)}
        for relation in thing.relations:
            if relation.object in known and vocabulary.one_way(relation.name):
                other = known[relation.object].name
                facts.add(Relates(thing.name, relation.name, other))
                inverse = vocabulary.ontology.relations[relation.name].inverse
                if inverse and not inverse.endswith(" by"):
                    facts.add(Relates(other, inverse, thing.name))
    facts.update(_aside([thing for thing in known.values() if thing.name not in several | more], vocabulary))
    return Scene(image=graph.id, facts=frozenset(facts), several=frozenset(several), more=frozenset(more))


def _aside(things: Sequence[SceneObject], vocabulary: Vocabulary) -> Iterator[Relates]:
    """Yield which thing is to the left of which, by their boxes, of those that somebody would name together."""
    for one, other in combinations(sorted(things, key=lambda thing: thing.box.x), 2):
        if one.box.x + one.box.w <= other.box.x and vocabulary.slots.reads(one.name, "next to", other.name):
            yield Relates(one.name, "to the left of", other.name)
            yield Relates(other.name, "to the right of", one.name)
