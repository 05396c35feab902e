"""The ontology that questions about some files of scene graphs are made with: the curated one, and the files' words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.errors import DataError, nearest
from vlgate.perturb.ontology import Attribute, Noun, Ontology, Reading, default_ontology
from vlgate.sources.scene_graphs import read_words
from vlgate.sources.scene_graphs.words import Words


def vocabulary_of(files: Iterable[Path]) -> Ontology:
    """Return the curated ontology with the ``words`` of all these files.

    Raises: DataError, which names the file, for one that cannot be read, and for words that do not fit.

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
    """Return an ontology that also has a user's own words; an attribute or relation takes the place of a known one.

    A noun that an earlier file gave in the same way is passed over.

    Raises: ValueError for a noun that is known already, or whose parents are not, and an unknown category.
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
    told = replace(
        extended.words,
        attributes=MappingProxyType({**extended.words.attributes, **attributes}),
        relations=MappingProxyType({**extended.words.relations, **relations}),
    )
    return replace(extended, words=told)


def _attribute(row: Mapping[str, Any], ontology: Ontology) -> Attribute:
    category, known = row["category"], ontology.words.categories
    if category and category not in known:
        raise ValueError(
            f"attribute {row['name']!r} has category={category!r}; {nearest(category, known)}, or leave it out"
        )
    return Attribute(**row)
