"""Simple sentences from their parts: verbs that agree, active and passive voice, articles."""

from vlgate.perturb.sentences.clauses import active, passive
from vlgate.perturb.sentences.nouns import bare_or_a, number_of
from vlgate.perturb.sentences.verbs import Predicate, Verb, read_predicate

__all__ = ["Predicate", "Verb", "active", "bare_or_a", "number_of", "passive", "read_predicate"]
