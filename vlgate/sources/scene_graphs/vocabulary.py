"""The ontology for questions about files of scene graphs: the curated one, extended by the words in those files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, nearest
from vlgate.perturb.ontology import Attribute, Noun, Ontology, Reading, default_ontology
from vlgate.sources.scene_graphs.files import read_words
from vlgate.sources.scene_graphs.words import Words


def vocabulary_of(files: Iterable[Path]) -> Ontology:
    """Return the curated ontology with the ``words`` of all these files.

    Raises: DataError, which names the file, if it cannot be read or its words do not fit the ontology.

    >>> vocabulary_of([]) is default_ontology()
    True
    """
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

    Raises: ValueError if a noun is known with other fields, the parents of a noun are unknown, or the category of an
    attribute is unknown.
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
