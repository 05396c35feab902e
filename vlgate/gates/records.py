"""The records of gates: a threshold, what was decided about it, and the keys of a thresholds file."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from vlgate.types import Difference, Metric

GateKind = Literal["gate", "limit", "max_drop", "max_broken", "max_churn"]
Outcome = Literal["pass", "cannot", "fail", "inconclusive", "not run"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
RELEASABLE: frozenset[Outcome] = frozenset({"pass", "cannot", "not run"})
"""The outcomes that do not stop a release; every other one does."""
JUDGED: frozenset[Outcome] = frozenset({"pass", "fail", "inconclusive"})
"""The outcomes of gates that were judged; a run in which no gate has one is not gated."""
Correction = Literal["none", "holm", "bh"]
"""How fails are corrected for the number of gates: not at all, after Holm, or after Benjamini and Hochberg."""
Need = Literal["baseline", "full run", "all cases", "metric", "control", "ties", "controls limit", "cases"]
"""What an inconclusive gate needs for a decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    # The unfavourable end of the metric's interval must reach it, or the value itself if ``basis`` is ``value``. A
    # known limit (``kind``) says instead what the model cannot do: it fails if the metric is above ``max``. ``model``
    # is the pattern of the names that a limit is about; it is empty if it is about every model. The other kinds compare
    # with an earlier run, and ``max`` is the largest drop of the metric, the largest number (or, if it is a fraction,
    # share) of newly broken cases, or the largest share of changed cases. ``expected_churn`` is the share of verdicts
    # that an unchanged model is expected to change.

    task: str
    metric: str
    min: float | None = None
    max: float | None = None
    basis: Literal["lower", "value"] = "lower"
    confidence: float = 0.95
    min_cases: int = 30
    max_skipped: float = 0.05
    max_disputed: float = 0.05
    why: str = ""
    kind: GateKind = "gate"
    model: str = ""
    expected_churn: float = 0.05

    @property
    def compares(self) -> bool:
        return self.kind not in ("gate", "limit")

    @property
    def id(self) -> str:
        """The name in reports: ``task:metric``, of a known limit ``limit:task:metric``, else ``task:metric:kind``."""
        name = f"{self.task}:{self.metric}"
        return name if self.kind == "gate" else f"limit:{name}" if self.kind == "limit" else f"{name}:{self.kind}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    needs: Need
    name: str = ""  # of the metric that the gate can have instead, or of the control to ask


Reason = tuple[str, Step | None]
"""Why a gate is inconclusive, and the step towards a decision, if a user can take one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The outcome of one gate, with a sentence that says why; ``metric`` is None if there was nothing to judge."""

    # A gate that compares with an earlier run has the ``difference`` instead; one on a count has also what is
    # ``counted``, and of how many cases. ``p`` is the p-value of a failed gate that judges an interval; see
    # ``p_values.tail``. ``part`` is by how much the cases that changed did so, as a root mean square: 1 if they are
    # right or wrong, less if they can be half right. ``step`` is that of an inconclusive gate.

    gate: Gate
    outcome: Outcome
    why: str
    step: Step | None = None
    metric: Metric | None = None
    difference: Difference | None = None
    counted: tuple[int, int] | None = None
    p: float | None = None
    part: float = 1.0

    @property
    def tested(self) -> bool:
        # whether an interval decided, so that a fail can be chance; counts and values decide as they are
        judged = self.metric is not None or self.difference is not None
        return judged and self.gate.basis == "lower" and self.gate.kind in {"gate", "limit", "max_drop"}


Section = Literal["top level", "[defaults]", "[checks]", "[gate]", "[limit]"]
COMMON: tuple[Section, ...] = ("[defaults]", "[gate]", "[limit]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    name: str
    sections: tuple[Section, ...]
    holds: str
    default: object = None
    about: str


_CONTENT = tomllib.loads(Path(__file__).with_name("keys.toml").read_text(encoding="utf-8"))
KEYS = tuple(Key(name=name, **{**key, "sections": tuple(key["sections"])}) for name, key in _CONTENT.items())
"""The keys of a thresholds file; any other key is an error."""
