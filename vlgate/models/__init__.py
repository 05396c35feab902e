"""Load models: registered ones, those of installed packages, and the user's own callables. Nothing here scores."""

from __future__ import annotations

from vlgate.models.loading.registry import LoadedModel, check, load
from vlgate.models.specs import registered

__all__ = ["LoadedModel", "check", "load", "registered"]
