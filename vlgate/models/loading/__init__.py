"""Resolve ``--model NAME`` to a model: the registry, entry points, and the user's own callables."""
