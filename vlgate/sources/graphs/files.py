"""Reads scene graphs of GQA, Visual Genome and a user, and the vocabulary for questions about them."""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

from vlgate.errors import DataError, nearest
from vlgate.perturb.ontology import Attribute, Noun, Ontology, Reading, default_ontology
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs import formats
from vlgate.sources.graphs.checks import Checker, Faults, Mode, SizeOf
from vlgate.sources.graphs.formats import Words, words
from vlgate.sources.graphs.stream import AGAIN, Member, members

# A file is never in memory as a whole. With ``faults="fail"``, for clean files, the first fault is an error that names
# the file, the graph and the object. With ``faults="leave out"``, for real data, the smallest part with a fault (an
# attribute, a relation, an object with its relations, a graph) is left out and counted by reason. In both modes it is
# an error if a file is not JSON, is of an unknown format, or has a graph beyond ``MOST_BYTES`` or ``MOST_OBJECTS``.
#
# The following are not faults: names with capitals or several blanks, which are normalised; a repeated attribute of an
# object, which is kept once; a box that reaches up to ``TOLERANCE`` beyond the image, which is cut off there; an
# object without attributes or relations; and names that are in no vocabulary (``unknown_names`` counts them).

OWN_REMEDY = "correct it as docs/benchmarks/scene-graphs.md shows"


def read_graphs(
    path: Path,
    *,
    faults: Mode = "fail",
    left_out: Counter[str] | None = None,
    size_of: SizeOf | None = None,
    lost: Counter[Path] | None = None,
) -> Iterator[SceneGraph]:
    """Yield a file's graphs in its order; with ``size_of``, one that does not fit the size of its image is a fault."""
    # ``lost`` gets the number of the graphs that are left out as a whole, ``left_out`` that of all parts by reason.
    if faults not in {"fail", "leave out"}:
        raise ValueError(f"{faults=}: expected 'fail' or 'leave out'")
    if faults == "leave out" and left_out is None:
        raise ValueError(f"{left_out=}: expected a Counter, because nothing is left out silently; pass Counter()")
    counted = Faults(path, faults, Counter() if left_out is None else left_out)
    return _read(path, counted, size_of, Counter() if lost is None else lost)


def graph_faults(path: Path, size_of: SizeOf | None = None) -> list[DataError]:
    errors: list[DataError] = []
    deque(_read(path, Faults(path, "leave out", Counter(), OWN_REMEDY, errors), size_of, Counter()), maxlen=0)
    return errors


def read_words(path: Path) -> Words:
    faults = Faults(path, "fail", Counter(), OWN_REMEDY)
    with closing(members(path)) as found:
        for member in found:
            if member.layout == "beside" and (found_words := words(member, faults)):
                return found_words
            if member.layout not in {"own", "beside"}:
                break
    return {}


def unknown_names(graphs: Iterable[SceneGraph], known: Callable[[str], bool]) -> Counter[str]:
    names = Counter(thing.name for graph in graphs for thing in graph.objects.values())
    return Counter({name: count for name, count in names.items() if not known(name)})


def _read(path: Path, faults: Faults, size_of: SizeOf | None, lost: Counter[Path]) -> Iterator[SceneGraph]:
    checker = Checker(faults, size_of)
    with closing(members(path)) as found:
        first = next(found, None)
        if first is None:
            raise DataError(path, None, "holds no scene graph", AGAIN)
        every: Iterator[Member] = chain([first], found)
        plain = formats.gqa if first.layout == "keyed" else formats.own
        if first.layout == "listed":
            plain = formats.visual_genome
            # Objects without relationships: these are in another file.
            if type(first.value) is dict and "objects" in first.value and "relationships" not in first.value:
                every = formats.joined(every, faults)
        for member in every:
            named = plain(member, faults)
            if named is not None and (graph := checker.graph(*named, member.repeated)) is not None:
                yield graph
            elif member.layout != "beside":
                lost[path] += 1


def vocabulary_of(files: Iterable[Path]) -> Ontology:
    ontology = default_ontology()
    for file in files:
        try:
            ontology = with_words(ontology, read_words(file))
        except ValueError as error:
            raise DataError(file, "'words'", str(error), "correct the words in the file") from None
    return ontology


# An attribute or relation replaces a known one of the same name. A noun that the ontology has with the same fields, for
# example from an earlier file, is skipped.
def with_words(ontology: Ontology, words: Words) -> Ontology:
    nouns = [noun for row in words.get("nouns", ()) if ontology.nouns.get((noun := Noun(**row)).name) != noun]
    known = ontology.words.categories
    attributes = {}
    for row in words.get("attributes", ()):
        if row["category"] and row["category"] not in known:
            hint = f"{nearest(row['category'], known)}, or leave it out"
            raise ValueError(f"attribute {row['name']!r} has category={row['category']!r}; {hint}")
        attributes[row["name"]] = Attribute(**row)
    relations = {
        row["name"]: Reading(**{field: value for field, value in row.items() if field != "name"})
        for row in words.get("relations", ())
    }
    extended = ontology.extended(nouns) if nouns else ontology
    if not attributes and not relations:
        return extended
    words_of_all = replace(
        extended.words,
        attributes={**extended.words.attributes, **attributes},
        relations={**extended.words.relations, **relations},
    )
    return replace(extended, words=words_of_all)
