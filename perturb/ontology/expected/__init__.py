"""What a person expects of photographs: the settings of things, their usual values, and what they can do."""

from vlgate.perturb.ontology.expected.expectations import Expectations
from vlgate.perturb.ontology.expected.surroundings import BROAD, FIT, SHARE, Surroundings
from vlgate.perturb.ontology.expected.tables import curated_expectations

__all__ = ["BROAD", "FIT", "SHARE", "Expectations", "Surroundings", "curated_expectations"]
