"""Load models: registered ones, those of installed packages, and the user's own callables. Nothing here scores."""

from __future__ import annotations

from vlgate.models.loading.catalogue import registered
from vlgate.models.loading.registry import LoadedModel, check, load

__all__ = ["LoadedModel", "check", "load", "registered"]
