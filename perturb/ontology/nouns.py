"""Names of objects: their number, hypernyms and synonyms, and what follows from a name."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from vlgate.errors import nearest
from vlgate.perturb.kept import kept
from vlgate.perturb.ontology.tables import TsvRow, rows_in

_FOLDER = Path(__file__).parent
Number = Literal["singular", "plural", "mass"]
_NUMBERS = get_args(Number)

COLUMNS = ("name", "number", "parents", "same_as", "synset", "other_number", "askable")
"""The columns of ``objects.tsv``; lists are joined by ``|``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """A name of objects: one word or several in lower case, with single blanks ("traffic light")."""

    name: str
    number: Number
    # Direct hypernyms, in the same number if they have both, that hold for all such things
    parents: tuple[str, ...] = ()
    same: tuple[str, ...] = ()  # its synonyms
    other: str = ""  # its form in the other number; empty for mass nouns and for "scissors"
    synset: str = ""  # the id of its sense in Open English Wordnet, empty if none was chosen
    askable: bool = True  # no question is asked about "part" or "side"


def read_nouns(file: Path) -> Mapping[str, Noun]:
    nouns: dict[str, Noun] = {}
    rows: dict[str, TsvRow] = {}
    for row in rows_in(file, *COLUMNS):
        noun = _noun(row)
        if noun.name in nouns:
            raise row.error(f"name={noun.name!r} is in line {rows[noun.name].line} already; keep one of the lines")
        nouns[noun.name] = noun
        rows[noun.name] = row
    check_nouns(nouns, rows)
    return MappingProxyType(nouns)


def check_nouns(nouns: Mapping[str, Noun], rows: Mapping[str, TsvRow] = MappingProxyType({})) -> None:
    """Raise ValueError if nouns are not consistent; ``rows`` holds the row of each, for the message."""
    wrong = (
        (noun, why) for noun in nouns.values() for why in chain(_wrong_names(noun, nouns), _wrong_numbers(noun, nouns))
    )
    for noun, why in chain(wrong, _circles(nouns)):  # the first one is raised
        message = f"name={noun.name!r}: {why}"
        raise rows[noun.name].error(message) if noun.name in rows else ValueError(message)


def _noun(row: TsvRow) -> Noun:
    name, number = row["name"], row["number"]
    if not name or name != " ".join(name.lower().split()):
        raise row.error(f"name={name!r}; expected lower case and single blanks")
    if number not in _NUMBERS:
        raise row.error(f"number={number!r} of {name!r}; expected one of {', '.join(_NUMBERS)}")
    return Noun(
        name=name,
        number=number,  # type: ignore[arg-type]  # checked above, which mypy does not see
        parents=row.names("parents"),
        same=row.names("same_as"),
        other=row["other_number"],
        synset=row["synset"],
        askable=row.flag("askable"),
    )


def inconsistent(nouns: Mapping[str, Noun], table: Mapping[str, Noun]) -> set[str]:
    return {name for name, noun in nouns.items() if any(chain(_wrong_names(noun, table), _wrong_numbers(noun, table)))}


def _wrong_names(noun: Noun, nouns: Mapping[str, Noun]) -> Iterator[str]:
    forms = (noun.other,) if noun.other else ()
    for role, names in (("parent", noun.parents), ("synonym", noun.same), ("other form", forms)):
        if len(set(names)) < len(names) or noun.name in names:
            yield f"{role}={names!r}; expected different names, none of them its own"
        for name in names:
            if name not in nouns:
                yield f"{role}={name!r} is not in the table; {nearest(name, nouns)}"
    for name in noun.same:
        if noun.name not in nouns[name].same:
            yield f"synonym={name!r} does not name it as a synonym; name it in both rows"
        if name in noun.parents:
            yield f"{name!r} is its synonym and its parent; keep one"
    if noun.other and nouns[noun.other].other != noun.name:
        yield f"other form={noun.other!r} has another form itself: {nouns[noun.other].other!r}; name it in both rows"


def _wrong_numbers(noun: Noun, nouns: Mapping[str, Noun]) -> Iterator[str]:
    if noun.other and {noun.number, nouns[noun.other].number} != {"singular", "plural"}:
        yield f"other form={noun.other!r}; expected one to be singular, one plural"
    for name in noun.parents:
        if nouns[name].other and nouns[name].number != ("plural" if noun.number == "plural" else "singular"):
            yield f"parent={name!r} is {nouns[name].number}, it is {noun.number}; use {nouns[name].other!r}"
    for name in noun.same:
        if nouns[name].number != noun.number and "mass" not in {noun.number, nouns[name].number}:
            yield f"synonym={name!r} is {nouns[name].number}, it is {noun.number}"


