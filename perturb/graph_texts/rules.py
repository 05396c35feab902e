"""What is asked of a set of sentences as in BLA: the thresholds of the thesis, and what may judge likeness and grammar.

Chen 2022, "The BLA Benchmark", section 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vlgate.perturb.foils.candidate import SentenceSet
from vlgate.perturb.foils.tools import Grammaticality, TextEncoder
from vlgate.perturb.graph_texts.people import IsPerson, known_person
from vlgate.perturb.ontology import Ontology, default_ontology


class WordVectors(Protocol):
    """Vectors of words, such as Word2Vec's."""

    def similarity(self, one: str, other: str) -> float | None:
        """Return the cosine of two words in lower case, or None if one of them has no vector."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BlaRules:
    """The thresholds of the thesis; shares are of the image's area.

    ``actor_share`` is what both persons of an active-passive set cover at least, ``person_share`` and
    ``feature_share`` what a person and the thing that tells about it cover in the two other tasks. Boxes that overlap
    by ``same_person`` may be one person. ``most_features`` of a person are compared and ``most_sets`` sets made. Two
    features of one person whose last words are more alike than ``alike_words`` are one feature; features of two persons
    more alike than ``alike_features`` tell nobody apart. A set with a sentence below ``grammar`` is dropped.

    ``sure`` goes beyond the thesis: a sentence counts as false only if the graph shows it. Verbs that often hold in
    both directions are refused, and so are features that another person may have unannotated ("wears a shirt").
    """

    actor_share: float = 0.01
    person_share: float = 0.001
    feature_share: float = 0.0005
    same_person: float = 0.85
    most_features: int = 6
    most_sets: int = 3
    alike_words: float = 0.7
    alike_features: float = 0.8
    grammar: float = 0.7
    sure: bool = True


SURE = BlaRules()
"""The thesis's rules, and only sentences whose truth the graph shows."""

THESIS = BlaRules(sure=False)
"""The thesis's rules as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlaTools:
    """What judges names and texts.

    Without vectors, a word and its synonyms and hypernyms are alike; without an encoder, equal texts are.
    """

    is_person: IsPerson = known_person
    ontology: Ontology = field(default_factory=default_ontology)
    encoder: TextEncoder | None = None
    vectors: WordVectors | None = None


TABLES_ONLY = BlaTools()
"""No models: the shipped tables decide."""


def one_of(
    sets: Sequence[SentenceSet], grammaticality: Grammaticality | None = None, rules: BlaRules = SURE
) -> SentenceSet | None:
    """Return the one set of an image that is kept: the one whose sentences have the best mean score.

    Sets with a sentence below ``rules.grammar`` are dropped. Without a judge of grammaticality the first set is kept.

    Returns: the set, or None if there is none or all are dropped.
    """
    if grammaticality is None or not sets:
        return sets[0] if sets else None
    texts = [text for one in sets for text in (*one.true, *one.false)]
    scores = grammaticality.acceptability(texts).reshape(len(sets), 4)
    kept = [number for number in range(len(sets)) if scores[number].min() >= rules.grammar]
    return sets[max(kept, key=lambda number: (scores[number].mean(), -number))] if kept else None
