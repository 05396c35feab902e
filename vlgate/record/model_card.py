"""The description of a run's model in its reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vlgate.asking.adapters import ANSWERED, YES_OR_NO
from vlgate.asking.checks.check import Check


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    place: str = ""  # the folder of the cache
    asked: int = 0
    cached: int = 0
    repeated: int = 0
    kept: int = 0  # replies that the cache has taken, those to the checks included
    evicted: int = 0  # replies, also of other runs, that made room for them
    loaded: bool = True  # whether a model was loaded
    notes: tuple[str, ...] = ()


def added(uses: Sequence[CacheUse]) -> CacheUse:
    return CacheUse(
        place=next((use.place for use in uses if use.place), ""),
        loaded=any(use.loaded for use in uses),
        notes=tuple(dict.fromkeys(note for use in uses for note in use.notes)),
        **{
            name: sum(getattr(use, name) for use in uses) for name in ("asked", "cached", "repeated", "kept", "evicted")
        },
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    name: str
    weights: str = ""
    fingerprint: str = ""
    adapters: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    device: str = ""
    cache: CacheUse = CacheUse()

    @property
    def yes_or_no(self) -> bool:
        """Whether the score of a match is 1 for yes and 0 for no, and nothing between."""
        by_answer = self.adapters.get("Match", "").startswith(ANSWERED)
        return by_answer or any(YES_OR_NO in note for note in self.notes)


def card_from(fields: Mapping[str, Any]) -> ModelCard:
    checks = tuple(Check(**check) for check in fields["checks"])
    use = fields.get("cache", {})
    cache = CacheUse(**{**use, "notes": tuple(use.get("notes", ()))})
    return ModelCard(**{**fields, "notes": tuple(fields["notes"]), "checks": checks, "cache": cache})
