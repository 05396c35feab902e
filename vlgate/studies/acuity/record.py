"""``acuity.json``: the charts of one model as a file, written and read back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

from vlgate.errors import OptionError
from vlgate.gates.acuity import AcuityDecision
from vlgate.metrics.perception import FACULTIES, Acuity, Word

FILE = "acuity.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRun:
    """The charts of one model; ``seed`` decides the trials."""

    model: str
    fingerprint: str
    seed: int
    charts: tuple[Acuity, ...]

    def chart(self, faculty: str) -> Acuity | None:
        """Return the chart of a faculty; None if it was not drawn."""
        return next((one for one in self.charts if one.faculty == faculty), None)


def text_of(release: ChartRun, decisions: Sequence[AcuityDecision] = ()) -> str:
    """Return the content of ``acuity.json``."""
    gates = [
        {"gate": f"acuity.{one.gate.faculty}", one.gate.key: one.gate.bound, "decision": one.outcome, "why": one.why}
        for one in decisions
    ]
    content = {
        "schema": SCHEMA,
        "model": release.model,
        "fingerprint": release.fingerprint,
        "seed": release.seed,
        "calls": sum(one.calls for one in release.charts),
        "charts": {one.faculty: _chart(one) for one in release.charts},
        "gates": gates,
    }
    return json.dumps(content, indent=1) + "\n"


def _chart(one: Acuity) -> dict[str, object]:
    low, high = one.interval
    told = {"level": one.level, "low": low, "high": high, "unit": one.about.unit, "calls": one.calls}
    kept = {name: value for name, value in asdict(one).items() if name not in {"faculty", "low", "high"}}
    levels = {"levels": one.about.levels().round(4).tolist()}
    return {"word": one.word, **told, **kept, "place_low": one.low, "place_high": one.high, **levels}


def read_release(place: Path) -> ChartRun:
    """Read the charts of an earlier release from its file, or the folder that it is in."""
    file = place / FILE if place.is_dir() else place
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        charts = tuple(_read(name, one) for name, one in content["charts"].items())
        model, digest = str(content["model"]), str(content["fingerprint"])
        return ChartRun(model=model, fingerprint=digest, seed=int(content["seed"]), charts=charts)
    except OSError as error:
        why = f"{file} cannot be read ({error.strerror}); name a folder with {FILE}"
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{file} is not a file of vlgate acuity ({type(error).__name__}: {error}); write it again"
    raise OptionError(f"--against {place}: {why}")


def _read(name: str, given: Mapping[str, Any]) -> Acuity:
    ends = {"low": given["place_low"], "high": given["place_high"], "faculty": name}
    values: dict[str, Any] = {one.name: ends.get(one.name, given.get(one.name)) for one in fields(Acuity)}
    values |= {"asked": tuple(given["asked"]), "right": tuple(given["right"])}
    found = Acuity(**values)
    known = len(FACULTIES[name].levels())
    if found.word not in get_args(Word) or {len(found.asked), len(found.right)} != {known}:
        raise ValueError(f"the chart {name!r} is damaged")
    for one in ("place", "low", "high", "best", "best_low", "best_high"):
        if not isinstance(values[one], float):
            raise TypeError(f"{name}.{one} is {values[one]!r}, not a number")
    return found
