"""What the terminal shows at the end of a run: the decision, what the model can do, the table, and remarks."""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.asking.cache.folder import shown_size
from vlgate.errors import printable
from vlgate.record.comparison import comparison_lines
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options
from vlgate.record.results import RunResult
from vlgate.report.abilities import ability_lines
from vlgate.report.ci.release import Release, not_passed_lines, release_line
from vlgate.report.remarks import average_lines, error_rate_lines, fatal_lines, shortcut_lines, variant_lines
from vlgate.report.rows import HEADINGS, coverage_lines, outcome_lines, result_table, unit_line, warning_lines
from vlgate.report.table import printed

REASONS = 8  # the most reasons of gates that did not pass; the table and the results folder have all
SCREEN = 24  # the lines of a small terminal: if more are printed, the decision is repeated at the end
_STYLES = {
    "PASS": "bold green",
    **dict.fromkeys(("FAIL", "BROKEN", "INCOMPLETE", "fail", "newly broken"), "bold red"),
    **dict.fromkeys(("INCONCLUSIVE", "NOT GATED", "inconclusive", "flaw of the data", "suspect"), "bold yellow"),
    **dict.fromkeys(("pass", "can"), "green"),
    "unknown": "yellow",
    "cannot": "magenta",
    "not run": "dim",
}
# the columns that a narrow terminal has no room for; the lines above the table have most of them
_LEFT_OUT_FIRST = ("capability", "blind", "n", "interval", "chance", "metric")


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What text is written to: its width in characters, None for a log without one, and whether it shows colours."""

    width: int | None = None
    colour: bool = False


def closing_text(run: RunResult, found: Release, model: str, status: int, screen: Screen) -> str:
    decision = release_line(found, model, status)
    reasons = not_passed_lines(run)
    more = [f"and {len(reasons) - REASONS} more reasons in summary.md"] if len(reasons) > REASONS else []
    compared = [] if run.comparison is None else comparison_lines(run.comparison)
    counts = [unit_line(run)] if run.results else []
    remarks = [line for say in (fatal_lines, shortcut_lines, warning_lines, coverage_lines) for line in say(run)]
    remarks += [*outcome_lines(run.decisions, "not run"), *average_lines(run), *variant_lines(run)]
    remarks += [*error_rate_lines(run.error_rates), *run.notes]
    parts = [
        _styled([decision, *reasons[:REASONS], *more, *counts, *compared], screen),
        _styled(ability_lines(run, screen.width) if run.results else [], screen),
        terminal_table(run, screen) if run.results else "",
        _styled(remarks, screen),
    ]
    text = "\n\n".join(filter(None, parts))
    return f"{text}\n\n{_styled([decision], screen)}" if text.count("\n") > SCREEN else text


def terminal_table(run: RunResult, screen: Screen) -> str:
    table = result_table(run)
    if not table.rows:
        return ""
    kept = list(HEADINGS)
    for heading in _LEFT_OUT_FIRST:
        if screen.width is not None and table.columns(kept).width() > screen.width:
            kept.remove(heading)
    lines = table.columns(kept).text(_STYLES if screen.colour else None)
    if left_out := [heading for heading in HEADINGS if heading not in kept]:
        lines.append(f"(in summary.md only: {', '.join(left_out)})")
    return "\n".join(lines)


def cache_lines(cache: CacheUse, limit: int) -> list[str]:
    lines = []
    if cache.cached:
        left = "" if cache.loaded else ", which was not loaded"
        lines.append(f"{cache.cached:,} replies from {cache.place}, {cache.asked:,} asked of the model{left}")
    elif cache.kept:
        lines.append(f"{cache.kept:,} replies kept in {cache.place}")
    if cache.evicted:
        removed = f"{cache.evicted:,} of the oldest replies made room for new ones"
        lines.append(f"{removed}, because it may take {shown_size(limit)}; a larger --cache-limit keeps them")
    return [f"cache: {line}" for line in (*lines, *cache.notes)]


def results_line(options: Options) -> str:
    named = options.thresholds is not None
    gates = f"gates from {options.thresholds}" if named else "no thresholds file: nothing is gated"
    return f"{gates}; results in {options.results}"


def _styled(lines: list[str], screen: Screen) -> str:
    # The lines, each with its first word in the colour of what it says; a decision is coloured as a whole
    from rich.text import Text

    parts: list[object] = []
    for line in map(printable, lines):
        text = Text(line)
        word = next((word for word in _STYLES if line.startswith((f"{word}:", f"{word} "))), None)
        if word is not None:
            text.stylize(_STYLES[word], 0, len(line) if word.isupper() else len(word))
        parts.append(text)
    return "\n".join(printed(parts, colour=screen.colour))
