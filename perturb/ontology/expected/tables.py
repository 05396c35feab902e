"""Read the curated tables of this folder."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from vlgate.errors import nearest
from vlgate.perturb.inflection import either_number
from vlgate.perturb.ontology.expected.expectations import Expectations
from vlgate.perturb.ontology.tables import TsvRow, rows_of

HOME = ("kitchen", "dining", "living", "bedroom", "bathroom")
INDOORS = (*HOME, "office", "shop")
OUTDOORS = ("street", "rail", "airport", "water", "beach", "garden", "farm", "wild", "snow", "sport")
SETTINGS = (*INDOORS, *OUTDOORS)
"""The settings of photographs."""
GROUPS: Mapping[str, Sequence[str]] = MappingProxyType(
    {"home": HOME, "indoors": INDOORS, "outdoors": OUTDOORS, "anywhere": SETTINGS}
)
CONTRAST, GROUND, MOVABLE, BODY, LIFELESS, ODD = "contrast", "ground", "movable", "body", "lifeless", "odd"
COVER, FLEETING, SCENE, EVERYDAY, TINY, VAGUE = "cover", "fleeting", "scene", "everyday", "tiny", "vague"
NEAR, GATHERED, ENCLOSING, UNASKED = "near", "gathered", "enclosing", "unasked"
CLASH, UNCLEAR, MOTLEY = "clash", "unclear", "motley"
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
_PLAIN = (ODD, LIFELESS, VAGUE, NEAR, CLASH, UNCLEAR)  # groups of words that are not nouns
_OTHERS = (
    CONTRAST,
    GROUND,
    MOVABLE,
    BODY,
    COVER,
    FLEETING,
    SCENE,
    EVERYDAY,
    TINY,
    GATHERED,
    ENCLOSING,
    UNASKED,
    MOTLEY,
)
T = TypeVar("T")


def expectations_from(tables: Mapping[str, str]) -> Expectations:
    """Build the tables from the texts of their files, by their names, the keys of ``COLUMNS``.

    Raises:
        ValueError: a line has other columns or an unknown setting or palette, or lists a name again.
    """

    def rows(name: str) -> Iterator[TsvRow]:
        """The rows of a file, with its columns checked."""
        return rows_of(name, tables[name], *COLUMNS[name])

    groups: dict[str, list[frozenset[str]]] = defaultdict(list)
    for row in rows("groups.tsv"):
        if row["group"] not in (known := (*_PLAIN, *_OTHERS, *GROUPS, *SETTINGS)):
            raise row.error(f"group={row['group']!r}: {nearest(row['group'], known)}")
        names = row.names("names")
        groups[row["group"]].append(frozenset(names) if row["group"] in _PLAIN else _both(names))
        if row["group"] == CONTRAST:
            groups[CONTRAST][-1:] = [frozenset(names), _both(names) - frozenset(names)]
    return Expectations(
        places=_listed((name, _settings(row), row) for row in rows("places.tsv") for name in row.names("names")),
        listed=_values(rows("values.tsv")),
        doers=_doers(rows("doers.tsv")),
        contrasts=tuple(groups[CONTRAST]),
        grounds=frozenset().union(*groups[GROUND]),
        movable=frozenset().union(*groups[MOVABLE]),
        body=frozenset().union(*groups[BODY]),
        lifeless=frozenset().union(*groups[LIFELESS]),
        odd=frozenset().union(*groups[ODD]),
        covers=frozenset().union(*groups[COVER]),
        fleeting=frozenset().union(*groups[FLEETING]),
        scenes=frozenset().union(*groups[SCENE]),
        everyday=frozenset().union(*groups[EVERYDAY]),
        tiny=frozenset().union(*groups[TINY]),
        vague=frozenset().union(*groups[VAGUE]),
        company=_listed(_companions(rows("company.tsv"))),
        usual={name: _usual(name, groups) for name in SETTINGS},
        shades=tuple(groups[NEAR]),
        gathered=frozenset().union(*groups[GATHERED]),
        enclosing=frozenset().union(*groups[ENCLOSING]),
        unasked=frozenset().union(*groups[UNASKED]),
        rests=_listed((name, _both(row.names("on")), row) for row in rows("rests.tsv") for name in row.names("names")),
        needs={name: found for name, found, _ in _companions(rows("needs.tsv"))},
        stands=tuple(
            (frozenset(row.names("relation")), _both(row.names("names")), _both(found))
            for row, found in _unfolded(rows("stands.tsv"), "at")
        ),
        clashes=tuple(groups[CLASH]),
        unclear=frozenset().union(*groups[UNCLEAR]),
        motley=frozenset().union(*groups[MOTLEY]),
    )


@functools.cache
def curated_expectations() -> Expectations:
    """Return the tables of the package's own files, read once."""
    folder = Path(__file__).parent
    return expectations_from({name: (folder / name).read_text("utf-8") for name in COLUMNS})


def _settings(row: TsvRow) -> frozenset[str]:
    found: set[str] = set()
    for name in row.names("settings"):
        if name not in {*GROUPS, *SETTINGS}:
            raise row.error(f"settings={row['settings']!r}: {nearest(name, (*GROUPS, *SETTINGS))}")
        found.update(GROUPS.get(name, (name,)))
    return frozenset(found)


def _usual(setting: str, groups: Mapping[str, Sequence[frozenset[str]]]) -> frozenset[str]:
    found = [
        group for name in (setting, *GROUPS) if setting in GROUPS.get(name, (name,)) for group in groups.get(name, ())
    ]
    return frozenset().union(*found)


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
    return ((name, _both(found), row) for row, found in _unfolded(rows, "with") for name in row.names("names"))


def _doers(rows: Iterable[TsvRow]) -> Mapping[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for row in rows:
        for word in row.names("begins"):
            found[word] = found.get(word, frozenset()) | _both(row.names("can"))
    return found


def _listed(items: Iterable[tuple[str, T, TsvRow]]) -> Mapping[str, T]:
    """By name; a name in its other number too, unless that has a line of its own, as "woods" has beside "wood"."""
    found: dict[str, T] = {}
    for name, value, row in items:
        if name in found:
            raise row.error(f"{name!r} is listed already; keep one of the lines")
        found[name] = value
    others = {form: value for name, value in found.items() for form in either_number(name)}
    return MappingProxyType(others | found)


def _both(names: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(either_number, names))
