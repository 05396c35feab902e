"""The categories, opposites and wordings of attributes and relations.

CARETS (section 4) asks "Is the cup red or blue?" and turns "Is the door open?" into "Is the door closed?". That needs
attributes of one category that exclude each other, and opposites that depend on the object: a short man is not tall,
short hair is not long. The files beside this module list them and name their sources. Every line is curated by hand; in
doubt, two attributes are taken to go together.
"""

import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import nearest
from vlgate.perturb.ontology.tables import TsvRow, both_numbers, once, rows_of

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
    }
)
Pairs = frozenset[frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    name: str
    noun: str  # its word in a question ("What color is the cup?"), or "" if it has none
    kind: str  # "attribute" or "action", the type of multiple choice question that it is used in
    single: bool  # whether a thing has at most one attribute of it, except for shades
    objects: frozenset[str] = frozenset()  # the names and classes that have it (hair has a length); all if empty
    spared: frozenset[str] = frozenset()  # but these do not (nobody asks for a person's material)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """An attribute by its name in scene graphs ("wood"), and its wording in questions.

    ``category`` is "" if it belongs to none. ``before`` says that it may stand before a noun. ``after`` is its wording
    behind "is" ("made of wood"), or "" if it cannot stand there; an attribute with neither is known but never used. Of
    two attributes before a noun, the one with the lower ``rank`` comes first: opinion 0, size 1, age and condition 2,
    shape, pose and passing state 3, color 4, pattern, preparation, origin and class 5, material 6, purpose 7.
    """

    name: str
    category: str
    before: bool
    after: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The wording of a relation between a noun and "the ..."."""

    text: str  # "on" or "wearing"; "" if the predicate is known but has no wording
    that: bool  # whether it may stand in a clause: "the cup that is on the table"
    inverse: str = ""  # the wording of the same fact from the other end, or "" if none is certain
    asymmetric: bool = False  # whether the relation holds in one direction only


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    attributes: Mapping[str, Attribute]
    categories: Mapping[str, Category]
    relations: Mapping[str, Reading]
    # By (attribute, object or class); ``ANY`` is the class of all
    opposites: Mapping[tuple[str, str], str] = field(default_factory=dict)
    compatible: Pairs = frozenset()  # of a single category, pairs that do go together
    excluding: Pairs = frozenset()  # of other categories, pairs that do not
    # Who can do an action, what may be of a material
    actors: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def antonym(self, attribute: str, names: Sequence[str]) -> str | None:
        """Return the opposite of ``attribute`` for an object, or None if it has none."""
        # ``names`` are the object's name and its hypernyms, nearest first: the nearest that has an opposite decides.
        # "black" and "white" are opposites, as in CARETS' release, for objects of a single color only.
        known = ((attribute, name) for name in (*names, ANY))
        return next((self.opposites[key] for key in known if key in self.opposites), None)

    def exclusive(self, one: str, other: str) -> bool:
        a, b = self.attributes.get(one), self.attributes.get(other)
        if a is None or b is None or one == other or a.category != b.category or not a.category:
            return False
        pair = frozenset((one, other))
        return pair not in self.compatible if self.categories[a.category].single else pair in self.excluding

    def asked(self, names: Iterable[str], category: str) -> bool:
        known, told = self.categories[category], frozenset(names)
        return not told & known.spared and (not known.objects or bool(told & known.objects))

    def acts(self, names: Iterable[str], attribute: str) -> bool:
        return not self.actors.get(attribute, frozenset()).isdisjoint(names)


def attributes_from(tables: Mapping[str, str]) -> Attributes:
    def rows(name: str) -> Iterator[TsvRow]:
        return rows_of(name, tables[name], *COLUMNS[name])

    categories = once((row["name"], _category(row), row) for row in rows("categories.tsv"))
    attributes = once((row["name"], _attribute(row, categories), row) for row in rows("attributes.tsv"))
    single = {name for name, category in categories.items() if category.single}
    several = categories.keys() - single
    compatible = frozenset(pair for row in rows("shades.tsv") for pair in _pairs(row, attributes, single))
    actors = once(_actors(row, attributes) for row in rows("actions.tsv"))
    of_actions = {name for name, category in categories.items() if category.kind == ACTION}
    actions = {name for name, attribute in attributes.items() if attribute.category in of_actions}
    if unlike := sorted(actions - actors.keys()):
        raise ValueError(f"actions.tsv: {unlike[0]!r} must be listed, because its category is one of actions")
    return Attributes(
        attributes=attributes,
        categories=categories,
        relations=once((row["name"], _reading(row), row) for row in rows("relations.tsv")),
        opposites=once(item for row in rows("antonyms.tsv") for item in _opposites(row, attributes, compatible)),
        compatible=compatible,
        excluding=frozenset(pair for row in rows("exclusives.tsv") for pair in _pairs(row, attributes, several)),
        actors=actors,
    )


@functools.cache
def curated_attributes() -> Attributes:
    folder = Path(__file__).parent
    return attributes_from({name: (folder / name).read_text("utf-8") for name in COLUMNS})


def _category(row: TsvRow) -> Category:
    if row["kind"] not in {ATTRIBUTE, ACTION}:
        raise row.error(f"kind={row['kind']!r} must be {ATTRIBUTE!r} or {ACTION!r}")
    names = row.names("asked of")
    return Category(
        name=row["name"],
        noun=row["noun"],
        kind=row["kind"],
        single=row.flag("single"),
        objects=both_numbers(name for name in names if not name.startswith("!")),
        spared=both_numbers(name[1:] for name in names if name.startswith("!")),
    )


def _attribute(row: TsvRow, categories: Mapping[str, Category]) -> Attribute:
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


def _reading(row: TsvRow) -> Reading:
    text = row["name"] if row["text"] == SAME else row["text"]
    return Reading(text=text, that=row.flag("that"), inverse=row["inverse"], asymmetric=row.flag("asymmetric"))


def _pairs(row: TsvRow, attributes: Mapping[str, Attribute], categories: Collection[str]) -> Iterator[frozenset[str]]:
    """Each name of ``a`` with each of ``b``; if ``b`` is empty, each two of ``a``."""
    a, b = row.names("a"), row.names("b")
    if row["category"] not in categories:
        raise row.error(f"category={row['category']!r} does not belong here; see its 'single' in categories.tsv")
    for name in (*a, *b):
        if _known(row, name, attributes).category != row["category"]:
            raise row.error(f"{name!r} is not of the category {row['category']!r} in attributes.tsv")
    return map(frozenset, ((x, y) for x, y in product(a, b) if x != y) if b else combinations(a, 2))


def _opposites(
    row: TsvRow, attributes: Mapping[str, Attribute], compatible: Pairs
) -> Iterator[tuple[tuple[str, str], str, TsvRow]]:
    a, b = row["a"], row["b"]
    if a == b or not all(_known(row, name, attributes) for name in (a, b)):
        raise row.error(f"a={a!r} and b={b!r} must be two attributes")
    if frozenset((a, b)) in compatible:
        raise row.error(f"{a!r} and {b!r} go together in shades.tsv; remove one of the two lines")
    for name in sorted(both_numbers(row.names("applies to"))) or (ANY,):
        yield (a, name), b, row
        yield (b, name), a, row


def _actors(row: TsvRow, attributes: Mapping[str, Attribute]) -> tuple[str, frozenset[str], TsvRow]:
    if not row["can"]:
        raise row.error("can='' must name what can do it, as in 'person|animal'")
    if _known(row, row["attribute"], attributes).category != row["category"]:
        raise row.error(f"{row['attribute']!r} is not of the category {row['category']!r} in attributes.tsv")
    return row["attribute"], both_numbers(row.names("can")), row


def _known(row: TsvRow, name: str, attributes: Mapping[str, Attribute]) -> Attribute:
    if name not in attributes:
        raise row.error(f"{name!r} is not in attributes.tsv; {nearest(name, attributes)}")
    return attributes[name]
