"""May the model of a run be released? The one decision, from a run or from its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from vlgate.gates.records import RELEASABLE, Decision, Outcome
from vlgate.judging.judged import verdicts_of
from vlgate.record.folder import METRICS, OF_ONE_RUN, VERDICT, RecordedRun, content_of, held_to, refuse_other_schema
from vlgate.record.replies import UNASKED
from vlgate.record.schema import schema_of
from vlgate.types import Verdict

if TYPE_CHECKING:
    from vlgate.record.model_card import ModelCard
    from vlgate.record.results import RunResult


VERDICT_SCHEMA = 1


def read_verdict(run: RecordedRun) -> Mapping[str, Any] | None:
    file = run.folder / VERDICT
    if not file.exists():
        return None
    content = content_of(file, run.named)
    refuse_other_schema(content, VERDICT_SCHEMA, VERDICT, run.named)
    content = held_to(content, schema_of(VERDICT), VERDICT, run.named)
    decided = Counter((one["gate"], one["decision"]) for one in content["decisions"])
    if decided != Counter((figure["gate"], figure["decision"]) for figure in run.figures["gates"]):
        problem = f"the decisions in {VERDICT} are not those in {METRICS}"
        raise run.wrong(problem, OF_ONE_RUN)
    return content


Word = Literal["broken", "incomplete", "fail", "inconclusive", "pass", "not gated"]
OK_STATUSES = (0, 5)  # pytest's statuses of a session without a failed test: all passed, or none was collected


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    outcomes: tuple[Outcome, ...]  # of its gates and of the other decisions about it
    broken: tuple[str, ...] = ()  # why its figures are not those of the whole model
    unfinished: str = ""  # why it did not come to its end, or that it is a part of a run
    tests: int = 0  # pytest's exit status if a test that is not a gate fails
    part: bool = False  # a part that lacks nothing, with which vlgate merge goes on

    @property
    def verdict(self) -> Word:
        if self.broken:
            return "broken"
        if self.unfinished:
            return "incomplete"
        if self.test_failed or "fail" in self.outcomes:
            return "fail"
        if self.stopped:
            return "inconclusive"
        return "pass" if "pass" in self.outcomes else "not gated"

    @property
    def stopped(self) -> bool:
        return not RELEASABLE.issuperset(self.outcomes)

    @property
    def test_failed(self) -> str:
        problem = "a test that is not a gate fails" if self.tests == 1 else f"pytest ended with status {self.tests}"
        return problem if self.tests else ""

    @property
    def lacking(self) -> tuple[str, ...]:
        reasons = [
            *(f"broken: {why}" for why in self.broken),
            *([f"incomplete: {self.unfinished}"] if self.unfinished else []),
        ]
        return tuple(reasons or ([f"fail: {self.test_failed}"] if self.test_failed else []))

    @property
    def status(self) -> int:
        """The exit status: 0 if the run passes, if no gate was judged, or if it is a part that can be joined."""
        released = self.verdict in {"pass", "not gated"} or (self.part and not self.broken)
        return self.tests or int(not released)


def outcome_of(run: RunResult, model: ModelCard) -> RunOutcome:
    lost = any(unscored(result.verdicts) for result in run.results)
    return RunOutcome(
        outcomes=tuple(decision.outcome for decision in run.decisions),
        broken=_broken(
            sum(result.coverage.unscored for result in run.results) if lost else 0,
            [(check.name, check.why) for check in model.checks if check.outcome == "failed"],
            crashed=run.crashed,
        ),
        unfinished=run.unfinished,
        tests=run.tests,
        part=run.part is not None and not run.incomplete,
    )


def recorded_outcome(run: RecordedRun, decisions: Sequence[Decision] | None = None) -> RunOutcome:
    content, figures = read_verdict(run), run.figures
    word = "" if content is None else content["verdict"]
    tests, unknown = 0, ""
    if content is None:
        unknown = f"it has no {VERDICT}"
    elif "tests" in content or word == "pass":
        tests = content.get("tests", content["status"])
    elif decisions is not None:
        unknown = f"its {VERDICT} is of an earlier version, which does not say whether another test failed"
    if word == "incomplete" and not run.incomplete:
        unknown = "a file could not be written"
    own = tuple(gate["decision"] for gate in figures["gates"])
    broken = word == "broken"
    outcome = RunOutcome(
        outcomes=own if decisions is None else tuple(decision.outcome for decision in decisions),
        broken=_broken(
            sum(task["unscored"] for task in figures["tasks"].values()) if broken or not run.incomplete else 0,
            [(figure["name"], figure["why"]) for figure in figures["model"]["checks"] if figure["outcome"] == "failed"],
            crashed=broken,
        ),
        unfinished="; ".join(filter(None, [run.incomplete, unknown])),
        tests=tests,
    )
    if decisions is None and content is not None and "tests" in content and word != outcome.verdict:
        problem = f"the verdict in {VERDICT} is {word!r}, but {METRICS} gives {outcome.verdict!r}"
        raise run.wrong(problem, OF_ONE_RUN)
    return outcome


def _broken(lost: int, failed: Sequence[tuple[str, str]], *, crashed: bool) -> tuple[str, ...]:
    reasons = [f"{lost:,} case{'s' if lost != 1 else ''} could not be scored"] if lost else []
    reasons += [f"the check {name} failed: {why}" for name, why in failed]
    return tuple(reasons) or (("a process of the run crashed, or its model could not be used",) if crashed else ())


def unscored(verdicts: Sequence[Verdict]) -> bool:
    table = verdicts_of(verdicts)
    return any(
        why != UNASKED and table.states[table.row_of(place)] == "unscored"
        for place, (why, _) in table.replies.problems.items()
    )
