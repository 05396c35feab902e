"""The section ``[acuity]`` of ``thresholds.toml``: gates on the thresholds that ``vlgate analyse acuity`` finds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vlgate.errors import ThresholdsError, nearest
from vlgate.gates.records import Outcome
from vlgate.metrics.perception import FACULTIES, Acuity

_KEYS = ("max", "min", "why")
_NEVER = ("at chance", "below chance")
_UNKNOWN = {"no fit": "its replies do not follow a psychometric function", "unscored": "trials have no reply"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcuityGate:
    faculty: str
    bound: float
    why: str = ""

    @property
    def key(self) -> str:
        return "max" if FACULTIES[self.faculty].smaller_is_better else "min"


@dataclass(frozen=True, slots=True, kw_only=True)
class AcuityDecision:
    gate: AcuityGate
    outcome: Outcome
    why: str


def acuity_gate(name: str, given: object, wrong: Callable[[str, str, str], ThresholdsError]) -> AcuityGate:
    where = f"acuity.{name}"
    if name in _KEYS:
        raise wrong(where, "stands outside a faculty", EXAMPLE)
    if name not in FACULTIES:
        raise wrong("[acuity]", f"unknown faculty {name!r}", nearest(name, FACULTIES))
    about = FACULTIES[name]
    example = _example_of(name)
    if not isinstance(given, dict):
        raise wrong(where, f"is {given!r}, not a TOML table", example)
    for key in given:
        if key not in _KEYS:
            raise wrong(where, f"unknown key {key!r}", nearest(key, _KEYS))
    key, other, better = ("max", "min", "lower") if about.smaller_is_better else ("min", "max", "higher")
    if other in given:
        raise wrong(where, f"has {other}, but a {better} threshold is better", example)
    bound, why = given.get(key), given.get("why", "")
    low, high = sorted((about.hard, about.easy))
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not low <= bound <= high:
        problem = f"has no {key}" if bound is None else f"{key} = {bound!r}"
        raise wrong(where, problem, f"write a level of its range, {low:g} to {high:g} {about.unit}")
    if not isinstance(why, str):
        raise wrong(where, f"why = {why!r}", 'write a string, why = "..."')
    return AcuityGate(faculty=name, bound=float(bound), why=why)


def decide_acuity(gate: AcuityGate, found: Acuity | None) -> AcuityDecision:
    # A model at chance fails. A model that does not fall within the range is as good as its hard end.
    outcome: Outcome = "inconclusive"
    if found is None:
        outcome, why = "not run", "its chart was not drawn"
    elif found.word in _UNKNOWN:
        why = f"{found.word}: {_UNKNOWN[found.word]}"
    elif found.word in _NEVER:
        outcome, why = "fail", f"the model is {found.word} in the whole range"
    else:
        bound = float(found.about.place_of(np.array(gate.bound)))
        limit = f"{gate.key} = {gate.bound:g} {found.about.unit}"
        why = f"{said(found)}: the interval contains {limit}"
        if found.high <= bound:
            outcome, why = "pass", f"{said(found)}, within {limit}"
        elif found.low > bound:
            outcome, why = "fail", f"{said(found)}, worse than {limit}"
    return AcuityDecision(gate=gate, outcome=outcome, why=why)


def said(found: Acuity) -> str:
    if found.word != "threshold":
        return found.word
    low, high = found.interval
    hard, easy = ("the hard end", "the easy end")[:: 1 if found.about.smaller_is_better else -1]
    ends = [f"beyond {side}" if end is None else f"{end:.3g}" for end, side in ((low, hard), (high, easy))]
    return f"{found.level:.3g} {found.about.unit} ({ends[0]} to {ends[1]})"


def _example_of(name: str) -> str:
    about = FACULTIES[name]
    key, level = "max" if about.smaller_is_better else "min", float(np.round(about.at(np.array(0.6)), 1))
    return f"write [acuity.{name}] with {key} = {level:g}"


EXAMPLE = _example_of("noun")  # the remedy for a section that names no faculty
