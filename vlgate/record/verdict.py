"""May the model of a run be released? The one decision, and the digests of what it was made from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, Literal

from vlgate.gates.records import RELEASABLE, Decision, Outcome
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.record.folder import METRICS, VERDICT, RecordedRun, content_of, held_to, refuse_other_schema
from vlgate.record.replies import UNASKED
from vlgate.record.schema import schema_of
from vlgate.types import Ask, Case, Compare, Match, Request, Task, Verdict

if TYPE_CHECKING:
    from vlgate.record.model_card import ModelCard
    from vlgate.record.results import RunResult


# Read ``verdict.json`` of a finished run, checked before it is used.

VERDICT_SCHEMA = 1
"""The version of the format of ``verdict.json`` that is written and read."""


def read_verdict(run: RecordedRun) -> Mapping[str, Any] | None:
    """Return the content of ``verdict.json``.

    Returns: the content; None if the run has none, because an earlier version wrote its files.
    """
    file = run.folder / VERDICT
    if not file.exists():
        return None
    content = content_of(file, run.named)
    refuse_other_schema(content, VERDICT_SCHEMA, VERDICT, run.named)
    content = held_to(content, schema_of(VERDICT), VERDICT, run.named)
    told = Counter((one["gate"], one["decision"]) for one in content["decisions"])
    if told != Counter((one["gate"], one["decision"]) for one in run.figures["gates"]):
        problem = f"the decisions in {VERDICT} are not those in {METRICS}"
        raise run.wrong(problem, "name a folder whose files are of one run")
    return content


# A digest of a plan: two processes with the same digest ask the same requests, and judge them by the same truths.


def digest(tasks: Iterable[Task]) -> str:
    """Return a digest (32 hexadecimal digits) of the ids, texts, truths and image keys of all cases, in their order."""
    found = blake2b(digest_size=16)
    for task in tasks:
        found.update(_one((task.id, task.shape, task.capability, str(len(task.cases)))))
        for case in task.cases:
            found.update(_one(_parts(case)))
    return found.hexdigest()


def _parts(case: Case) -> list[str]:
    parts = [case.id, repr(case.truths)]
    for request in case.requests:
        parts += _of_request(request)
    return parts


def _of_request(request: Request) -> tuple[str, ...]:
    if isinstance(request, Match):
        return "Match", request.image.key, request.text
    if isinstance(request, Ask):
        return "ask", request.image.key, request.question, repr(request.choices)
    if isinstance(request, Compare):
        return "compare", *(image.key for image in request.images), request.question, repr(request.choices)
    return "Read", "", request.text


def _one(parts: Sequence[str]) -> bytes:
    lengths = ",".join(map(str, map(len, parts)))
    return ("\0".join((lengths, *parts)) + "\n").encode(errors="surrogatepass")


# May the model of a run be released? The one decision, and the digests of what it was made from.

_json = JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
Word = Literal["broken", "incomplete", "fail", "inconclusive", "pass", "not gated"]
OK_STATUSES = (0, 5)
"""pytest's statuses of a session without a failed test: all passed, or none was collected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """All that decides whether the model of a run may be released, and the decision.

    Attributes:
        outcomes: those of its gates and of the other decisions about it.
        broken: why its figures are not those of the whole model, such as cases that could not be scored.
        unfinished: why it did not come to its end, or that it is a part of a run; empty if it is complete.
        tests: pytest's exit status if a test that is not a gate fails; else 0.
        part: whether it is a part of a run that lacks nothing, with which ``vlgate merge`` goes on.
    """

    outcomes: tuple[Outcome, ...]
    broken: tuple[str, ...] = ()
    unfinished: str = ""
    tests: int = 0
    part: bool = False

    @property
    def verdict(self) -> Word:
        """The first word of the ladder that applies; only ``pass`` releases a model."""
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
        """That a test besides the gates failed, in words; empty if none did."""
        said = "a test that is not a gate fails" if self.tests == 1 else f"pytest ended with status {self.tests}"
        return said if self.tests else ""

    @property
    def lacking(self) -> tuple[str, ...]:
        """Why the run cannot pass, whatever its gates say: a word of the ladder and a sentence each."""
        said = [
            *(f"broken: {why}" for why in self.broken),
            *([f"incomplete: {self.unfinished}"] if self.unfinished else []),
        ]
        return tuple(said or ([f"fail: {self.test_failed}"] if self.test_failed else []))

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
    """Return how a run ended, as its files tell; what they do not tell keeps it from passing.

    ``decisions``: decisions in place of its own, if its gates were decided again.
    """
    told, figures = read_verdict(run), run.figures
    word = "" if told is None else told["verdict"]
    tests, unknown = 0, ""
    if told is None:
        unknown = f"it has no {VERDICT}"
    elif "tests" in told or word == "pass":
        tests = told.get("tests", told["status"])
    elif decisions is not None:
        unknown = f"its {VERDICT} is of an earlier version, which does not say whether another test failed"
    if word == "incomplete" and not run.incomplete:
        unknown = "a file could not be written"
    own = tuple(gate["decision"] for gate in figures["gates"])
    broken = word == "broken"
    found = RunOutcome(
        outcomes=own if decisions is None else tuple(one.outcome for one in decisions),
        broken=_broken(
            sum(task["unscored"] for task in figures["tasks"].values()) if broken or not run.incomplete else 0,
            [(one["name"], one["why"]) for one in figures["model"]["checks"] if one["outcome"] == "failed"],
            crashed=broken,
        ),
        unfinished="; ".join(filter(None, [run.incomplete, unknown])),
        tests=tests,
    )
    if decisions is None and told is not None and "tests" in told and word != found.verdict:
        problem = f"the verdict in {VERDICT} is {word!r}, but {METRICS} gives {found.verdict!r}"
        raise run.wrong(problem, "name a folder whose files are of one run")
    return found


def _broken(lost: int, failed: Sequence[tuple[str, str]], *, crashed: bool) -> tuple[str, ...]:
    said = [f"{lost:,} case{'s' if lost != 1 else ''} could not be scored"] if lost else []
    said += [f"the check {name} failed: {why}" for name, why in failed]
    return tuple(said) or (("a process of the run crashed, or its model could not be used",) if crashed else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """Digests of what a verdict was made from, each with the name of its algorithm.

    ``thresholds`` and ``must_hold`` are None without such a file. ``plan`` is that of all ids, texts, truths and image
    keys; ``rows`` is explained in ``rows_digest``.
    """

    thresholds: str | None
    must_hold: str | None
    plan: str
    rows: str


def thresholds_digests(thresholds: Thresholds) -> dict[str, str | None]:
    """Return the digest of a thresholds file and of its cases that must hold; None without such a file."""
    held = thresholds.must_hold
    return {
        "thresholds": f"sha256:{thresholds.digest}" if thresholds.digest else None,
        "must_hold": None if held is None else f"sha256:{held.digest}",
    }


def digests(thresholds: Thresholds, tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]]) -> Digests:
    return Digests(
        **thresholds_digests(thresholds),
        plan=f"blake2b:{digest(tasks)}",
        rows=rows_digest((task.id, verdicts.get(task.id, ())) for task in tasks),
    )


def rows_digest(verdicts: Iterable[tuple[str, Sequence[Verdict]]]) -> str:
    """Return the SHA-256 of the judged rows: what each case contributes to the metrics, and what the model answered.

    A row is a line of JSON with no spaces, ``["task","case","state",{"fact":"1.000000"},["answer",null]]``, in UTF-8
    and with the facts sorted by name. Facts are texts with six decimals. Scores are left out: their last digits differ
    between machines that judge every case alike.

    ``verdicts``: the tasks in the order of the plan, each with the verdicts of its selected cases.
    """
    found = sha256()
    for task, said_of in verdicts:
        judged = verdicts_of(said_of)
        start, starts = _json(task), judged.starts
        answers = ["null" if said is None else _json(said) for said in judged.replies.answers]
        facts: dict[int, str] = {}  # few, because cases share equal facts
        for row, (case, state, one) in enumerate(zip(judged.cases, judged.states, judged.facts, strict=True)):
            if id(one) not in facts:
                facts[id(one)] = _json({name: f"{value:.6f}" for name, value in one.items()})
            said = ",".join(answers[starts[row] : starts[row + 1]] or ["null"] * len(case.requests))
            line = f'[{start},{_json(case.id)},"{state}",{facts[id(one)]},[{said}]]\n'
            found.update(line.encode("utf-8", "replace"))
    return f"sha256:{found.hexdigest()}"


def unscored(verdicts: Sequence[Verdict]) -> bool:
    found = verdicts_of(verdicts)
    return any(
        why != UNASKED and found.states[found.row_of(place)] == "unscored"
        for place, (why, _) in found.replies.problems.items()
    )
