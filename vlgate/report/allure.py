"""Results for Allure: missed cases with their images, texts and scores, by benchmark, capability and task.

No other module imports allure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import md5
from io import BytesIO
from time import time
from typing import TYPE_CHECKING
from uuid import uuid4

import allure
import allure_commons
from allure_commons.model2 import Label, Parameter, Status, StatusDetails, TestResult
from allure_commons.types import AttachmentType

from vlgate.errors import ImageError
from vlgate.report.rows import HEADINGS, rows
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.shrink.record import says
from vlgate.types import Ask, Batch, Decision, LazyImage, Match, Prediction, Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_SHOWN = 8  # the most missed cases of one batch that are shown with their images
_SIDE = 640  # the most pixels of the longer side of a shown image
_GATES = {"pass": Status.PASSED, "fail": Status.FAILED, "inconclusive": Status.FAILED, "not run": Status.SKIPPED}
CATEGORIES = [
    {"name": "Missed cases: the model was wrong", "matchedStatuses": ["unknown"], "messageRegex": "missed.*"},
    {"name": "Broken cases: a small change made it wrong", "matchedStatuses": ["unknown"], "messageRegex": "broken.*"},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added to a result before it is written: its path in the tree and, for a miss, why and the replies."""

    path: tuple[str, ...]
    why: str
    lines: str


class Missed:
    """Gives a missed case the status "unknown" in Allure, which has no status for a miss that is not a failure."""

    def __init__(self) -> None:
        self.additions: dict[str, Addition] = {}

    @allure_commons.hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Complete a result just before it is written: its path, its status, its parameter and its history."""
        addition = self.additions.pop(result.name, None)
        if addition is None:
            return
        result.titlePath = list(addition.path)
        result.parameters = [Parameter(name="cases", value=result.name)]
        result.historyId = md5(result.name.encode(), usedforsecurity=False).hexdigest()
        if addition.why and result.status == Status.PASSED:
            result.status, result.statusDetails = Status.UNKNOWN, StatusDetails(message=addition.why)
            result.description = addition.why + (f"\n\n```\n{addition.lines}\n```" if addition.lines else "")


def show(name: str, batch: Batch, verdicts: Sequence[Verdict], missed: Missed) -> None:
    """Label the running test, and show its missed cases.

    Args:
        name: the name of the batch.
        batch: the cases that were asked.
        verdicts: their verdicts; empty if the test failed before there were any.
        missed: keeps the reason until the result is written.
    """
    path = (batch.task.benchmark, batch.task.capability, batch.task.id)
    _label(name, path)
    wrong = [verdict for verdict in verdicts if verdict.state == "judged" and not verdict.right]
    lines = _lines(wrong[0]) if len(verdicts) == 1 and wrong else ""
    missed.additions[name] = Addition(path=path, why=_reason(wrong, len(verdicts)), lines=lines)
    if len(verdicts) == 1:
        for verdict in wrong:
            _show_case(verdict)
        return
    for verdict in wrong[:_SHOWN]:
        with allure.step(f"missed: {verdict.case.id}"):
            _show_case(verdict)


def show_search(name: str, batch: Batch, search: Search, missed: Missed) -> None:
    """Label the running test, and show what its search found: the images, texts and replies before and after.

    Args:
        name: the name of the test's case.
        batch: the batch of this one case.
        search: the search.
        missed: keeps the reason until the result is written.
    """
    path = (batch.task.benchmark, "shrink", batch.task.id)
    _label(name, path)
    missed.additions[name] = Addition(path=path, why=says(search) if search.find else "", lines="")
    allure.dynamic.description(says(search))
    if search.find is not None:
        for title, verdict in (("unchanged", search.original), ("changed", search.find.verdict)):
            with allure.step(title):
                _show_case(verdict)


def show_gates(decisions: Iterable[Decision]) -> None:
    """Write one result per gate."""
    for decision in decisions:
        gate, now = decision.gate, int(time() * 1000)
        name = f"thresholds.toml::{gate.id}"
        labels = {
            "epic": "gates",
            "feature": decision.outcome,
            "story": gate.task,
            "parentSuite": "gates (thresholds.toml)",
            "suite": decision.outcome,
            "subSuite": gate.task,
            "severity": "blocker",
            "framework": "pytest",
        }
        key = md5(name.encode(), usedforsecurity=False).hexdigest()
        result = TestResult(
            uuid=str(uuid4()),
            name=name,
            fullName=name,
            historyId=key,
            testCaseId=key,
            status=_GATES[decision.outcome],
            statusDetails=StatusDetails(message=f"{decision.outcome}: {decision.why}"),
            description="\n\n".join(filter(None, (_judged(decision), gate.why))),
            titlePath=["gates (thresholds.toml)", decision.outcome, gate.task],
            labels=[Label(name=label, value=value) for label, value in labels.items()],
            start=now,
            stop=now,
        )
        allure_commons.plugin_manager.hook.report_result(result=result)


def environment(run: RunResult, model: ModelCard) -> str:
    """Return ``environment.properties``, which Allure shows beside its overview: the model, and a line per figure."""
    lines = [f"model = {model.name}:{model.weights}" if model.weights else f"model = {model.name}"]
    for row in rows(run):
        cell = dict(zip(HEADINGS, row.cells, strict=True))
        gate = f", {cell['threshold']}: {cell['decision']}" if row.outcome is not None else ", no gate"
        lines.append(f"{cell['task']}.{cell['metric']} = {cell['value']} ({cell['interval']}), n = {cell['n']}{gate}")
    # The format is Java's: Latin-1, with a backslash before what would end the line or begin an escape.
    return "".join(f"{line}\n" for line in lines).replace("\\", "\\\\")


def _judged(decision: Decision) -> str:
    """Say what a gate judged: the value, the interval and the threshold, which are in its reason, and the cases."""
    n = "" if decision.metric is None else f", n = {decision.metric.n}"
    return f"{decision.outcome}: {decision.why}{n}"


def _label(name: str, path: tuple[str, str, str]) -> None:
    """Set the title and labels of the running test, without which Allure's tree would show Python files."""
    allure.dynamic.title(name)
    labels = (
        (allure.dynamic.epic, allure.dynamic.parent_suite),
        (allure.dynamic.feature, allure.dynamic.suite),
        (allure.dynamic.story, allure.dynamic.sub_suite),
    )
    for pair, value in zip(labels, path, strict=True):
        for label in pair:
            label(value)


