"""Reads the files of this folder about objects: nouns, overlaps, senses, parts and wholes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import nearest
from vlgate.perturb.ontology.closures import Closures, Overlap
from vlgate.perturb.ontology.nouns import Noun, read_nouns
from vlgate.perturb.ontology.tables import TsvRow, rows_of


def curated_objects(folder: Path = Path(__file__).parent) -> Closures:
    """Read ``objects.tsv``, ``overlaps.tsv``, ``senses.tsv``, ``parts.tsv`` and ``wholes.tsv`` of a folder.

    Raises: ValueError, which names the file and line, for a broken line, a line that repeats another, or a name that
        is not in ``objects.tsv``.

    >>> sorted(curated_objects().nouns["bikes"].parents)
    ['vehicles']
    """
    nouns = read_nouns(folder / "objects.tsv")
    return Closures(
        nouns=nouns,
        overlaps=tuple(_overlaps(folder / "overlaps.tsv", nouns)),
        senses=_links(folder / "senses.tsv", ("name", "may_be"), nouns),
        parts=_links(folder / "parts.tsv", ("whole", "parts"), nouns),
        wholes=_links(folder / "wholes.tsv", ("part", "wholes"), nouns),
    )


def _overlaps(file: Path, nouns: Mapping[str, Noun]) -> Iterator[Overlap]:
    for row in rows_of(file.name, file.read_text(encoding="utf-8"), "names", "also"):
        names, also = _known(row, "names", nouns), _known(row, "also", nouns)
        if not names or len(names) + len(also) < 2 or set(names) & set(also):
            raise row.error("expected two names or more, each in one column only")
        yield Overlap(names=frozenset(names), also=frozenset(also))


def _links(file: Path, columns: tuple[str, str], nouns: Mapping[str, Noun]) -> Mapping[str, tuple[str, ...]]:
    links: dict[str, tuple[str, ...]] = {}
    for row in rows_of(file.name, file.read_text(encoding="utf-8"), *columns):
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
