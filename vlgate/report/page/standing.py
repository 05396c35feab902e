"""How a run ended: what ``verdict.json`` says, or the same rule for a folder without that file."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.recorded.folder import RecordedRun
from vlgate.recorded.verdict import read_verdict
from vlgate.report.verdict_json import QUIET
from vlgate.run.verdict import UNGATED, Word, word


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The verdict on a run, None if no gate was judged, and the exit status of its tests."""

    verdict: Word | None
    status: int = 0

    @property
    def only_tests_fail(self) -> bool:
        """Whether a test failed that is not a gate, and nothing else is wrong."""
        return self.verdict == "pass" and self.status not in QUIET


def standing(run: RecordedRun, unscored: int) -> Standing:
    """Return how a run ended, from the files of its folder.

    Args:
        run: the run.
        unscored: the number of cases that were asked and could not be scored.

    Raises: OptionError if ``verdict.json`` is there and cannot be used.
    """
    found = read_verdict(run)
    if found is not None and found["verdict"] != UNGATED:
        return Standing(verdict=found["verdict"], status=found["status"])
    unchecked = any(check["outcome"] == "failed" for check in run.figures["model"]["checks"])
    outcomes = {gate["decision"] for gate in run.figures["gates"]}
    return Standing(verdict=word(outcomes, broken=bool(unscored) or unchecked, incomplete=bool(run.incomplete)))