def _reason(wrong: Sequence[Verdict], n: int) -> str:
    if not wrong:
        return ""
    if n == 1:
        return f"missed: {wrong[0].why}"
    left = f"; the first {_SHOWN} are shown, all are in cases.parquet" if len(wrong) > _SHOWN else ""
    return f"missed {len(wrong)} of {n} cases{left}"


def _show_case(verdict: Verdict) -> None:
    for image in dict.fromkeys(p.request.image for p in verdict.predictions if isinstance(p.request, Match | Ask)):
        _attach_image(image)
    allure.attach(f"{_lines(verdict)}\n\n{verdict.why}", "texts and replies", AttachmentType.TEXT)


def _lines(verdict: Verdict) -> str:
    return "\n".join(
        _line(reply, truth, several=len(verdict.predictions) > 2)
        for reply, truth in zip(verdict.predictions, verdict.case.truths, strict=True)
    )


def _line(reply: Prediction, truth: bool | str, *, several: bool) -> str:
    request = reply.request
    if isinstance(request, Ask):
        return f"{request.question}\n    answered {reply.answer!r}, right is {truth!r}"
    image = f"{request.image.key}  " if several and isinstance(request, Match) else ""
    score = "-" if reply.score is None else f"{reply.score:.6g}"
    return f"{'true ' if truth else 'false'}  {score:>12}  {image}{request.text}"


def _attach_image(image: LazyImage) -> None:
    try:
        shown = image.load()
    except ImageError as error:
        allure.attach(str(error), image.key, AttachmentType.TEXT)
        return
    shown.thumbnail((_SIDE, _SIDE))
    data = BytesIO()
    shown.save(data, "PNG" if max(shown.size) <= _SIDE // 2 else "JPEG", quality=85)
    kind = AttachmentType.PNG if max(shown.size) <= _SIDE // 2 else AttachmentType.JPG
    allure.attach(data.getvalue(), image.key, kind)
