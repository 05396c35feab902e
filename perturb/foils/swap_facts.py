"""Facts about images, from their captions or scene graphs, and statements made of one or two facts."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import Any, NamedTuple

from vlgate.perturb.graphs.absence import WHOLE, has_many, has_others
from vlgate.perturb.graphs.checklist import Slots
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.attributes import ACTION
from vlgate.perturb.ontology.ontology import Ontology
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.perturb.text.grammar import plural, with_article
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
_UNBOUNDED = words("unbounded") - {"person"}  # things of which more may be there than a caption tells
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
        """Whether the other thing is neither a part of the one nor worn by it."""
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


def certain(scene: Scene, plain: Collection[Has], vocabulary: Vocabulary) -> frozenset[Fact]:
    """The facts whose contrary cannot hold in the image as well; ``plain`` are the undisputed values."""
    # They are about things of which there are not several, or say a number. Values that another caption of the image
    # contradicts are left out, and so are relations in which both things may be to each other.
    single = scene.several | (_UNBOUNDED if scene.captions else set())
    if "person" in scene.several and scene.captions:
        single |= {fact[0] for fact in scene.facts if not _UNSAID.isdisjoint(vocabulary.ontology.certain(fact[0]))}
    vague = {"": single, **dict.fromkeys(NUMBERS[1:-1], scene.uncounted), SOME: frozenset()}
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
    """The values that no other fact of the image contradicts; "a man" may be one of two."""
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


def statements(
    scene: Scene, plain: Collection[Has], sure: Collection[Fact], vocabulary: Vocabulary
) -> Iterator[Statement]:
    """Yield what facts of a scene say: each relation, and each two values of two things that exclude each other."""
    # One of two values must be sure, and two numbers must. A value is also said alone of the thing that has it: "a
    # black cat and a dog", if the dog is white; and with the colour of anything: "a black cat and something white".
    yield from (_statement(scene.image, fact) for fact in sure if isinstance(fact, Relates))
    values = sorted(fact for fact in plain if scene.captions or fact in sure)
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
