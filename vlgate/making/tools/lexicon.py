"""A lexicon of ``wn``, which must be installed, and what it adds to the tables: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from vlgate.errors import OptionError
from vlgate.perturb.graph_texts.people import IsPerson, known_person, wordnet_person
from vlgate.perturb.ontology import Ontology, default_ontology
from vlgate.perturb.ontology.wordnet import extended_by_wordnet
from vlgate.perturb.scene_graph import SceneGraph
from vlgate.sources.scene_graphs.files import unknown_names

if TYPE_CHECKING:
    from vlgate.making.tools.tools import Tools


def lexicon(name: str) -> Any:
    """Return a lexicon of ``wn`` by its name, such as ``oewn:2024``.

    Raises: OptionError, which says how to get one, if it is not installed.
    """
    import wn

    try:
        return wn.Wordnet(name)
    except wn.Error as error:
        raise OptionError(
            f"--wordnet {name}: {error}; run python -m wn download oewn:2024 once, or name one that is installed"
        ) from None


def more_words(tools: Tools, graphs: Iterable[SceneGraph]) -> Ontology:
    """Return the ontology, with the names in graphs that only the lexicon of --wordnet knows if that is given.

    Raises: OptionError, which says how to get one, if the lexicon is not installed.
    """
    known, name = default_ontology(), tools.options.value("wordnet")
    if name is None:
        return known
    tools.require("wordnet")
    names = sorted(unknown_names(graphs, known.knows))
    try:
        return extended_by_wordnet(known, names, lexicon=name)[0]
    except ValueError as error:
        raise OptionError(f"--wordnet {name}: {error}") from None


def persons(tools: Tools) -> IsPerson:
    """Return what says whether a name is one of a person: the tables or, if --wordnet is given, the lexicon too."""
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
