"""Reading scene graphs: GQA's, Visual Genome's and a user's own, each told by what the file holds.

A file is never in memory as a whole. ``faults="fail"`` takes a file as it should be: the first fault is an error,
which names the file, the graph and the object. ``faults="leave out"`` takes real data as they are: the smallest part
with a fault (an attribute, a relation, an object with its relations, a graph) is left out and counted by reason. In
both, a file that is no JSON, of no known format, or has a graph beyond ``MOST_BYTES`` or ``MOST_OBJECTS`` is an error.

What is no fault: names in capitals or with several blanks, which are normalised; an attribute that an object has twice,
which it then has once; a box that reaches up to ``TOLERANCE`` beyond the picture, which is cut off there; an object
without attributes or relations; and names that no vocabulary has (``unknown_names`` counts them).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from vlgate.errors import DataError
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs import gqa, own, release, visual_genome
from vlgate.sources.scene_graphs.checks import MOST_OBJECTS, TOLERANCE, Checker, Faults, Mode
from vlgate.sources.scene_graphs.stream import AGAIN, MOST_BYTES, members
from vlgate.sources.scene_graphs.words import Words, words

__all__ = ["MOST_BYTES", "MOST_OBJECTS", "TOLERANCE", "find_graphs", "read_graphs", "read_words", "unknown_names"]

PLACES = (
    "scene-graphs/*.json",
    "scene-graphs/*.jsonl",
    "gqa/*sceneGraphs.json",
    "gqa/sceneGraphs/*.json",
    "vg/scene_graphs.json",
    "vg/objects.json",
)
"""Where a data folder keeps scene graphs.

``objects.json`` is passed over where ``scene_graphs.json`` lies beside it, and Visual Genome's ``*synsets.json``, which
are lists of words, always.
"""


def read_graphs(path: Path, *, faults: Mode = "fail", left_out: Counter[str] | None = None) -> Iterator[SceneGraph]:
    """Yield the graphs of a file, in its order: GQA's, Visual Genome's or a user's own, told by the content.

    ``left_out`` takes what ``faults="leave out"`` leaves out, counted by reason as it is met; it is complete when the
    last graph has come. With "fail" it stays as it is.

    Returns: graphs with ids that differ, relations between objects that are there, and boxes within the picture.
    Raises: ValueError for "leave out" without a counter; DataError for the faults above, as they are met.

    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp(), "own.json")
    >>> cup = {"id": "1", "name": "Cup", "box": [9, 9, 5, 5], "relations": [{"name": "on", "object": "2"}]}
    >>> _ = path.write_text(json.dumps({"graphs": [{"image": "1.jpg", "objects": [cup]}]}))
    >>> left_out = Counter()
    >>> [graph] = read_graphs(path, faults="leave out", left_out=left_out)
    >>> graph.objects["1"].name, dict(left_out)
    ('cup', {'a relation to an object that the graph lacks': 1})
    """
    if faults not in {"fail", "leave out"}:
        raise ValueError(f"{faults=}: expected 'fail' or 'leave out'")
    if faults == "leave out" and left_out is None:
        raise ValueError(f"{left_out=}: expected a Counter, since nothing is left out silently; pass Counter()")
    return _read(path, Faults(path, faults, Counter() if left_out is None else left_out))


def read_words(path: Path) -> Words:
    """Return the words that a user's own file adds to the vocabulary: see ``vlgate.sources.scene_graphs.own``.

    Returns: for each of "nouns", "attributes" and "relations" the entries, each with all its fields; nothing for a file
    without words, or of another format.
    Raises: DataError for a fault among the words, and a file that cannot be read.
    """
    faults = Faults(path, "fail", Counter())
    with closing(members(path)) as found:
        for member in found:
            if member.layout == "beside" and (found_words := words(member, faults)):
                return found_words
            if member.layout not in {"own", "beside"}:
                break
    return {}


def find_graphs(folders: Sequence[Path]) -> list[Path]:
    """Return the files of scene graphs in data folders, each once: in the order of the folders, ``PLACES`` and names.

    >>> find_graphs([Path("nowhere")])
    []
    """
    found = [path for folder in folders for place in PLACES for path in sorted(folder.glob(place)) if path.is_file()]
    once: dict[Path, Path] = {}
    for path in found:
        whole = path.name == "objects.json" and path.with_name("scene_graphs.json").is_file()
        if not whole and not path.name.endswith("synsets.json"):
            once.setdefault(path.resolve(), path)
    return list(once.values())


def unknown_names(graphs: Iterable[SceneGraph], known: Callable[[str], bool]) -> Counter[str]:
    """Count the names of objects that ``known`` does not know.

    >>> from vlgate.perturb.scene_graph import Box, SceneObject
    >>> cup = SceneObject(id="1", name="cup", box=Box(x=0, y=0, w=1, h=1))
    >>> unknown_names([SceneGraph(id="1", objects={"1": cup})], {"table"}.__contains__)
    Counter({'cup': 1})
    """
    names = Counter(thing.name for graph in graphs for thing in graph.objects.values())
    return Counter({name: count for name, count in names.items() if not known(name)})


def _read(path: Path, faults: Faults) -> Iterator[SceneGraph]:
    checker = Checker(faults)
    with closing(members(path)) as found:
        first = next(found, None)
        if first is None:
            raise DataError(path, None, "holds no scene graph", AGAIN)
        every = chain([first], found)
        if first.layout == "keyed":
            yield from gqa.graphs(every, checker)
        elif first.layout == "listed":
            apart = release.is_apart(first)
            yield from visual_genome.graphs(release.joined(every, faults) if apart else every, checker)
        else:
            yield from own.graphs(every, checker)
