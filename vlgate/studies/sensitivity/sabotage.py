"""Models that are broken on purpose, the gates that intact ones pass, and which gates caught a sabotage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from vlgate.gates.records import RELEASABLE
from vlgate.models.reference.defects import SAYS
from vlgate.models.spoilt import SPOILT
from vlgate.models.tiny import CLIP
from vlgate.report.page.cards import anchor
from vlgate.report.rows import judged_by
from vlgate.studies.sensitivity.matrix import claims

_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Sabotage:
    model: str
    says: str
    thresholds: Path | None  # the file of the gates, None for the shipped ones
    claimed: frozenset[str] = frozenset()  # the tasks that claim to catch the defect; empty if nothing is claimed


def sabotages() -> Mapping[str, Sabotage]:
    # A defect that no drawn task claims to catch is left out, because the default suite cannot show it.
    known = claims()
    named = {}
    for name, says in SAYS.items():
        claimed = frozenset(task for task in known.needs if known.claimed(task, name))
        if claimed:
            gates = _HERE / "reader.toml"
            named[name] = Sabotage(model=f"defect:{name}", says=says, thresholds=gates, claimed=claimed)
    for name, spoilt in SPOILT.items():
        own = _HERE / f"{CLIP}.toml" if spoilt.model == CLIP else None
        named[name] = Sabotage(model=f"spoilt:{name}", says=spoilt.says, thresholds=own)
    return MappingProxyType(named)


_SHOWN = 5  # gates in a line


def stopped_by(figures: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    def order(gate: Mapping[str, Any]) -> tuple[bool, float]:
        distance = float("inf") if gate["value"] is None else gate["value"] - (gate["min"] or 0.0)
        return gate["decision"] != "fail", distance

    return sorted((gate for gate in figures["gates"] if gate["decision"] not in RELEASABLE), key=order)


def place_of(stops: Sequence[Mapping[str, Any]]) -> str:
    return anchor(judged_by(stops[0])[0]) if stops else ""


def closing_lines(name: str, sabotage: Sabotage, figures: Mapping[str, Any]) -> list[str]:
    gates = [gate for gate in figures["gates"] if gate["decision"] != "not run" and gate["kind"] != "limit"]
    stops = stopped_by(figures)
    lines = [f"sabotaged: {name}: {sabotage.says} (--model={sabotage.model})"]
    if not stops:
        return [*lines, f"NOT CAUGHT: {_counted(len(gates), 'gate')}, and none fails"]
    more = f", and {len(stops) - _SHOWN} more" if len(stops) > _SHOWN else ""
    failed = sum(gate["decision"] == "fail" for gate in stops)
    doubted = "" if failed == len(stops) else f" ({failed} fail, {len(stops) - failed} inconclusive)"
    shown = []
    for gate in stops[:_SHOWN]:
        value = "no value" if gate["value"] is None else f"{gate['value']:.3f}"
        least = "" if gate["min"] is None else f", min {gate['min']:g}"
        shown.append(f"{gate['gate']} ({value}{least}{'' if gate['decision'] == 'fail' else ', inconclusive'})")
    lines.append(f"stopped by {len(stops)} of {_counted(len(gates), 'gate')}{doubted}: {', '.join(shown)}{more}")
    if sabotage.claimed:
        caught = {judged_by(gate)[0] for gate in stops}
        there = sabotage.claimed & set(figures["tasks"])
        missing = sorted(there - caught)
        without = f"; not by {', '.join(missing)}" if missing else ""
        claimed = f"claimed by {_counted(len(there), 'task')} of the run"
        lines.append(f"{claimed}, and stopped by {len(there & caught)}{without}")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
