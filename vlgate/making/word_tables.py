"""What is known of words: a lexicon of ``wn``, and files of frequencies and concreteness ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vlgate.errors import DataError, OptionError
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.graphs.files import unknown_names
from vlgate.sources.reading.text_files import read_text

if TYPE_CHECKING:
    from vlgate.making.tools import Tools
    from vlgate.perturb.graphs.persons import IsPerson


# A lexicon of ``wn``, which must be installed, and what it adds to the tables: nothing is downloaded.


def lexicon(name: str) -> Any:
    import wn

    try:
        return wn.Wordnet(name)
    except wn.Error as error:
        raise OptionError(
            f"--wordnet {name}: {error}; run python -m wn download oewn:2024 once, or name one that is installed"
        ) from None


def more_words(tools: Tools, graphs: Iterable[SceneGraph]) -> Ontology:
    name = tools.options.value("wordnet")
    if name is None:
        return default_ontology()
    tools.require("wordnet")
    return extended(default_ontology(), graphs, name)


def extended(ontology: Ontology, graphs: Iterable[SceneGraph], lexicon: str) -> Ontology:
    from vlgate.perturb.ontology.wordnet import extended_by_wordnet

    names = sorted(unknown_names(graphs, ontology.knows))
    try:
        return extended_by_wordnet(ontology, names, lexicon=lexicon)[0]
    except ValueError as error:
        raise OptionError(f"--wordnet {lexicon}: {error}") from None


def persons(tools: Tools) -> IsPerson:
    from vlgate.perturb.graphs.persons import known_person, wordnet_person  # reads the ontology

    name = tools.options.value("wordnet")
    if name is None:
        return known_person
    tools.require("wordnet")
    try:
        in_lexicon = wordnet_person(name)
    except ValueError as error:
        raise OptionError(f"--wordnet {name}: {error}") from None
    ontology = default_ontology()
    return lambda one: known_person(one) or (not ontology.knows(one) and in_lexicon(one))


_REMEDY = "name a file with one word and its number on each line, with a tab between them, below a line of titles"
_FREQUENCIES = ("subtlex", "frequency", "freq", "count")
_CONCRETENESS = ("conc.m", "concreteness", "conc")


WordTable = Callable[[str], float | None]


def frequencies(file: Path) -> WordTable:
    """Return the frequencies of a file, whose second column they are, or the column ``SUBTLEX``."""
    return _read(file, _FREQUENCIES).get


def concreteness(file: Path) -> WordTable:
    """Return the ratings of a file such as that of Brysbaert et al. 2014, the column ``Conc.M`` or the second one."""
    return _read(file, _CONCRETENESS).get


def _read(file: Path, titles: tuple[str, ...]) -> dict[str, float]:
    lines = read_text(file, _REMEDY).splitlines()
    first = [title.strip().lower() for title in lines[0].split("\t")]
    column = next((first.index(title) for title in titles if title in first), 1)
    start = 1 if column >= len(first) or not _is_number(first[column]) else 0
    values: dict[str, float] = {}
    for number, line in enumerate(lines[start:], start + 1):
        cells = line.split("\t")
        if len(cells) <= column or not _is_number(cells[column]):
            raise DataError(file, f"on line {number}", f"expected a number in column {column + 1}", _REMEDY)
        values.setdefault(cells[0].strip().lower(), float(cells[column]))
    return values


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
