"""Allure: epic benchmark, feature capability, story table; a missed case with its pictures, texts and scores.

This is the one module that imports allure.
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

from vlgate.errors import PictureError
from vlgate.shrink.record import says
from vlgate.types import Ask, Batch, Decision, Match, Picture, Prediction, Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_SHOWN = 8  # missed cases of one batch that are shown with their pictures
_SIDE = 640  # pixels of a shown picture's longer side
_GATES = {"pass": Status.PASSED, "fail": Status.FAILED, "inconclusive": Status.FAILED, "not run": Status.SKIPPED}
CATEGORIES = [
    {"name": "Missed cases: the model was wrong", "matchedStatuses": ["unknown"], "messageRegex": "missed.*"},
    {"name": "Broken cases: a small change made it wrong", "matchedStatuses": ["unknown"], "messageRegex": "broken.*"},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """What a result gets before it is written: its place in the tree, and for a missed case why, with the replies."""

    path: tuple[str, ...]
    why: str
    lines: str


class Missed:
    """Gives a missed case the status "unknown" in Allure, which has none for a result that is no failure."""

    def __init__(self) -> None:
        self.mendings: dict[str, Mending] = {}

    @allure_commons.hookimpl(tryfirst=True)
    def report_result(self, result: TestResult) -> None:
        """Mend a result just before it is written: its status, its parameter and its history."""
        mending = self.mendings.pop(result.name, None)
        if mending is None:
            return
        result.titlePath = list(mending.path)
        result.parameters = [Parameter(name="cases", value=result.name)]
        result.historyId = md5(result.name.encode(), usedforsecurity=False).hexdigest()
        if mending.why and result.status == Status.PASSED:
            result.status, result.statusDetails = Status.UNKNOWN, StatusDetails(message=mending.why)
            result.description = mending.why + (f"\n\n```\n{mending.lines}\n```" if mending.lines else "")


def show(name: str, batch: Batch, verdicts: Sequence[Verdict], missed: Missed) -> None:
    """Label the running test, and show its missed cases.

    Args:
        name: of the batch.
        batch: what was asked.
        verdicts: what came out; empty where the test failed before.
        missed: takes the reason, for when the result is written.
    """
    path = (batch.table.benchmark, batch.table.capability, batch.table.id)
    _label(name, path)
    wrong = [verdict for verdict in verdicts if verdict.state == "judged" and not verdict.right]
    lines = _lines(wrong[0]) if len(verdicts) == 1 and wrong else ""
    missed.mendings[name] = Mending(path=path, why=_reason(wrong, len(verdicts)), lines=lines)
    if len(verdicts) == 1:
        for verdict in wrong:
            _show_case(verdict)
        return
    for verdict in wrong[:_SHOWN]:
        with allure.step(f"missed: {verdict.case.id}"):
            _show_case(verdict)


def show_search(name: str, batch: Batch, search: Search, missed: Missed) -> None:
    """Label the running test, and show what its search found: the pictures, texts and replies before and after.

    Args:
        name: of the test's case.
        batch: of this one case.
        search: what came out.
        missed: takes the reason, for when the result is written.
    """
    path = (batch.table.benchmark, "shrink", batch.table.id)
    _label(name, path)
    missed.mendings[name] = Mending(path=path, why=says(search) if search.find else "", lines="")
    allure.dynamic.description(says(search))
    if search.find is not None:
        for title, verdict in (("as it stands", search.original), ("changed", search.find.verdict)):
            with allure.step(title):
                _show_case(verdict)


def show_gates(decisions: Iterable[Decision]) -> None:
    """Write a result for each gate."""
    for decision in decisions:
        gate, now = decision.gate, int(time() * 1000)
        name = f"thresholds.toml::{gate.id}"
        labels = {
            "epic": "gates",
            "feature": decision.outcome,
            "story": gate.table,
            "parentSuite": "gates (thresholds.toml)",
            "suite": decision.outcome,
            "subSuite": gate.table,
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
            description=gate.why or None,
            titlePath=["gates (thresholds.toml)", decision.outcome, gate.table],
            labels=[Label(name=label, value=value) for label, value in labels.items()],
            start=now,
            stop=now,
        )
        allure_commons.plugin_manager.hook.report_result(result=result)


def _label(name: str, path: tuple[str, str, str]) -> None:
    """Allure's tree shows the suites, or the title's path; without these it would show Python files."""
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
    for picture in dict.fromkeys(p.request.picture for p in verdict.predictions if isinstance(p.request, Match | Ask)):
        _attach_picture(picture)
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
    picture = f"{request.picture.key}  " if several and isinstance(request, Match) else ""
    score = "-" if reply.score is None else f"{reply.score:.6g}"
    return f"{'true ' if truth else 'false'}  {score:>12}  {picture}{request.text}"


def _attach_picture(picture: Picture) -> None:
    try:
        image = picture.image()
    except PictureError as error:
        allure.attach(str(error), picture.key, AttachmentType.TEXT)
        return
    image.thumbnail((_SIDE, _SIDE))
    data = BytesIO()
    image.save(data, "PNG" if max(image.size) <= _SIDE // 2 else "JPEG", quality=85)
    kind = AttachmentType.PNG if max(image.size) <= _SIDE // 2 else AttachmentType.JPG
    allure.attach(data.getvalue(), picture.key, kind)
