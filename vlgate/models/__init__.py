"""Models: the registered ones, other people's callables, and what loads them; nothing here knows of scoring."""

from __future__ import annotations

from vlgate.models.registered import REGISTRY
from vlgate.models.registry import LoadedModel, check, load

__all__ = ["REGISTRY", "LoadedModel", "check", "load"]
