"""Reads scene graphs of GQA, Visual Genome and a user, and the vocabulary for questions about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, nearest
from vlgate.perturb.ontology import Attribute, Noun, Ontology, Reading, default_ontology
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs import formats
from vlgate.sources.graphs.checks import MOST_OBJECTS, TOLERANCE, Checker, Faults, Mode, SizeOf
from vlgate.sources.graphs.finding import find_graphs
from vlgate.sources.graphs.formats import Words, words
from vlgate.sources.graphs.stream import AGAIN, MOST_BYTES, members

# Reading scene graphs: GQA's, Visual Genome's and a user's own; the format is detected from the file's content.
#
# A file is never in memory as a whole. With ``faults="fail"``, for clean files, the first fault is an error that names
# the file, the graph and the object. With ``faults="leave out"``, for real data, the smallest part with a fault (an
# attribute, a relation, an object with its relations, a graph) is left out and counted by reason. In both modes it is
# an error if a file is not JSON, is of an unknown format, or has a graph beyond ``MOST_BYTES`` or ``MOST_OBJECTS``.
#
# The following are not faults: names with capitals or several blanks, which are normalised; a repeated attribute of an
# object, which is kept once; a box that reaches up to ``TOLERANCE`` beyond the image, which is cut off there; an
# object without attributes or relations; and names that are in no vocabulary (``unknown_names`` counts them).

__all__ = [
    "MOST_BYTES",
    "MOST_OBJECTS",
    "TOLERANCE",
    "find_graphs",
    "graph_faults",
    "read_graphs",
    "read_words",
    "unknown_names",
]

OWN_REMEDY = "correct it as docs/benchmarks/scene-graphs.md shows"


def read_graphs(
    path: Path, *, faults: Mode = "fail", left_out: Counter[str] | None = None, size_of: SizeOf | None = None
) -> Iterator[SceneGraph]:
    """Yield the graphs of a file of GQA, of Visual Genome or of a user, in the order of the file.

    With ``faults="leave out"``, the parts that are left out are counted in ``left_out`` by reason; the counts are
    complete after the last graph. With "fail", ``left_out`` does not change. With ``size_of``, which returns the size
    of the image with a name or None, a graph whose size has other proportions is a fault, and so is a box outside the
    image of a graph without a size.
    """
    if faults not in {"fail", "leave out"}:
        raise ValueError(f"{faults=}: expected 'fail' or 'leave out'")
    if faults == "leave out" and left_out is None:
        raise ValueError(f"{left_out=}: expected a Counter, because nothing is left out silently; pass Counter()")
    return _read(path, Faults(path, faults, Counter() if left_out is None else left_out), size_of)


def graph_faults(path: Path, size_of: SizeOf | None = None) -> list[DataError]:
    """Return the error of each fault in a file of scene graphs and its words, in their order."""
    found = Faults(path, "leave out", Counter(), OWN_REMEDY, [])
    for _ in _read(path, found, size_of):
        pass
    return found.errors or []


def read_words(path: Path) -> Words:
    """Return the words that a user's own file adds to the vocabulary; ``vlgate.sources.graphs.formats`` shows them."""
    faults = Faults(path, "fail", Counter(), OWN_REMEDY)
    with closing(members(path)) as found:
        for member in found:
            if member.layout == "beside" and (found_words := words(member, faults)):
                return found_words
            if member.layout not in {"own", "beside"}:
                break
    return {}


def unknown_names(graphs: Iterable[SceneGraph], known: Callable[[str], bool]) -> Counter[str]:
    """Count the names of objects for which ``known`` returns False."""
    names = Counter(thing.name for graph in graphs for thing in graph.objects.values())
    return Counter({name: count for name, count in names.items() if not known(name)})


def _read(path: Path, faults: Faults, size_of: SizeOf | None) -> Iterator[SceneGraph]:
    checker = Checker(faults, size_of)
    with closing(members(path)) as found:
        first = next(found, None)
        if first is None:
            raise DataError(path, None, "holds no scene graph", AGAIN)
        every = chain([first], found)
        if first.layout == "keyed":
            yield from formats.gqa_graphs(every, checker)
        elif first.layout == "listed":
            apart = formats.is_apart(first)
            yield from formats.visual_genome_graphs(formats.joined(every, faults) if apart else every, checker)
        else:
            yield from formats.own_graphs(every, checker)


# The ontology for questions about files of scene graphs: the curated one, extended by the words in those files.


def vocabulary_of(files: Iterable[Path]) -> Ontology:
    """Return the curated ontology with the ``words`` of all these files."""
    ontology = default_ontology()
    for file in files:
        try:
            ontology = with_words(ontology, read_words(file))
        except ValueError as error:
            raise DataError(file, "'words'", str(error), "correct the words in the file") from None
    return ontology


def with_words(ontology: Ontology, words: Words) -> Ontology:
    """Return an ontology that also has a user's own words.

    An attribute or relation replaces a known one of the same name. A noun that the ontology has with the same fields,
    for example from an earlier file, is skipped.
    """
    nouns = [Noun(**row) for row in words.get("nouns", ())]
    nouns = [noun for noun in nouns if ontology.nouns.get(noun.name) != noun]
    attributes = {row["name"]: _attribute(row, ontology) for row in words.get("attributes", ())}
    relations = {
        row["name"]: Reading(**{field: value for field, value in row.items() if field != "name"})
        for row in words.get("relations", ())
    }
    extended = ontology.extended(nouns) if nouns else ontology
    if not attributes and not relations:
        return extended
    words_of_all = replace(
        extended.words,
        attributes=MappingProxyType({**extended.words.attributes, **attributes}),
        relations=MappingProxyType({**extended.words.relations, **relations}),
    )
    return replace(extended, words=words_of_all)


def _attribute(row: Mapping[str, Any], ontology: Ontology) -> Attribute:
    category, known = row["category"], ontology.words.categories
    if category and category not in known:
        raise ValueError(
            f"attribute {row['name']!r} has category={category!r}; {nearest(category, known)}, or leave it out"
        )
    return Attribute(**row)
