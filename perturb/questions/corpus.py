"""Scene graphs as questions are asked of them: what each shows, what it might show, and what goes with what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import repeat

from vlgate.perturb.ontology import Number, Ontology, Reading
from vlgate.perturb.questions.chance import Weighted
from vlgate.perturb.scene_graph import SceneGraph, SceneObject

LEAST_BOX = 32.0
"""Pixels a side below which no object is asked about: what people recognise reliably (CARETS, section 4.2, note 3)."""
LEAST_OBJECTS = 5
"""Objects below which a graph says too little of its picture for anything to be missing in it."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Thing:
    """An object with what the ontology says of it.

    ``possible`` and ``parts`` are sets of names as bits (``Corpus.bits``): what it might be called, and what it may
    have without its being annotated. ``adjectives`` are those attributes that can stand before its name.
    """

    object: SceneObject
    askable: bool
    number: Number
    possible: int
    parts: int
    adjectives: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called in the graph."""
        return self.object.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """A graph whose objects are looked up: ``might`` holds every name that could be true of something in it.

    ``links`` are the relations that can be put into words, by the position of the object that has them: how each
    reads, and the position of the other object.
    """

    graph: SceneGraph
    things: tuple[Thing, ...]
    askable: tuple[int, ...]
    links: Mapping[int, tuple[tuple[Reading, int], ...]]
    names: tuple[str, ...]
    might: int


@dataclass(slots=True, kw_only=True, eq=False)
class Tally:
    """What was counted over all graphs, before it is made into distributions."""

    graphs: Counter[str] = field(default_factory=Counter)
    together: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    attributes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    categories: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class Corpus:
    """Scene graphs with the distributions that plausible false objects and attributes are drawn from.

    ``left_out`` counts the objects that no question is asked about, by reason; they still count against falsehood:
    what might be there is never asked about as if it were not.

    Raises: ValueError where there is no graph.
    """

    def __init__(
        self,
        graphs: Iterable[SceneGraph],
        ontology: Ontology,
        *,
        least_box: float = LEAST_BOX,
        least_objects: int = LEAST_OBJECTS,
    ) -> None:
        """Look up every object once.

        ``least_box`` is the side in pixels that an object asked about must have, ``least_objects`` how many objects a
        graph must have for something to be asked about that it does not show.
        """
        self.ontology = ontology
        self.left_out: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.bits = {name: 1 << place for place, name in enumerate(ontology.nouns)}
        self._masks: dict[str, tuple[int, int]] = {}
        self._least_box = least_box
        self._least_objects = least_objects
        self.views = tuple(self._view(graph) for graph in graphs)
        if not self.views:
            raise ValueError("graphs=[]: no scene graph was given; questions need at least one")
        self.places: dict[tuple[str, str], list[tuple[View, int]]] = defaultdict(list)
        tally = self._counted()
        self._tally = tally
        self.companions = {name: Weighted(counts) for name, counts in tally.together.items()}
        self.adjectives = {name: Weighted(counts) for name, counts in tally.attributes.items()}
        self.categories = {name: Weighted(counts) for name, counts in tally.categories.items()}
        self._below: dict[tuple[str, Number | None], Weighted] = {}
        self._shares = {
            name: {other: count / tally.graphs[other] for other, count in counts.items()}
            for name, counts in tally.together.items()
        }

    def likelihood(self, name: str, view: View) -> float:
        """Say how well ``name`` goes with a picture: the mean share of graphs with each of its objects that have it."""
        shares = self._shares.get(name)
        return sum(map(shares.get, view.names, repeat(0.0))) / len(view.names) if shares else 0.0

    def below(self, name: str, number: Number | None = None) -> Weighted:
        """The names of the graphs' objects that are hyponyms of ``name``, by how many graphs have them.

        ``number`` takes those of one grammatical number only.
        """
        if (name, number) not in self._below:
            graphs, nouns = self._tally.graphs, self.ontology.nouns
            words = [word for word in self.ontology.hyponyms(name) if number in {None, nouns[word].number}]
            self._below[name, number] = Weighted({word: graphs[word] for word in words})
        return self._below[name, number]

    def masks(self, name: str) -> tuple[int, int]:
        """What an object annotated as ``name`` might be called, and what it may have, as bits.

        Of a name that the ontology does not know every known word in it counts.
        """
        if name not in self._masks:
            known = [name] if self.ontology.knows(name) else self._known_within(name)
            possible = self._mask(word for part in known for word in self.ontology.possible(part))
            self._masks[name] = possible, self._mask(word for part in known for word in self.ontology.parts(part))
        return self._masks[name]

    def _known_within(self, name: str) -> list[str]:
        words = name.split()
        spans = (" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1))
        return [span for span in spans if self.ontology.knows(span)]

    def _mask(self, names: Iterable[str]) -> int:
        mask = 0
        for name in names:
            mask |= self.bits[name]
        return mask

    def _view(self, graph: SceneGraph) -> View:
        things = tuple(self._thing(item) for item in graph.objects.values())
        place = {identity: number for number, identity in enumerate(graph.objects)}
        might = 0 if len(things) >= self._least_objects else -1  # all bits: nothing is known to be absent
        for thing in things:
            might |= thing.possible | thing.parts
            for attribute in thing.object.attributes:  # "brick" of a wall: there are bricks
                might |= self.bits.get(attribute, 0)
        askable = tuple(number for number, thing in enumerate(things) if thing.askable)
        names = tuple(dict.fromkeys(things[number].name for number in askable))
        links = {number: self._links(things, things[number], place) for number in askable}
        return View(
            graph=graph,
            things=things,
            askable=askable,
            links={number: found for number, found in links.items() if found},
            names=names,
            might=might,
        )

    def _links(
        self, things: tuple[Thing, ...], thing: Thing, place: Mapping[str, int]
    ) -> tuple[tuple[Reading, int], ...]:
        readings = ((self.ontology.relations.get(one.name), place[one.object]) for one in thing.object.relations)
        return tuple(
            (reading, other)
            for reading, other in readings
            if reading is not None and reading.text and things[other].askable and things[other].name != thing.name
        )

    def _thing(self, item: SceneObject) -> Thing:
        known = self.ontology.knows(item.name)
        possible, parts = self.masks(item.name)
        askable = self._askable(item, known=known)
        return Thing(
            object=item,
            askable=askable,
            number=self.ontology.nouns[item.name].number if known else "singular",
            possible=possible,
            parts=parts,
            adjectives=self._adjectives(item) if askable else (),
        )

    def _askable(self, item: SceneObject, *, known: bool) -> bool:
        if not known:
            self.unknown[item.name] += 1
            self.left_out["object whose name the ontology does not know"] += 1
        elif not self.ontology.nouns[item.name].askable:
            self.left_out["object whose name makes no good question"] += 1
        elif min(item.box.w, item.box.h) < self._least_box:
            self.left_out[f"object under {self._least_box:g} pixels"] += 1
        else:
            return True
        return False

    def _adjectives(self, item: SceneObject) -> tuple[str, ...]:
        """Those that read well before the name, make no other noun with it, and that no attribute contradicts.

        A "white board" is no board that is white.
        """
        attributes, words = self.ontology.attributes, item.name.split()
        return tuple(
            name
            for name in dict.fromkeys(item.attributes)
            if name in attributes
            and attributes[name].before
            and name not in words
            and not self.unsaid(item.name, name)
            and f"{name} {item.name}" not in self.ontology.nouns
            and not any(self.ontology.exclusive(name, other) for other in item.attributes if other in attributes)
        )

    def unsaid(self, name: str, attribute: str) -> bool:
        """Whether an adjective does not go with a noun: what has no number has no size ("small furniture")."""
        mass = self.ontology.nouns[name].number == "mass"
        return mass and self.ontology.attributes[attribute].category == "size"

    def _counted(self) -> Tally:
        tally = Tally()
        for view in self.views:
            tally.graphs.update(view.names)
            for name in view.names:
                tally.together[name].update(other for other in view.names if other != name)
            for number in view.askable:
                self._count_thing(tally, view, number)
        return tally

    def _count_thing(self, tally: Tally, view: View, number: int) -> None:
        thing = view.things[number]
        self.places[thing.name, ""].append((view, number))
        for adjective in thing.adjectives:
            self.places[thing.name, adjective].append((view, number))
            tally.attributes[thing.name][adjective] += 1
        for attribute in self.known(thing.object.attributes):
            tally.categories[self.ontology.attributes[attribute].category][attribute] += 1

    def known(self, attributes: Collection[str]) -> list[str]:
        """Those attributes that the ontology knows, each once, in their order."""
        return [name for name in dict.fromkeys(attributes) if name in self.ontology.attributes]
