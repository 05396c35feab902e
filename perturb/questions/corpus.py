"""Scene graphs, prepared for questions: what each shows, what it might show, and what often comes together."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from vlgate.perturb.kept import kept
from vlgate.perturb.ontology import Number, Ontology, Reading
from vlgate.perturb.questions.answer_leaks import apart, helps
from vlgate.perturb.questions.chance import Weighted
from vlgate.perturb.questions.drafts import Masks, ObjectView, View
from vlgate.perturb.scene_graph import SceneGraph, SceneObject

LEAST_BOX = 32.0
"""Side in pixels that people recognise reliably; smaller objects are not asked about (CARETS, section 4.2, note 3)."""
_PAIRED = frozenset(("size", "height", "length", "age", "shape", "color", "pattern", "material", "hair color", "pose"))
"""Categories of two attributes that stand together: "a large red bus", but neither "small tiny" nor "open floral"."""
OF_PIECES = frozenset(("whole", "half", "single"))
"""Attributes of one piece of a kind that is named: there is a whole pizza, but no whole food."""
_WORN = (
    (("person", "people", "crowd", "couple", "family"), ("clothing", "clothes")),
    (("clothing", "clothes"), ("shirt", "shirts", "pants", "shoe", "shoes", "footwear")),
)
"""Who is there wears something, annotated or not, and who wears a jacket wears pants."""
_LEAST_ROOT = 3  # letters of either part of a word that is written as one
LEAST_OBJECTS = 5
"""Number of objects below which a graph is too incomplete to conclude that anything is not in its image."""


@dataclass(slots=True, kw_only=True, eq=False)
class Tally:
    """Counts over all graphs, from which the distributions are made."""

    graphs: Counter[str] = field(default_factory=Counter)
    together: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    attributes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    categories: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class Corpus:
    """Scene graphs, and the distributions that plausible false objects and attributes are drawn from.

    ``left_out`` counts the objects that no question is asked about, by reason. They may still make a name true: no
    question takes something as absent that such an object might be.

    Raises: ValueError if there is no graph.
    """

    def __init__(
        self,
        graphs: Iterable[SceneGraph],
        ontology: Ontology,
        *,
        least_box: float = LEAST_BOX,
        least_objects: int = LEAST_OBJECTS,
    ) -> None:
        """Look up every object.

        ``least_box`` is the side in pixels that an object must have to be asked about. ``least_objects`` is the number
        of objects that a graph must have before a question asks about something that it does not show.
        """
        self.ontology = ontology
        self.left_out: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.bits = {name: 1 << index for index, name in enumerate(ontology.nouns)}
        self._kept: dict[Any, Any] = {}
        below = ontology.hyponyms
        self._worn = tuple(
            (self._mask(who), self._mask(one for name in worn if name in self.bits for one in (name, *below(name))))
            for who, worn in _WORN
        )
        self._least_box = least_box
        self._least_objects = least_objects
        self.views = tuple(self._view(graph) for graph in graphs)
        if not self.views:
            raise ValueError("graphs=[]: no scene graph was given; expected at least one")
        self.places: dict[tuple[str, tuple[str, ...]], list[tuple[View, int]]] = defaultdict(list)
        self.tally = self._counted()
        self.adjectives = {name: Weighted(counts) for name, counts in self.tally.attributes.items()}
        self.categories = {name: _levelled(counts) for name, counts in self.tally.categories.items()}

    @kept
    def below(self, name: str, number: Number | None = None) -> Weighted:
        """The names of objects in the graphs that are hyponyms of ``name``, the frequent ones somewhat more often.

        If ``number`` is given, only names of that grammatical number.
        """
        graphs, nouns = self.tally.graphs, self.ontology.nouns
        words = (word for word in self.ontology.hyponyms(name) if number in {None, nouns[word].number})
        return _levelled({word: graphs[word] for word in words})

    @kept
    def shown(self, name: str) -> int:
        """The number of graphs with a thing of that name or of a kind of it."""
        return sum(self.tally.graphs.get(kind, 0) for kind in (name, *self.ontology.hyponyms(name)))

    @kept
    def masks(self, name: str) -> Masks:
        """What an object annotated as ``name`` might be called, and what it may have.

        If the ontology does not know the name, every known word in it counts, and what a word ends with, as "board".
        """
        known = [name] if self.ontology.knows(name) else self._known_within(name)
        ways = self.ontology.possible, self.ontology.certain, self.ontology.own_parts, self.ontology.parts
        return Masks(*(self._mask(set[str]().union(*map(way, known))) for way in ways))

    def _known_within(self, name: str) -> list[str]:
        words = name.split()
        spans = (" ".join(words[i:j]) for i in range(len(words)) for j in range(i + 1, len(words) + 1))
        ends = (word[at:] for word in words for at in range(_LEAST_ROOT, len(word) - _LEAST_ROOT + 1))
        return [span for span in (*spans, *ends) if self.ontology.knows(span)]

    def _mask(self, names: Iterable[str]) -> int:
        return sum(map(self.bits.__getitem__, self.bits.keys() & names))

    def _view(self, graph: SceneGraph) -> View:
        things = tuple(self._thing(item, graph) for item in graph.objects.values())
        place = {identity: number for number, identity in enumerate(graph.objects)}
        might = 0 if len(things) >= self._least_objects else -1  # all bits: nothing is known to be absent
        shown = named = 0
        for thing in things:
            shown |= thing.masks.certain
            named |= thing.masks.possible
            might |= thing.masks.beside
            for attribute in thing.object.attributes:  # "brick" of a wall: there are bricks
                might |= self.bits.get(attribute, 0)
        for who, worn in self._worn:
            if shown & who:
                might |= worn
        askable = tuple(number for number, thing in enumerate(things) if thing.askable)
        names = tuple(dict.fromkeys(things[number].name for number in askable))
        links = {number: self._links(things, things[number], place) for number in askable}
        return View(
            graph=graph,
            things=things,
            askable=askable,
            links={number: link for number, link in links.items() if link},
            marks={
                number: found for number, links_of in links.items() if (found := self._marks(things, number, links_of))
            },
            names=names,
            might=might | named,
            named=named,
            shown=shown,
        )

    def _links(
        self, things: tuple[ObjectView, ...], thing: ObjectView, place: Mapping[str, int]
    ) -> tuple[tuple[Reading, int], ...]:
        readings = (
            (self.ontology.relations.get(relation.name), place[relation.object]) for relation in thing.object.relations
        )
        return tuple(
            (reading, other)
            for reading, other in readings
            if reading is not None
            and reading.text
            and things[other].askable
            and helps(self.ontology, thing.name, reading.text, things[other].name)
        )

    def _marks(
        self, things: tuple[ObjectView, ...], number: int, links: tuple[tuple[Reading, int], ...]
    ) -> tuple[tuple[Reading, int], ...]:
        name = things[number].name
        return tuple(link for link in links if apart(self.ontology, name, link[0].text, things[link[1]].name))

    def _thing(self, item: SceneObject, graph: SceneGraph) -> ObjectView:
        known = self.ontology.knows(item.name)
        askable = self._askable(item, known=known) and not self._own_coat(item, graph)
        return ObjectView(
            object=item,
            known=known,
            askable=askable,
            number=self.ontology.nouns[item.name].number if known else "singular",
            masks=self.masks(item.name),
            adjectives=self._adjectives(item) if askable else (),
        )

    def _own_coat(self, item: SceneObject, graph: SceneGraph) -> bool:
        """Whether what sounds like a garment is an animal's own: the coat of a giraffe."""
        knows, certain = self.ontology.knows, self.ontology.certain
        if not knows(item.name) or "clothing" not in certain(item.name):
            return False
        owners = (graph.objects[relation.object].name for relation in item.relations if relation.name == "of")
        return any(knows(owner) and "animal" in certain(owner) for owner in owners)

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
        # A "white board", for example, is another noun than "board".
        attributes, words = self.ontology.attributes, item.name.split()
        return tuple(
            name
            for name in dict.fromkeys(item.attributes)
            if name in attributes
            and attributes[name].before
            and name not in self.ontology.expected.vague
            and name not in words
            and not self.ontology.expected.clash(name, item.attributes)
            and not self.unsaid(item.name, name)
            and self._described(item.name, name)
            and f"{name} {item.name}" not in self.ontology.nouns
            and not any(self.ontology.exclusive(name, other) for other in item.attributes if other in attributes)
        )

    def _described(self, name: str, attribute: str) -> bool:
        """Whether an action describes a thing: a stop sign never sits, and a sport says where somebody is."""
        category = self.ontology.words.categories.get(self.ontology.attributes[attribute].category)
        if category is None or category.kind != "action":
            return True
        return category.name != "sport" and self.ontology.acts(name, attribute)

    def pairs(self, thing: ObjectView) -> list[tuple[str, str]]:
        """Two of a thing's adjectives that may stand together before its name, in the order of the text."""
        known = self.ontology.attributes
        ordered = sorted(thing.adjectives, key=lambda name: known[name].rank)
        return [
            (one, two)
            for one, two in combinations(ordered, 2)
            if known[one].rank != known[two].rank
            and known[one].category != known[two].category
            and {known[one].category, known[two].category} <= _PAIRED
        ]

    @kept
    def unsaid(self, name: str, attribute: str) -> bool:
        """Whether an adjective does not go with a noun: "small furniture", "old girl", the color of a person."""
        category = self.ontology.attributes[attribute].category
        if self.ontology.nouns[name].number == "mass" and (category == "size" or attribute in OF_PIECES):
            return True
        names = self.ontology.named(name)
        told = category == "" or self.ontology.words.asked(names, category)
        return not told or not self.ontology.expected.says(names, attribute, category)

    def _counted(self) -> Tally:
        tally = Tally()
        for view in self.views:
            tally.graphs.update(view.names)
            for name in view.names:
                tally.together[name].update(other for other in view.names if other != name)
            for number in view.askable:
                thing = view.things[number]
                said = [(), *((adjective,) for adjective in thing.adjectives), *self.pairs(thing)]
                for adjectives in said:
                    self.places[thing.name, adjectives].append((view, number))
                tally.attributes[thing.name].update(thing.adjectives)
                for attribute in self.known(thing.object.attributes):
                    tally.categories[self.ontology.attributes[attribute].category][attribute] += 1
        return tally

    def known(self, attributes: Collection[str]) -> list[str]:
        """The attributes that the ontology knows, each once, in their order."""
        return [name for name in dict.fromkeys(attributes) if name in self.ontology.attributes]


def _levelled(counts: Mapping[str, int]) -> Weighted:
    return Weighted({word: count**0.4 for word, count in counts.items() if count})
