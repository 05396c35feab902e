"""Names of objects with their grammatical number, hypernyms and synonyms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NoReturn, get_args

from vlgate.errors import nearest
from vlgate.perturb.ontology.tables import TsvRow, rows_of

Number = Literal["singular", "plural", "mass"]
Reject = Callable[[str], NoReturn]

COLUMNS = ("name", "number", "parents", "same_as", "synset", "other_number", "askable")
"""The columns of ``objects.tsv``; lists are joined by ``|``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """A name of objects: one word or several in lower case, with single blanks ("traffic light").

    ``parents`` are its direct hypernyms, in the same number if they have both: "dog" has ("animal",), "dogs" has
    ("animals",). Each must hold for every thing of that name. ``same`` are its synonyms, ``other`` is its form in the
    other number ("dogs" for "dog"; empty for mass nouns and for "scissors"). ``synset`` is the id of its sense in Open
    English Wordnet, empty if no sense was chosen. No question is asked about a noun that is not ``askable`` ("part",
    "side").
    """

    name: str
    number: Number
    parents: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    other: str = ""
    synset: str = ""
    askable: bool = True


def read_nouns(file: Path) -> Mapping[str, Noun]:
    """Read a table of nouns: tab-separated, with the columns ``COLUMNS``, and comments in lines that begin with ``#``.

    Returns: the nouns by name, in the order of the file.
    Raises: ValueError, which names the file and line, for a wrong heading, number or name, a name given twice, and
        whatever ``check_nouns`` finds.

    >>> read_nouns(Path(__file__).with_name("objects.tsv"))["dogs"].parents
    ('animals',)
    """
    nouns: dict[str, Noun] = {}
    rows: dict[str, TsvRow] = {}
    for row in rows_of(file.name, file.read_text(encoding="utf-8"), *COLUMNS):
        noun = _noun(row)
        if noun.name in nouns:
            raise row.error(f"name={noun.name!r} is in line {rows[noun.name].line} already; keep one of the lines")
        nouns[noun.name] = noun
        rows[noun.name] = row
    check_nouns(nouns, rows)
    return MappingProxyType(nouns)


def check_nouns(nouns: Mapping[str, Noun], rows: Mapping[str, TsvRow] = MappingProxyType({})) -> None:
    """Check that nouns are consistent; ``rows`` holds the row of each, for messages.

    Raises: ValueError for an unknown parent, synonym or other form, a parent of another number if it has both forms,
        a synonym of another number or one that is above the noun too, a form or synonym that is not mutual, and
        hypernyms in a circle.
    """
    for noun in nouns.values():
        _check_names(noun, nouns, rows)
        _check_numbers(noun, nouns, rows)
    _check_circles(nouns, rows)


def _noun(row: TsvRow) -> Noun:
    name, number = row["name"], row["number"]
    if not name or name != " ".join(name.lower().split()):
        raise row.error(f"name={name!r}; expected lower case and single blanks")
    if number not in get_args(Number):
        raise row.error(f"number={number!r} of {name!r}; expected one of {', '.join(get_args(Number))}")
    return Noun(
        name=name,
        number=number,  # type: ignore[arg-type]  # checked above, which mypy does not see
        parents=row.names("parents"),
        same=row.names("same_as"),
        other=row["other_number"],
        synset=row["synset"],
        askable=row.flag("askable"),
    )


def _check_names(noun: Noun, nouns: Mapping[str, Noun], rows: Mapping[str, TsvRow]) -> None:
    reject = _rejecter(noun, rows)
    for role, names in (("parent", noun.parents), ("synonym", noun.same), ("other form", _some(noun.other))):
        if len(set(names)) < len(names) or noun.name in names:
            reject(f"{role}={names!r}; expected different names, none of them its own")
        for name in names:
            if name not in nouns:
                reject(f"{role}={name!r} is not in the table; {nearest(name, nouns)}")
    for name in noun.same:
        if noun.name not in nouns[name].same:
            reject(f"synonym={name!r} does not name it as a synonym; name it in both rows")
        if name in noun.parents:
            reject(f"{name!r} is its synonym and its parent; keep one")
    if noun.other and nouns[noun.other].other != noun.name:
        reject(f"other form={noun.other!r} has another form itself: {nouns[noun.other].other!r}; name it in both rows")


def _check_numbers(noun: Noun, nouns: Mapping[str, Noun], rows: Mapping[str, TsvRow]) -> None:
    reject = _rejecter(noun, rows)
    if noun.other and {noun.number, nouns[noun.other].number} != {"singular", "plural"}:
        reject(f"other form={noun.other!r}; expected one to be singular, one plural")
    for name in noun.parents:
        if nouns[name].other and nouns[name].number != ("plural" if noun.number == "plural" else "singular"):
            reject(f"parent={name!r} is {nouns[name].number}, it is {noun.number}; use {nouns[name].other!r}")
    for name in noun.same:
        if nouns[name].number != noun.number and "mass" not in {noun.number, nouns[name].number}:
            reject(f"synonym={name!r} is {nouns[name].number}, it is {noun.number}")


def _check_circles(nouns: Mapping[str, Noun], rows: Mapping[str, TsvRow]) -> None:
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        """Follow the parents of a name, and raise an error if it is above itself."""
        if name in path:
            _rejecter(nouns[name], rows)(f"is above itself: {' > '.join((*path[path.index(name) :], name))}")
        if name not in done:
            for above in (*nouns[name].parents, *(p for twin in nouns[name].same for p in nouns[twin].parents)):
                visit(above, (*path, name))
            done.add(name)

    for name in nouns:
        visit(name, ())


def _some(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


def _rejecter(noun: Noun, rows: Mapping[str, TsvRow]) -> Reject:
    def reject(problem: str) -> NoReturn:
        """Raise an error that names the noun and its row."""
        message = f"name={noun.name!r}: {problem}"
        raise rows[noun.name].error(message) if noun.name in rows else ValueError(message)

    return reject
