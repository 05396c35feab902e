"""Attacks on a gate: models, ways of running and data that a gate must not let pass; README.md explains them."""
