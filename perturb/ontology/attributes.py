"""What attributes and relations mean: their kinds, their opposites, what excludes what, and how they read in English.

CARETS (section 4) asks "Is the cup red or blue?" and turns "Is the door open?" into "Is the door closed?". That needs
attributes of one category that no one thing has both of, and opposites that depend on the object: a short man is not
tall, short hair is not long. The files beside this module say so line by line and name their sources; every line is
curated by hand, and in doubt two attributes are taken to go together.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from vlgate.perturb.grammar import plural
from vlgate.perturb.ontology.tables import Row, rows_of

ATTRIBUTE, ACTION = "attribute", "action"
ANY = ""  # stands for every object in the table of opposites
SAME = "="  # in a cell: reads like its name
COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "categories.tsv": ("name", "noun", "kind", "single", "asked of"),
        "attributes.tsv": ("name", "category", "before", "after", "rank"),
        "antonyms.tsv": ("a", "b", "applies to"),
        "shades.tsv": ("category", "a", "b"),
        "exclusives.tsv": ("category", "a", "b"),
        "actions.tsv": ("attribute", "category", "can"),
        "relations.tsv": ("name", "text", "that", "inverse", "asymmetric"),
    },
)
Pairs = frozenset[frozenset[str]]
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """A dimension that attributes lie in.

    ``noun`` is its word in a question ("What color is the cup?"), "" where it has none. ``kind`` is "attribute" or
    "action": which type of multiple choice question it serves. ``single`` says that a thing has at most one of it, but
    for shades. ``objects`` are the names and classes whose category it is (hair has a length); empty stands for all
    but ``spared`` (nobody asks for a person's material).
    """

    name: str
    noun: str
    kind: str
    single: bool
    objects: frozenset[str] = frozenset()
    spared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute as graphs name it ("wood") and as a question says it.

    ``category`` is "" where it belongs to none. ``before`` says that it may stand before a noun; ``after`` is how it
    reads behind "is" ("made of wood"), "" where it cannot; an attribute with neither is known but never said. Of two
    before one noun that of the lower ``rank`` comes first: opinion 0, size 1, age and condition 2, shape 3, color 4,
    participle, pattern and origin 5, material 6, purpose 7.
    """

    name: str
    category: str
    before: bool
    after: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a relation reads between a noun and "the ...".

    ``text`` is "on" or "wearing", and "" where a graph's predicate is known but does not read. ``that`` says that
    "the cup that is on the table" is English as well. ``inverse`` is the text of the same fact from the other end, ""
    where there is none that is certain. ``asymmetric`` says that it holds in one direction only.
    """

    text: str
    that: bool
    inverse: str = ""
    asymmetric: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """Attributes and relations by name, with the opposites, the pairs that go together, and who can act.

    ``opposites`` maps (attribute, object or class) to the opposite; ``ANY`` is the class of all objects. ``compatible``
    holds the pairs of a single category that go together all the same, ``excluding`` those of another one that do not.
    ``actors`` maps an action to the names that can do it.
    """

    attributes: Mapping[str, Attribute]
    categories: Mapping[str, Category]
    relations: Mapping[str, Reading]
    opposites: Mapping[tuple[str, str], str] = field(default_factory=dict)
    compatible: Pairs = frozenset()
    excluding: Pairs = frozenset()
    actors: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def antonym(self, attribute: str, names: Sequence[str]) -> str | None:
        """Return the opposite of ``attribute`` as said of an object, or None where it has none.

        ``names`` are the object's name and its hypernyms, nearest first: the nearest that has an opposite decides.
        "black" and "white" are opposites here, as in CARETS' release, for objects of a single color only.

        >>> table = curated_attributes()
        >>> table.antonym("short", ("man", "person")), table.antonym("short", ("hair",))
        ('tall', 'long')
        """
        found = (self.opposites.get((attribute, name)) for name in (*names, ANY))
        return next((opposite for opposite in found if opposite is not None), None)

    def exclusive(self, one: str, other: str) -> bool:
        """Say whether the two are of one category and no one thing can be both.

        >>> table = curated_attributes()
        >>> table.exclusive("red", "blue"), table.exclusive("tan", "beige"), table.exclusive("red", "round")
        (True, False, False)
        """
        a, b = self.attributes.get(one), self.attributes.get(other)
        if a is None or b is None or one == other or a.category != b.category or not a.category:
            return False
        pair = frozenset((one, other))
        return pair not in self.compatible if self.categories[a.category].single else pair in self.excluding

    def asked(self, names: Iterable[str], category: str) -> bool:
        """Say whether an object of these names, its own and its hypernyms', is asked for its value of the category.

        >>> table = curated_attributes()
        >>> table.asked(("hair",), "length"), table.asked(("man", "person"), "length")
        (True, False)
        """
        known, told = self.categories[category], frozenset(names)
        return not told & known.spared and (not known.objects or bool(told & known.objects))

    def acts(self, names: Iterable[str], attribute: str) -> bool:
        """Say whether an object of these names, its own and its hypernyms', can do the action.

        >>> table = curated_attributes()
        >>> table.acts(("car", "vehicle"), "parked"), table.acts(("car", "vehicle"), "sleeping")
        (True, False)
        """
        return not self.actors.get(attribute, frozenset()).isdisjoint(names)


def attributes_from(tables: Mapping[str, str]) -> Attributes:
    """Build the tables from the texts of their files.

    Args:
        tables: the texts of the files by their names, which are those of ``COLUMNS``.

    Raises:
        ValueError: a line does not have its columns, names what is not known, or says what another line denies.
    """

    def rows(name: str) -> Iterator[Row]:
        """The rows of a file, with its columns checked."""
        return rows_of(name, tables[name], *COLUMNS[name])

    categories = _once((row["name"], _category(row), row) for row in rows("categories.tsv"))
    attributes = _once((row["name"], _attribute(row, categories), row) for row in rows("attributes.tsv"))
    single = {name for name, category in categories.items() if category.single}
    several = categories.keys() - single
    compatible = frozenset(pair for row in rows("shades.tsv") for pair in _pairs(row, attributes, single))
    actors = _once((row["attribute"], _classes(row), _action(row, attributes)) for row in rows("actions.tsv"))
    actions = {name for name, one in attributes.items() if one.category and categories[one.category].kind == ACTION}
    if unlike := sorted(actions ^ actors.keys()):
        raise ValueError(f"actions.tsv: {unlike[0]!r} must be here if, and only if, its category is one of actions")
    return Attributes(
        attributes=attributes,
        categories=categories,
        relations=_once((row["name"], _reading(row), row) for row in rows("relations.tsv")),
        opposites=_once(item for row in rows("antonyms.tsv") for item in _opposites(row, attributes, compatible)),
        compatible=compatible,
        excluding=frozenset(pair for row in rows("exclusives.tsv") for pair in _pairs(row, attributes, several)),
        actors=actors,
    )


@functools.cache
def curated_attributes() -> Attributes:
    """Return the tables of the package's own files, read once.

    >>> curated_attributes().attributes["wood"].after
    'made of wood'
    """
    folder = Path(__file__).parent
    return attributes_from({name: (folder / name).read_text("utf-8") for name in COLUMNS})


def _once(items: Iterable[tuple[_Key, _Value, Row]]) -> Mapping[_Key, _Value]:
    found: dict[_Key, _Value] = {}
    for key, value, row in items:
        if key in found:
            raise row.error(f"{key!r} is there already; say it once")
        found[key] = value
    return MappingProxyType(found)


def _category(row: Row) -> Category:
    if row["kind"] not in {ATTRIBUTE, ACTION}:
        raise row.error(f"kind={row['kind']!r} must be {ATTRIBUTE!r} or {ACTION!r}")
    names = row.names("asked of")
    return Category(
        name=row["name"],
        noun=row["noun"],
        kind=row["kind"],
        single=row.flag("single"),
        objects=_numbers(name for name in names if not name.startswith("!")),
        spared=_numbers(name[1:] for name in names if name.startswith("!")),
    )


def _attribute(row: Row, categories: Mapping[str, Category]) -> Attribute:
    if row["category"] not in {"", *categories}:
        raise row.error(f"category={row['category']!r} is not in categories.tsv; add it there, or leave the cell empty")
    if not row["rank"].isdigit():
        raise row.error(f"rank={row['rank']!r} must be a number from 0 (far from the noun) on")
    return Attribute(
        name=row["name"],
        category=row["category"],
        before=row.flag("before"),
        after=row["name"] if row["after"] == SAME else row["after"],
        rank=int(row["rank"]),
    )


def _reading(row: Row) -> Reading:
    return Reading(
        text=row["name"] if row["text"] == SAME else row["text"],
        that=row.flag("that"),
        inverse=row["inverse"],
        asymmetric=row.flag("asymmetric"),
    )


def _pairs(row: Row, attributes: Mapping[str, Attribute], categories: Collection[str]) -> Iterator[frozenset[str]]:
    """Each name of ``a`` with each of ``b``, or where ``b`` is empty each two of ``a``."""
    a, b = row.names("a"), row.names("b")
    if row["category"] not in categories:
        raise row.error(f"category={row['category']!r} is none that this file is for, by 'single' in categories.tsv")
    for name in (*a, *b):
        if _known(row, name, attributes).category != row["category"]:
            raise row.error(f"{name!r} is not of the category {row['category']!r} in attributes.tsv")
    return map(frozenset, ((x, y) for x, y in product(a, b) if x != y) if b else combinations(a, 2))


def _opposites(
    row: Row,
    attributes: Mapping[str, Attribute],
    compatible: Pairs,
) -> Iterator[tuple[tuple[str, str], str, Row]]:
    a, b = row["a"], row["b"]
    if a == b or not all(_known(row, name, attributes) for name in (a, b)):
        raise row.error(f"a={a!r} and b={b!r} must be two attributes")
    if frozenset((a, b)) in compatible:
        raise row.error(f"{a!r} and {b!r} go together in shades.tsv; take one of the two lines away")
    for name in sorted(_numbers(row.names("applies to"))) or (ANY,):
        yield (a, name), b, row
        yield (b, name), a, row


def _classes(row: Row) -> frozenset[str]:
    if not row["can"]:
        raise row.error("can='' must name who can do it, as in 'person|animal'")
    return _numbers(row.names("can"))


def _action(row: Row, attributes: Mapping[str, Attribute]) -> Row:
    if _known(row, row["attribute"], attributes).category != row["category"]:
        raise row.error(f"{row['attribute']!r} is not of the category {row['category']!r} in attributes.tsv")
    return row


def _numbers(names: Iterable[str]) -> frozenset[str]:
    """The names and their plurals, since "dogs" are "animals" to a scene graph and "dog" is an "animal"."""
    return frozenset(form for name in names for form in (name, plural(name)))


def _known(row: Row, name: str, attributes: Mapping[str, Attribute]) -> Attribute:
    if name not in attributes:
        near = get_close_matches(name, attributes, 1)
        raise row.error(f"{name!r} is not in attributes.tsv" + (f"; did you mean {near[0]!r}?" if near else ""))
    return attributes[name]
