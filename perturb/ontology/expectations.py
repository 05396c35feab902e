"""What a person expects of photographs: the settings of things, their usual values, and what they can do."""

import functools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from vlgate.errors import nearest
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.tables import TsvRow, both_numbers, once, rows_of
from vlgate.perturb.text.grammar import either_number

# CARETS draws false objects and attributes from what the scene graphs show together (section 4). In few graphs that
# says little, so that a cow is denied in an office. The tables of this folder say what nobody would wonder at. They
# know the nouns of the curated ontology; of any other noun they know what its hypernyms have.

_LIVING = frozenset("person people animal animals couple crowd family group team bear bears".split())
Names = Sequence[str]
Words = frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectations:
    """What is expected of things, by their names and classes, each in both numbers.

    Methods take ``names``, the name of a thing and its hypernyms, nearest first.
    """

    places: Mapping[str, Words]  # the settings of a thing
    listed: Mapping[tuple[str, str], Words]  # the values that suit a thing, by category and name
    doers: Mapping[str, Words]  # who can do what a relation says, by its first word
    company: Mapping[str, Words]  # what an image shows some of if it might show a thing that is found nearly anywhere
    usual: Mapping[str, Words]  # what nearly every image of a setting shows, annotated or not
    rests: Mapping[str, Words]  # where things of a name usually are
    needs: Mapping[str, Words]  # what an image must show some of if an action is offered
    stands: tuple[tuple[Words, Words, Words], ...]  # where things can be: relations, their names, the landmarks
    contrasts: tuple[Words, ...]  # persons that may be offered beside each other
    shades: tuple[Words, ...]  # attributes that shade into each other
    clashes: tuple[Words, ...]  # attributes that exclude each other
    grounds: Words  # places and what everything stands on
    movable: Words  # what ``grounds`` are not told apart by
    body: Words  # parts of bodies
    lifeless: Words  # attributes that do not describe a person or an animal
    odd: Words  # relations that one image alone does not make usual
    covers: Words  # what lies on or around things
    fleeting: Words  # what things give off, which tells none apart
    scenes: Words  # places that are around all of an image
    everyday: Words  # what everybody wears
    tiny: Words  # animals that are offered only beside each other
    vague: Words  # attributes that say too little
    gathered: Words  # words for several things at once
    enclosing: Words  # what hides what is in it
    unasked: Words  # what nobody asks for or nobody can deny
    unclear: Words  # attributes with several senses
    motley: Words  # what has several colors by nature

    def settings(self, names: Names) -> frozenset[str]:
        return next((self.places[name] for name in names if name in self.places), frozenset())

    def values(self, names: Names, category: str) -> frozenset[str] | None:
        """Return the values of ``category`` that suit such a thing; None if no list says."""
        found = (self.listed.get((category, name)) for name in names)
        return next((values for values in found if values is not None), None)

    def says(self, names: Names, attribute: str, category: str) -> bool:
        if attribute in self.unclear or (attribute in self.lifeless and not _LIVING.isdisjoint(names)):
            return False
        values = self.values(names, category)
        return values is None or attribute in values

    def beside(self, names: Names) -> frozenset[str] | None:
        """Return what an image shows some of if such a thing might be there; None if no line says."""
        return next((self.company[name] for name in names if name in self.company), None)

    def does(self, names: Names, relation: str) -> bool:
        """Return whether such a thing can do what a relation says of it; True if no line is about the relation."""
        able = self.doers.get(relation.partition(" ")[0])
        return able is None or not able.isdisjoint(names)

    def contrast(self, one: str, other: str) -> bool:
        return any(one in group and other in group for group in self.contrasts)

    def near(self, one: str, other: str) -> bool:
        return any(one in group and other in group for group in self.shades)

    def settled(self, names: Names, landmark: Names) -> bool:
        return any(not self.rests[name].isdisjoint(landmark) for name in names if name in self.rests)

    def can_be(self, names: Names, relation: str, landmark: Names) -> bool:
        """Return whether such a thing can have such a relation to a landmark; True if no line is about the relation."""
        padded = f" {relation} "
        for words, things, landmarks in self.stands:
            said = any(padded.startswith(f" {word} ") or padded.endswith(f" {word} ") for word in words)
            if said and not things.isdisjoint(names):
                return not landmarks.isdisjoint(landmark)
        return True

    def clash(self, attribute: str, others: Iterable[str]) -> bool:
        beside = frozenset(others) - {attribute}
        return any(attribute in group and not group.isdisjoint(beside) for group in self.clashes)

    def locates(self, landmark: Names, names: Names) -> bool:
        """Return whether a landmark tells a thing apart: a pig tells no street apart."""
        return self.grounds.isdisjoint(names) or self.movable.isdisjoint(landmark)


