"""``summary.md``: the result table with its decisions, for a pull request or a release note."""

from __future__ import annotations

from pathlib import Path

from vlgate.model_card import ModelCard
from vlgate.options import Options
from vlgate.report.remarks import (
    average_lines,
    check_lines,
    flaw_lines,
    published_lines,
    shortcut_lines,
    variant_lines,
)
from vlgate.report.rows import HEADINGS, blind_line, coverage_line, rows
from vlgate.report.shrunk import shrunk_lines
from vlgate.results import RunResult


def write_summary(file: Path, result: RunResult, model: ModelCard, options: Options) -> None:
    """Write ``summary.md``."""
    file.write_text("\n".join(_lines(result, model, options)) + "\n", encoding="utf-8")


def _lines(result: RunResult, model: ModelCard, options: Options) -> list[str]:
    outcomes = [decision.outcome for decision in result.decisions]
    counts = ", ".join(
        f"{outcomes.count(outcome)} {outcome}"
        for outcome in ("pass", "fail", "inconclusive", "not run")
        if outcome in outcomes
    )
    name = f"{model.name}:{model.weights}" if model.weights else model.name
    lines = [
        f"# {name}: {_headline(result)}",
        "",
        f"Gates: {counts or 'none'}. Ties: {options.ties}. Seed: {options.seed}.",
        "Intervals are at 95 % unless a gate says otherwise; `blind` is the same metric of a text-only model.",
        "",
        _table_line(HEADINGS),
        _table_line(tuple("---" for _ in HEADINGS)),
        *(_table_line(row.cells) for row in rows(result)),
        "",
    ]
    lines += [f"- {line}" for table in result.tables if (line := coverage_line(table)) is not None]
    lines += [
        f"- **{decision.outcome}** `{decision.gate.id}`: {decision.why}"
        for decision in result.decisions
        if decision.outcome != "pass"
    ]
    lines += [f"- {line}" for decision in result.decisions if (line := blind_line(result, decision)) is not None]
    lines += [f"- {kind} requests: {way}" for kind, way in model.ways.items()]
    lines += [f"- {note}" for note in (*model.notes, *result.notes)]
    sections = {
        "Smallest changes that break the model": shrunk_lines(result.shrunk),
        "Checks of the model": check_lines(model),
        "Averages": average_lines(result),
        "Otherwise defined": variant_lines(result),
        "Solved without the picture": shortcut_lines(result),
        "Flaws of the data": flaw_lines(result),
        "Beside published figures": published_lines(result),
    }
    for title, found in sections.items():
        lines += ["", f"## {title}", "", *(f"- {line}" for line in found)] if found else []
    return lines


def _headline(result: RunResult) -> str:
    if not result.passed:
        return "gates do not pass"
    judged = any(decision.outcome == "pass" for decision in result.decisions)
    return "gates pass" if judged else "no gate was judged"


def _table_line(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
