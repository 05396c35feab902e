"""How a session ended: what it lacks, and which of its files could not be written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest

from vlgate.plugin.collected import Collected
from vlgate.plugin.time_limits import late_call

if TYPE_CHECKING:
    from vlgate.checks.check import Check

CHECKS_MISSING = "the run ended during the checks of the model"
CONTROLS_MISSING = "the run ended during the controls"
EXPLANATIONS_MISSING = "the run ended during the explanations of missed cases"


class Ending:
    """Collects what goes wrong around the tests of one session."""

    def __init__(self) -> None:
        """Start without any trouble; ``no_model`` says why the model could not be loaded."""
        self.no_model = ""
        self.crashed: list[str] = []
        self.unwritten: list[str] = []
        self.interrupted = False

    def down(self, node: object, error: object) -> None:
        """Note a worker that ended; ``error`` is None if it ended as it should."""
        if error is not None:
            name, late = str(getattr(getattr(node, "gateway", None), "id", node)), late_call(node)
            self.crashed.append(f"worker {name} was ended, because {late}" if late else f"worker {name} crashed")

    def lacks(self, collected: Collected, checks: Sequence[Check]) -> str:
        """Return what the run lacks, as one sentence; empty if it is complete."""
        left = sum(collected.unreported(nodeid) for nodeid in collected.expected)
        failed = [check.name for check in checks if check.outcome == "failed"]
        found = ["the run was interrupted"] if self.interrupted else []
        found += [f"the model could not be loaded ({self.no_model})"] if self.no_model else []
        found += self.crashed
        found += [f"{left} of {len(collected.expected)} tests did not run"] if left else []
        found += [f"the check {name} of the model could not run" for name in failed]
        return "; ".join([*found, *self.unwritten])


def flagged(report: pytest.TestReport) -> str:
    """Return why the model could not be loaded, if this report says so; otherwise an empty text."""
    return str(getattr(report, NO_MODEL, ""))


NO_MODEL = "vlgate_no_model"