HOME = ("kitchen", "dining", "living", "bedroom", "bathroom")
INDOORS = (*HOME, "office", "shop")
OUTDOORS = ("street", "rail", "airport", "water", "beach", "garden", "farm", "wild", "snow", "sport")
SETTINGS = (*INDOORS, *OUTDOORS)  # the settings of photographs
GROUPS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"home": HOME, "indoors": INDOORS, "outdoors": OUTDOORS, "anywhere": SETTINGS}
)
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "places.tsv": ("settings", "names"),
        "values.tsv": ("category", "names", "values"),
        "doers.tsv": ("begins", "can"),
        "groups.tsv": ("group", "names"),
        "company.tsv": ("names", "with"),
        "rests.tsv": ("names", "on"),
        "needs.tsv": ("names", "with"),
        "stands.tsv": ("relation", "names", "at"),
    }
)
_PLAIN = frozenset("odd lifeless vague near clash unclear".split())
"""Groups of attributes and relations; the others are of nouns, which hold in both numbers."""
_SETS = {
    **{f"{name}s": name for name in ("ground", "cover", "scene")},
    **{name: name for name in "movable body fleeting everyday tiny gathered enclosing unasked motley".split()},
    **{name: name for name in "odd lifeless vague unclear".split()},
}
"""The groups that are one set of names each, by the fields of ``Expectations``."""
_GROUPS = ("contrast", "near", "clash", *_SETS.values(), *GROUPS, *SETTINGS)
T = TypeVar("T")


def expectations_from(tables: Mapping[str, str]) -> Expectations:
    def rows(name: str) -> Iterator[TsvRow]:
        return rows_of(name, tables[name], *COLUMNS[name])

    groups: dict[str, list[frozenset[str]]] = defaultdict(list)
    for row in rows("groups.tsv"):
        group, names = row["group"], frozenset(row.names("names"))
        if group not in _GROUPS:
            raise row.error(f"group={group!r}: {nearest(group, _GROUPS)}")
        if group == "contrast":
            groups[group] += [names, both_numbers(names) - names]
        else:
            groups[group].append(names if group in _PLAIN else both_numbers(names))
    doers: dict[str, frozenset[str]] = {}
    for row in rows("doers.tsv"):
        for word in row.names("begins"):
            doers[word] = doers.get(word, frozenset()) | both_numbers(row.names("can"))
    usual = {
        setting: frozenset().union(
            *(one for name in groups if setting in GROUPS.get(name, (name,)) for one in groups[name])
        )
        for setting in SETTINGS
    }
    sets: dict[str, Any] = {name: frozenset().union(*groups[group]) for name, group in _SETS.items()}
    return Expectations(
        places=_listed((name, _settings(row), row) for row in rows("places.tsv") for name in row.names("names")),
        listed=_values(rows("values.tsv")),
        doers=doers,
        contrasts=tuple(groups["contrast"]),
        company=_listed(_companions(rows("company.tsv"))),
        usual=usual,
        shades=tuple(groups["near"]),
        rests=_listed(
            (name, both_numbers(row.names("on")), row) for row in rows("rests.tsv") for name in row.names("names")
        ),
        needs={name: others for name, others, _ in _companions(rows("needs.tsv"))},
        stands=tuple(
            (frozenset(row.names("relation")), both_numbers(row.names("names")), both_numbers(landmarks))
            for row, landmarks in _unfolded(rows("stands.tsv"), "at")
        ),
        clashes=tuple(groups["clash"]),
        **sets,
    )


@functools.cache
def curated_expectations() -> Expectations:
    folder = Path(__file__).parent
    return expectations_from({name: (folder / name).read_text("utf-8") for name in COLUMNS})


def _settings(row: TsvRow) -> frozenset[str]:
    found: set[str] = set()
    for name in row.names("settings"):
        if name not in {*GROUPS, *SETTINGS}:
            raise row.error(f"settings={row['settings']!r}: {nearest(name, (*GROUPS, *SETTINGS))}")
        found.update(GROUPS.get(name, (name,)))
    return frozenset(found)


