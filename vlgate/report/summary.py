"""``summary.md``: the result table and the decisions, for a pull request or a release note."""

import re
from pathlib import Path

from vlgate.errors import printable
from vlgate.gates.records import OUTCOMES
from vlgate.record.comparison import comparison_lines
from vlgate.record.folder import titled
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.results import RunResult
from vlgate.record.verdict import outcome_of
from vlgate.record.whole_file import write_whole
from vlgate.report import remarks
from vlgate.report.abilities import HEADING, abilities
from vlgate.report.controls import markdown_lines, tables_of
from vlgate.report.explanations import explained_lines
from vlgate.report.rows import coverage_line, result_table, warning_lines
from vlgate.report.shrunk import shrunk_lines


def write_summary(file: Path, run: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``summary.md``; no text of a file or a model is HTML in it, an image, a link or a line of its own."""
    lines = (re.sub(r"<(?=[A-Za-z/!?])", "&lt;", printable(line)) for line in _lines(run, model, options))
    write_whole(file, "".join(line.replace("](", "]\\(") + "\n" for line in lines))


def _lines(run: RunResult, model: ModelCard, options: Options) -> list[str]:
    outcomes = [decision.outcome for decision in run.decisions]
    counts = ", ".join(f"{outcomes.count(outcome)} {outcome}" for outcome in OUTCOMES if outcome in outcomes)
    lines = [
        f"# {titled(model.name, model.weights)}: {headline(run, model)}",
        "",
        f"Gates: {counts or 'none'}. Ties: {options.ties}. Seed: {options.seed}.",
        "Intervals are at 95 % confidence unless a gate says otherwise; `chance` is what guessing",
        "reaches, `blind` is the metric of a text-only model.",
        "",
        *result_table(run).markdown(),
        "",
    ]
    lacking = (flaw.partition(": ") for flaw in outcome_of(run, model).lacking)
    lines += [f"- **{word}**: {why}" for word, _, why in lacking]
    lines += [f"- {line}" for result in run.results if (line := coverage_line(result)) is not None]
    stops = [decision for decision in run.decisions if decision.outcome != "pass"]
    lines += [f"- **{decision.outcome}** `{decision.gate.id}`: {decision.why}" for decision in stops]
    lines += [f"- {line}" for line in warning_lines(run)]
    lines += [f"- {kind} requests: {adapter}" for kind, adapter in model.adapters.items()]
    for note in (*model.notes, *run.notes):
        plain = re.sub(r"([\\`*_\[\]<>|#])", r"\\\1", printable(note)).replace("\\<", "&lt;").replace("\\>", "&gt;")
        lines.append(f"- {plain}")
    lines += ["", "## What the model can do", "", HEADING, ""] if run.results else []
    for ability in abilities(run):
        figures = f"- **{ability.word}** `{ability.task}`: {ability.figures}. {ability.question}"
        lines.append(" ".join((figures, *ability.limits)).rstrip())
    rates = remarks.error_rate_lines(run.error_rates)
    sections = {
        "Compared with an earlier run": [] if run.comparison is None else comparison_lines(run.comparison, None),
        "Error rates of the gates": [*rates, remarks.ASSUMED] if rates else [],
        "Smallest changes that break the model": shrunk_lines(run.shrunk),
        "Prior against image": remarks.prior_lines(run),
        "Why cases were missed": explained_lines(run.explained),
        "Answers that could not be read": remarks.unread_lines(run),
        "Checks of the model": [f"{check.name}: {check.outcome}: {check.why}" for check in model.checks],
        "Averages": remarks.average_lines(run),
        "Other definitions of metrics": remarks.variant_lines(run),
        "Solved without the image": remarks.shortcut_lines(run),
        "Flaws of the data": remarks.flaw_lines(run),
        "Published figures": remarks.published_lines(run),
    }
    for title, section in sections.items():
        lines += ["", f"## {title}", "", *(f"- {line}" for line in section)] if section else []
    for table in tables_of(run):
        lines += ["", f"## Control: {table.name}", "", *markdown_lines(table)]
    return lines


def headline(run: RunResult, model: ModelCard) -> str:
    outcome = outcome_of(run, model)
    if outcome.verdict == "incomplete":
        return "incomplete" if run.part is None else f"incomplete, {run.part}"
    if outcome.verdict in {"fail", "inconclusive"}:
        return "gates do not pass" if outcome.stopped else outcome.test_failed
    return {"broken": "broken", "pass": "gates pass", "not gated": "no gate was judged"}[outcome.verdict]
