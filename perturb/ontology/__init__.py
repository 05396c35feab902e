"""The meaning of the words in scene graphs: names of objects, attributes and relations."""

from vlgate.perturb.ontology.attributes import Attribute, Reading
from vlgate.perturb.ontology.nouns import Noun, Number
from vlgate.perturb.ontology.ontology import Ontology, default_ontology

__all__ = ["Attribute", "Noun", "Number", "Ontology", "Reading", "default_ontology"]
