"""Sentences and foils from scene graphs: BLA's three tasks, and VL-CheckList's objects, attributes and relations."""
