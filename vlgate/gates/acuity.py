"""The section ``[acuity]`` of ``thresholds.toml``: gates on the thresholds that ``vlgate acuity`` finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from vlgate.errors import ThresholdsError, nearest
from vlgate.gates.records import Outcome
from vlgate.metrics.perception import FACULTIES, Acuity, Faculty

_KEYS = ("max", "min", "why")
_NEVER = ("at chance", "below chance")
_UNKNOWN = {"no fit": "its replies do not follow a psychometric function", "unscored": "trials have no reply"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AcuityGate:
    """The worst threshold that a model may have for a faculty: ``bound`` is a level of its range."""

    faculty: str
    bound: float
    why: str = ""

    @property
    def key(self) -> str:
        """The key of the bound: "max" if a lower threshold is better, else "min"."""
        return _key(FACULTIES[self.faculty])


@dataclass(frozen=True, slots=True, kw_only=True)
class AcuityDecision:
    """The outcome of a gate on a threshold, with a sentence that says why."""

    gate: AcuityGate
    outcome: Outcome
    why: str


def read_acuity(
    section: Mapping[str, object], wrong: Callable[[str, str, str], ThresholdsError]
) -> tuple[AcuityGate, ...]:
    """Read the gates of acuity charts.

    Returns: the gates, in the file's order.
    """
    return tuple(_gate(name, given, wrong) for name, given in section.items())


def _gate(name: str, given: object, wrong: Callable[[str, str, str], ThresholdsError]) -> AcuityGate:
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
    other = "min" if about.smaller_is_better else "max"
    if other in given:
        better = "lower" if about.smaller_is_better else "higher"
        raise wrong(where, f"has {other}, but a {better} threshold is better", example)
    bound, why = given.get(_key(about)), given.get("why", "")
    low, high = sorted((about.hard, about.easy))
    if isinstance(bound, bool) or not isinstance(bound, int | float) or not low <= bound <= high:
        problem = f"has no {_key(about)}" if bound is None else f"{_key(about)} = {bound!r}"
        raise wrong(where, problem, f"write a level of its range, {low:g} to {high:g} {about.unit}")
    if not isinstance(why, str):
        raise wrong(where, f"why = {why!r}", 'write a string, why = "..."')
    return AcuityGate(faculty=name, bound=float(bound), why=why)


def decide_acuity(gate: AcuityGate, found: Acuity | None) -> AcuityDecision:
    """Decide a gate by the unfavourable end of the threshold's interval.

    It passes if even that end is as good as the bound, fails if even the favourable end is worse, and is inconclusive
    otherwise. A model at chance fails. A model that does not fall within the range is as good as its hard end.

    - ``found``: what the trials show; None if the chart was not drawn.

    Returns: the decision with its reason.
    """
    if found is None:
        return AcuityDecision(gate=gate, outcome="not run", why="its chart was not drawn")
    if found.word in _UNKNOWN:
        return AcuityDecision(gate=gate, outcome="inconclusive", why=f"{found.word}: {_UNKNOWN[found.word]}")
    if found.word in _NEVER:
        return AcuityDecision(gate=gate, outcome="fail", why=f"the model is {found.word} in the whole range")
    bound = float(found.about.place_of(np.array(gate.bound)))
    limit = f"{gate.key} = {gate.bound:g} {found.about.unit}"
    if found.high <= bound:
        return AcuityDecision(gate=gate, outcome="pass", why=f"{said(found)}, within {limit}")
    if found.low > bound:
        return AcuityDecision(gate=gate, outcome="fail", why=f"{said(found)}, worse than {limit}")
    return AcuityDecision(gate=gate, outcome="inconclusive", why=f"{said(found)}: the interval contains {limit}")


def said(found: Acuity) -> str:
    """Say what the trials show: the threshold with its interval, or why there is none.

    An end of the interval outside the range is said in words.
    """
    if found.word != "threshold":
        return found.word
    low, high = found.interval
    smaller = "the hard end" if found.about.smaller_is_better else "the easy end"
    larger = "the easy end" if found.about.smaller_is_better else "the hard end"
    ends = (
        f"{low:.3g}" if low is not None else f"beyond {smaller}",
        f"{high:.3g}" if high is not None else f"beyond {larger}",
    )
    return f"{found.level:.3g} {found.about.unit} ({ends[0]} to {ends[1]})"


def _key(about: Faculty) -> str:
    return "max" if about.smaller_is_better else "min"


def _example(about: Faculty) -> float:
    return float(np.round(about.at(np.array(0.6)), 1))


def _example_of(name: str) -> str:
    about = FACULTIES[name]
    return f"write [acuity.{name}] with {_key(about)} = {_example(about):g}"


EXAMPLE = _example_of("noun")
"""The remedy for a section that names no faculty."""
