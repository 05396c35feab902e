"""Tables made from the scene graphs in the data folders: the six tests of CARETS, and two beyond them.

The six are those of Jimenez et al. 2022, section 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from vlgate.types import Reading, Shape, Table

if TYPE_CHECKING:
    from vlgate.perturb.questions import Test

TESTS: tuple[Test, ...] = (
    *("rephrase-inv", "ontological-inv", "order-inv", "visual-inv", "negation-dir", "antonym-dir"),
    *("mirror-inv", "occlusion-dir"),
)

SHAPES: Mapping[str, Shape] = MappingProxyType({f"scene-graphs/{test}": "questions" for test in TESTS})
"""The shape of each table, by id."""


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables, of ``reading.pairs`` questions each, where a data folder holds scene graphs.

    Faulty parts of a graph are left out and counted, as real data have them; ``vlgate questions`` is strict. Where
    enough of the pictures are there, only their graphs are asked about (``annotated.ENOUGH``). Of several wanted tests
    one that the graphs give no question for is left out.

    Raises: DataError for a file that is no scene graphs, words that do not fit the ontology, and graphs that give no
    question at all.
    """
    # Every run asks every source for its tables' names: only one that wants these loads the ontology, the templates
    # and the reader.
    from vlgate.sources.annotated import tables

    yield from tables(reading, [test for test in TESTS if reading.wanted(f"scene-graphs/{test}")])
