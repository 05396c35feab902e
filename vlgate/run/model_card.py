"""The description of a run's model in its reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vlgate.checks.check import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The model of a run: its name, weights and fingerprint, how requests reach it, and what checks found.

    ``device`` is empty if the model does not take one; several workers may use several.
    """

    name: str
    weights: str = ""
    fingerprint: str = ""
    adapters: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    device: str = ""


def card_from(fields: Mapping[str, Any]) -> ModelCard:
    """Make a card from the dictionary that ``dataclasses.asdict`` made of one, as a worker sends it."""
    checks = tuple(Check(**check) for check in fields["checks"])
    return ModelCard(**{**fields, "notes": tuple(fields["notes"]), "checks": checks})
