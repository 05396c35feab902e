"""The results of a run as a whole and of its gates, which decide about a release."""

from __future__ import annotations

from collections.abc import Iterator

from vlgate.gates.records import Decision, Outcome
from vlgate.recorded.folder import titled
from vlgate.report.abilities import abilities
from vlgate.report.allure.pages import table, text
from vlgate.report.allure.results import Attachment, Moment, Result, Status
from vlgate.report.rows import HEADINGS, rows, unit_line
from vlgate.report.summary import headline
from vlgate.run.model_card import ModelCard
from vlgate.run.results import RunResult
from vlgate.run.verdict import Word, outcome_of

GATES = "(gates) thresholds.toml"
"""The folder of the gates in a report; it begins with a bracket, because Allure 2 sorts folders by name."""
STATUS: dict[Outcome, Status] = {
    "pass": "passed",
    "cannot": "skipped",
    "fail": "failed",
    "inconclusive": "failed",
    "not run": "skipped",
}
_ENDED: dict[Word, Status] = {"pass": "passed", "not gated": "skipped"}
_MOST_PAGES = 3  # the most gates that do not pass and have a copy of the page: it may be 15 MB
_KEPT = ("value", "interval", "n", "threshold", "chance", "blind")


def run_result(run: RunResult, model: ModelCard, at: Moment, attached: tuple[Attachment, ...]) -> Result:
    """Return the result of a whole run: its table, and the page as an attachment.

    It passes if the run does, so a report without it, or in which it did not pass, is that of a run that may not ship.
    """
    return Result(
        id="vlgate: the run",
        name=f"results of {titled(model.name, model.weights)}",
        layer="run",
        path=(GATES, "all gates"),
        status=_ENDED.get(outcome_of(run, model).verdict, "failed"),
        at=at,
        message=f"{headline(run, model)}; {unit_line(run)}",
        page=table(run, model),
        severity="blocker",
        attachments=attached,
    )


def gate_results(run: RunResult, at: Moment, attached: tuple[Attachment, ...]) -> Iterator[Result]:
    """Yield the result of each gate; the first ones that do not pass have the page of the run as an attachment."""
    words = {one.task: f"{one.word}: {one.figures}. {one.question}" for one in abilities(run)}
    pages = 0
    for decision in run.decisions:
        gate, stopping = decision.gate, STATUS[decision.outcome] == "failed"
        pages += stopping
        said = [f"{decision.outcome}: {decision.why}", gate.why, words.get(gate.task, "")]
        yield Result(
            id=f"thresholds.toml::{gate.id}",
            name=f"thresholds.toml::{gate.id}",
            layer="gate",
            path=(GATES, decision.outcome, gate.task),
            status=STATUS[decision.outcome],
            at=at,
            message=said[0],
            page="".join(f"<p>{text(line)}</p>" for line in said if line),
            severity="blocker",
            parameters=judged(run, decision),
            attachments=attached if stopping and pages <= _MOST_PAGES else (),
        )


def judged(run: RunResult, decision: Decision) -> dict[str, str]:
    """Return what a gate judged, by name: the cells of its row in the table; empty if there was nothing to judge."""
    gate = decision.gate
    cells = next((dict(zip(HEADINGS, row.cells, strict=True)) for row in rows(run) if row.gate == gate.id), {})
    confidence = {"interval": f"interval ({100 * gate.confidence:g} %)"}
    return {confidence.get(name, name): cells[name] for name in _KEPT if name in cells}