def _circles(nouns: Mapping[str, Noun]) -> Iterator[tuple[Noun, str]]:
    above = {name: {up for one in (name, *noun.same) for up in nouns[one].parents} for name, noun in nouns.items()}
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        names = error.args[1]
        yield nouns[names[-1]], f"is above itself: {' > '.join(reversed(names))}"


# What follows from the name of an object: what it is, what it may be called, and what it may have unannotated.

GARMENT = "clothing"
"""Who wears one garment may be there unannotated, with a head and hands; no other garment follows from it."""
PERSON = "person"  # who may be any person, if a part or a garment is all that is annotated

Names = frozenset[str]
Links = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    names: Names  # used for each other, and so are their hyponyms
    # These may stand for ``names`` and they for them, but not their hyponyms: a gadget may be called a device, and a
    # device a gadget, but not every kind of device.
    also: Names = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Closures:
    """Nouns and the links between them beyond their hypernyms, which are given in one number and hold in both."""

    nouns: Mapping[str, Noun]
    overlaps: tuple[Overlap, ...] = ()  # names that are used for the same things (cup, mug, glass)
    senses: Links = field(default_factory=dict)  # hypernyms of some things of a name ("bat": animal, sports equipment)
    parts: Links = field(default_factory=dict)  # what things of a name may have (car: tire)
    wholes: Links = field(default_factory=dict)  # what they may belong to (paw: animal)
    _below: Links = field(init=False, repr=False, compare=False)
    _maybe_below: Links = field(init=False, repr=False, compare=False)
    _sharing: Links = field(init=False, repr=False, compare=False)
    _also: Links = field(init=False, repr=False, compare=False)
    _alone: Links = field(init=False, repr=False, compare=False)
    _twins: Links = field(init=False, repr=False, compare=False)  # a name, its synonyms, and all in the other number
    _above: dict[str, Names] = field(init=False, repr=False, compare=False, default_factory=dict)
    _kept: dict[Any, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        forms = {name: {name, *noun.same} for name, noun in self.nouns.items()}
        twins = {name: (*some, *(self.nouns[one].other for one in some)) for name, some in forms.items()}
        object.__setattr__(self, "_twins", {name: tuple(filter(None, some)) for name, some in twins.items()})
        for setting, linked in (
            ("_below", [(noun.parents, (noun.name,)) for noun in self.nouns.values()]),
            ("_maybe_below", [(parents, (name,)) for name, parents in self.senses.items()]),
            ("_sharing", [(group.names, group.names) for group in self.overlaps]),
            ("_also", [(group.names, group.also) for group in self.overlaps]),
            ("_alone", [(group.also, group.names) for group in self.overlaps]),
        ):
            links: dict[str, dict[str, None]] = defaultdict(dict)
            for sources, targets in linked:
                for source in sources if targets else ():
                    links[source].update(dict.fromkeys(targets))
            object.__setattr__(self, setting, {source: tuple(targets) for source, targets in links.items()})
        for known in (self.senses, self.parts, self.wholes, self._sharing, self._also):
            for name in sorted(set(known).union(*known.values()) - self.nouns.keys()):
                self._noun(name)

    @kept
    def hypernyms(self, name: str) -> tuple[str, ...]:
        """Return all names above ``name`` and their synonyms, nearest first; without itself and its own synonyms."""
        above: dict[str, None] = {}
        level = [name, *self._noun(name).same]
        while level:
            parents = dict.fromkeys(parent for one in level for parent in self.nouns[one].parents)
            twins = dict.fromkeys(twin for parent in parents for twin in (parent, *self.nouns[parent].same))
            level = [twin for twin in twins if twin not in above]
            above.update(dict.fromkeys(level))
        return tuple(above)

    @kept
    def hyponyms(self, name: str) -> Names:
        """Return all names below ``name``, in its number; without itself and its own synonyms."""
        own = {name, *self._noun(name).same}
        return frozenset(self._reach(own, self._below) - own)

    @kept
    def certain(self, name: str) -> Names:
        """Return what a thing of that name certainly is: the name, its synonyms and its hypernyms."""
        return frozenset((name, *self._noun(name).same, *self.hypernyms(name)))

    @kept
    def possible(self, name: str) -> Names:
        # A thing may be whatever is below its name, and whatever overlaps with that or with its hypernyms: a coffee
        # cup, since it is a cup, may be called a glass. Senses are followed from the name itself only: a device may be
        # a fan, and a fan a spectator, but a device is never a spectator.
        certain, own = self._forms(self.certain(name)), self._forms({name})
        users = self._forms(self._reach(own, self._below)) | certain
        shared = self._follow(users, self._sharing) | self._follow(own, self._alone)
        narrower = shared | own | self._follow(users - certain | own, self._maybe_below)
        kinds = self._reach(self._forms(narrower), self._below) | self._follow(certain, self.senses)
        return self._all_above(kinds | self._follow(users, self._also) | certain)

    @kept
    def beside(self, name: str) -> Names:
        """Return what a thing of that name may come with, unannotated: its parts, its wholes and their parts."""
        kinds = self._kinds(name)
        wholes = self._forms(self._follow(kinds, self.wholes))
        owners = self._forms(set().union(*map(self.certain, wholes)))
        brought = self._follow(owners, self.parts)
        if name == GARMENT or GARMENT in self.certain(name):
            brought = {part for part in brought if GARMENT not in self.certain(part)}
        if PERSON in wholes:  # whoever wears a coat may be a pedestrian
            wholes |= self._reach(self._forms({PERSON}), self._below)
        return self._all_above(self._follow(kinds, self.parts) | brought | wholes)

    @kept
    def having(self, name: str) -> Names:
        """Return what a thing of that name itself may have, unannotated; no part of ``beside`` that is not its own."""
        return self._all_above(self._follow(self._kinds(name), self.parts))

    def _kinds(self, name: str) -> set[str]:
        # What an "animal" has depends on the kind of animal, so the parts of all hyponyms count.
        return self._forms({*self.certain(name), *self._reach(self._forms({name}), self._below)})

    def _noun(self, name: str) -> Noun:
        noun = self.nouns.get(name)
        if noun is None:
            raise ValueError(f"name={name!r} is not a noun of the ontology; {nearest(name, self.nouns)}")
        return noun

    def _all_above(self, names: set[str]) -> Names:
        """What things of these names certainly are, in both numbers."""
        above = self._above
        for name in names.difference(above):
            above[name] = frozenset(self._forms(set[str]().union(*map(self.certain, self._forms({name})))))
        return frozenset[str]().union(*map(above.__getitem__, names))

    def _reach(self, names: Collection[str], links: Links) -> set[str]:
        found: set[str] = set()
        new = set(names)
        while new:
            new |= {twin for name in new for twin in self.nouns[name].same}
            found |= new
            new = self._follow(new, links) - found
        return found

    def _forms(self, names: Iterable[str]) -> set[str]:
        return set(chain.from_iterable(map(self._twins.__getitem__, names)))

    @staticmethod
    def _follow(names: Collection[str], links: Links) -> set[str]:
        return {target for name in names for target in links.get(name, ())}


@cache
def curated_nouns() -> Mapping[str, Noun]:
    return read_nouns(_FOLDER / "objects.tsv")


def curated_objects(folder: Path = _FOLDER) -> Closures:
    nouns = curated_nouns() if folder == _FOLDER else read_nouns(folder / "objects.tsv")
    return Closures(
        nouns=nouns,
        overlaps=tuple(_overlaps(folder / "overlaps.tsv", nouns)),
        senses=_links(folder / "senses.tsv", ("name", "may_be"), nouns),
        parts=_links(folder / "parts.tsv", ("whole", "parts"), nouns),
        wholes=_links(folder / "wholes.tsv", ("part", "wholes"), nouns),
    )


def _overlaps(file: Path, nouns: Mapping[str, Noun]) -> Iterator[Overlap]:
    for row in rows_in(file, "names", "also"):
        names, also = _known(row, "names", nouns), _known(row, "also", nouns)
        if not names or len(names) + len(also) < 2 or set(names) & set(also):
            raise row.error("expected two names or more, each in one column only")
        yield Overlap(names=frozenset(names), also=frozenset(also))


def _links(file: Path, columns: tuple[str, str], nouns: Mapping[str, Noun]) -> Mapping[str, tuple[str, ...]]:
    links: dict[str, tuple[str, ...]] = {}
    for row in rows_in(file, *columns):
        (source,) = _known(row, columns[0], nouns)
        if source in links:
            raise row.error(f"{columns[0]}={source!r} has a line already; join the two")
        links[source] = _known(row, columns[1], nouns)
    return MappingProxyType(links)


def _known(row: TsvRow, column: str, nouns: Iterable[str]) -> tuple[str, ...]:
    names = row.names(column)
    for name in names:
        if name not in nouns:
            raise row.error(f"{column}={name!r} is not in objects.tsv; {nearest(name, list(nouns))}")
    if len(set(names)) < len(names):
        raise row.error(f"{column}={row[column]!r} names one twice; keep one")
    return names
