"""What VL-CheckList's objects, attributes and relations share: what may judge the words, and what is kept of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.graph_texts.likeness import Likeness
from vlgate.perturb.graph_texts.vocabulary import Vocabulary
from vlgate.perturb.ontology import Ontology, default_ontology

POSITIVE = "the foil is a caption of the same image"


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Where replacements come from: the collection's words, the ontology, and how alike two words may be.

    ``seed`` decides which of several replacements is taken, together with the image and the caption. ``classes``
    keeps the classes of nouns, ``pools`` what may replace a noun in a place, or an attribute.
    """

    vocabulary: Vocabulary
    ontology: Ontology = field(default_factory=default_ontology)
    likeness: Likeness = field(default_factory=Likeness)
    seed: int = 0
    classes: dict[str, frozenset[str]] = field(default_factory=dict, repr=False, compare=False)
    pools: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict, repr=False, compare=False)


def checked(found: Iterable[Foil | str], captions: Iterable[str]) -> Found:
    """Return the foils, each once, without those that are captions of the image; ``captions`` are all of these."""
    true = frozenset(captions)
    kept: dict[tuple[str, str], Foil] = {}
    refused: list[str] = []
    for one in found:
        if isinstance(one, str):
            refused.append(one)
        elif one.foil in true:
            refused.append(POSITIVE)
        else:
            kept.setdefault((one.caption, one.classes[0]), one)
    return Found(candidates=tuple(kept.values()), refused=tuple(refused))