def _values(rows: Iterable[TsvRow]) -> Mapping[tuple[str, str], frozenset[str]]:
    items: dict[str, list[tuple[str, frozenset[str], TsvRow]]] = defaultdict(list)
    for row, values in _unfolded(rows, "values"):
        items[row["category"]] += [(name, values, row) for name in row.names("names")]
    listed = {category: _listed(found) for category, found in items.items()}
    return MappingProxyType({(kind, name): one for kind, found in listed.items() for name, one in found.items()})


def _unfolded(rows: Iterable[TsvRow], column: str) -> Iterator[tuple[TsvRow, frozenset[str]]]:
    """The rows, without those whose name begins with "@", and a column in which these stand for what they list."""
    palettes: dict[str, frozenset[str]] = {}
    for row in rows:
        values: set[str] = set()
        for name in row.names(column):
            if name.startswith("@") and name not in palettes:
                raise row.error(f"{name!r} is not a palette of a line above; {nearest(name, palettes)}")
            values |= palettes.get(name, {name})
        if row["names"].startswith("@"):
            palettes[row["names"]] = frozenset(values)
        else:
            yield row, frozenset(values)


def _companions(rows: Iterable[TsvRow]) -> Iterator[tuple[str, frozenset[str], TsvRow]]:
    return ((name, both_numbers(found), row) for row, found in _unfolded(rows, "with") for name in row.names("names"))


def _listed(items: Iterable[tuple[str, T, TsvRow]]) -> Mapping[str, T]:
    """By name; a name in its other number too, unless that has a line of its own, as "woods" has beside "wood"."""
    listed = once(items)
    forms = {form: value for name, value in listed.items() for form in either_number(name)}
    return MappingProxyType({**forms, **listed})


# In which setting an image was taken, by the things that it shows, and what might be found there.

FIT = 0.3  # how likely a setting must be, beside the likeliest of an image, for things that are found only there
_STRANGE = 0.06  # how likely a thing is in a setting that the tables do not give it, beside one that they do
_COMMON: Mapping[str, float] = MappingProxyType(
    {"living": 1.0, "kitchen": 1.0, "dining": 1.0, "street": 1.0, "garden": 1.0, "bedroom": 0.6, "office": 0.6}
)
_SELDOM = 0.25  # how likely the other settings are before anything is seen: an elephant or a bathtub needs a reason
SHARE = 0.2  # in how much of what an image may be a thing is found that a person might look for there
BROAD = 7  # settings of what may be in an image of which nothing is known


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    settings: Callable[[str], frozenset[str]]  # those in which a thing of a name is found, if they are known
    usual: Mapping[str, frozenset[str]] = field(default_factory=dict)  # what nearly every image of a setting shows
    _kept: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def of(self, names: Collection[str]) -> tuple[float, ...]:
        """Return how likely each of ``SETTINGS`` is, beside the likeliest, in an image of things of these names."""
        # It is empty if the names say nothing.
        likely, told = [_COMMON.get(name, _SELDOM) for name in SETTINGS], False
        for name in names:
            places = self._places(name)
            if 0 < len(places) < len(SETTINGS):
                told = True
                likely = [one if index in places else one * _STRANGE for index, one in enumerate(likely)]
                most = max(likely)
                likely = [one / most for one in likely]
        return tuple(likely) if told else ()

    def fit(self, name: str, image: tuple[float, ...]) -> float:
        """Return how well a thing of that name fits an image, from 0 to 1; 1 if it is not known where it is found."""
        places = self._places(name)
        if not image:
            return 1.0 if not places or len(places) >= BROAD else 0.0
        return max((image[place] for place in places), default=1.0)

    def share(self, name: str, image: tuple[float, ...]) -> float:
        """Return in how much of what an image may be such a thing is found, from 0 to 1; 1 if nothing is known."""
        # A door and a chair may be in a garden, and in most rooms: a daisy is found in a small share of these.
        places = self._places(name)
        return sum(image[place] for place in places) / sum(image) if image and places else 1.0

    def missed(self, name: str, image: tuple[float, ...]) -> bool:
        """Return whether the image probably shows such a thing, annotated or not: a room's ceiling."""
        return name in self._usual_of(image)

    @kept
    def _usual_of(self, image: tuple[float, ...]) -> frozenset[str]:
        likely = [setting for setting, one in zip(SETTINGS, image, strict=False) if one >= FIT]
        return frozenset().union(*(self.usual.get(setting, ()) for setting in likely))

    @kept
    def _places(self, name: str) -> tuple[int, ...]:
        settings = self.settings(name)
        return tuple(index for index, setting in enumerate(SETTINGS) if setting in settings)
