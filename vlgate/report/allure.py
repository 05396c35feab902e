"""Results for Allure: missed cases with their images, texts and scores, by benchmark, capability and task.

No other module imports allure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from time import time
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import allure
import allure_commons
from allure_commons.model2 import Label, Parameter, Status, StatusDetails, TestResult, TestResultContainer
from allure_commons.types import AttachmentType

from vlgate.errors import ImageError
from vlgate.gates.records import Decision
from vlgate.recorded.folder import titled
from vlgate.report import allure_pages as pages
from vlgate.report.rows import HEADINGS, rows, unit_line
from vlgate.report.summary import headline
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.shrink.record import says
from vlgate.types import Batch, LazyImage, Verdict

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_SHOWN = 8  # the most missed cases of one batch that are shown with their images
_SIDE = 640  # the most pixels of the longer side of a shown image
_UNCHANGED = "unchanged"
_GATES = {
    "pass": Status.PASSED,
    "cannot": Status.SKIPPED,
    "fail": Status.FAILED,
    "inconclusive": Status.FAILED,
    "not run": Status.SKIPPED,
}
_OURS = frozenset({"batch", "ledger", "model", "search", "subject"})  # fixtures, which have nothing to tear down


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """What is added to a result before it is written: its path in the tree and, for a miss, why and its page."""

    path: tuple[str, ...]
    why: str
    page: str


class Missed:
    """Gives a missed case the status "broken" in Allure, so that the share of green is the share of right cases.

    "failed" is left for gates and errors, which end a run with status 1; "unknown" would be left out of the share.
    """

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
            result.status, result.statusDetails = Status.BROKEN, StatusDetails(message=addition.why)
            result.description = None
            result.descriptionHtml = addition.page
            for step in result.steps:
                if step.name != _UNCHANGED:
                    step.status = Status.BROKEN

    @allure_commons.hookimpl(tryfirst=True)
    def report_container(self, container: TestResultContainer) -> None:
        """Leave out pytest's own clean-up of our fixtures, which Allure would list as a tear-down of each case."""
        container.afters = [after for after in container.afters if after.name.partition("::")[0] not in _OURS]


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
    why = _reason(wrong, len(verdicts))
    missed.additions[name] = Addition(path=path, why=why, page=pages.cases(wrong[:_SHOWN], why) if wrong else "")
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
    allure.dynamic.description(says(search))
    if search.find is None:
        missed.additions[name] = Addition(path=path, why="", page="")
    else:
        both = (search.original, search.find.verdict)
        missed.additions[name] = Addition(path=path, why=says(search), page=pages.cases(both, says(search)))
        for title, verdict in zip((_UNCHANGED, "changed"), both, strict=True):
            with allure.step(title):
                _show_case(verdict)


def show_run(run: RunResult, model: ModelCard) -> None:
    """Write one result with the table of the run, and one per gate."""
    page = pages.table(run, model)
    outcome = Status.PASSED if run.passed and not run.incomplete else Status.FAILED
    said = StatusDetails(message=f"{headline(run)}; {unit_line(run)}")
    name = f"results of {titled(model.name, model.weights)}"
    _write(name, ("results",), status=outcome, statusDetails=said, descriptionHtml=page)
    for decision in run.decisions:
        gate = decision.gate
        _write(
            f"thresholds.toml::{gate.id}",
            ("gates (thresholds.toml)", decision.outcome, gate.task),
            status=_GATES[decision.outcome],
            statusDetails=StatusDetails(message=f"{decision.outcome}: {decision.why}"),
            description="\n\n".join(filter(None, (f"{decision.outcome}: {decision.why}", gate.why))),
            parameters=[Parameter(name=name, value=value) for name, value in _judged(run, decision).items()],
        )


def _write(name: str, path: tuple[str, ...], **fields: Any) -> None:
    now = int(time() * 1000)
    kinds = (("epic", "parentSuite"), ("feature", "suite"), ("story", "subSuite"))
    labels = {kind: part for pair, part in zip(kinds, path, strict=False) for kind in pair}
    labels |= {"severity": "blocker", "framework": "pytest"}
    key = md5(name.encode(), usedforsecurity=False).hexdigest()
    result = TestResult(
        uuid=str(uuid4()),
        name=name,
        fullName=name,
        historyId=key,
        testCaseId=key,
        titlePath=list(path),
        labels=[Label(name=label, value=value) for label, value in labels.items()],
        start=now,
        stop=now,
        **fields,
    )
    allure_commons.plugin_manager.hook.report_result(result=result)


def _judged(run: RunResult, decision: Decision) -> dict[str, str]:
    """What a gate judged, by name: the cells of its row in the table; empty if there was nothing to judge."""
    gate = decision.gate
    cells = next((dict(zip(HEADINGS, row.cells, strict=True)) for row in rows(run) if row.gate == gate.id), {})
    confidence = {"interval": f"interval ({100 * gate.confidence:g} %)"}
    kept = ("value", "interval", "n", "chance", "blind", "threshold")
    return {confidence.get(name, name): cells[name] for name in kept if name in cells}


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
    for image in pages.images_of(verdict):
        _attach_image(image)
    allure.attach(f"{pages.lines(verdict)}\n\n{verdict.why}", "texts and replies", AttachmentType.TEXT)


def _attach_image(image: LazyImage) -> None:
    try:
        data, kind = pages.encoded(image.load(), _SIDE)
    except ImageError as error:
        allure.attach(str(error), image.key, AttachmentType.TEXT)
        return
    allure.attach(data, image.key, AttachmentType.PNG if kind == "png" else AttachmentType.JPG)
