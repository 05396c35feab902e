"""What is known of the model that a run asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What a report says of the model: its name, weights and fingerprint, how requests reach it, and any remarks."""

    name: str
    weights: str = ""
    fingerprint: str = ""
    ways: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    checks: tuple[Mapping[str, object], ...] = ()
