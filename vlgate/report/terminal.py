"""What the terminal shows at the end of a run: the decision, what the model can do, the table, and remarks."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from vlgate.asking.cache.folder import shown_size
from vlgate.errors import printable, program
from vlgate.record.comparison import comparison_lines
from vlgate.record.folder import BLESSED
from vlgate.record.json_files import gate_record
from vlgate.record.model_card import CacheUse
from vlgate.record.options import Options
from vlgate.record.results import RunResult
from vlgate.report.abilities import WORDS, abilities, ability_lines
from vlgate.report.ci.release import Release, next_step, release_line
from vlgate.report.remarks import average_lines, error_rate_lines, fatal_lines, shortcut_lines, variant_lines
from vlgate.report.rows import (
    HEADINGS,
    NOT_PASSED,
    NUMBERS,
    ResultRow,
    coverage_lines,
    outcome_lines,
    rows,
    unit_line,
    warning_lines,
)
from vlgate.report.table import Table, printed

REASONS = 8  # the most reasons of gates that did not pass; summary.md has all
SCREEN = 24  # the lines of a small terminal: if more are printed, the decision is repeated at the end
_STYLES = {
    "PASS": "bold green",
    **dict.fromkeys(("FAIL", "BROKEN", "INCOMPLETE", "fail", "newly broken"), "bold red"),
    **dict.fromkeys(("INCONCLUSIVE", "NOT GATED", "inconclusive", "flaw of the data", "suspect"), "bold yellow"),
    **dict.fromkeys(("pass", "strong"), "green"),
    "unclear": "yellow",
    **dict.fromkeys(("weak", "cannot"), "magenta"),
    "not run": "dim",
}
_COLUMNS = ("decision", "task", "metric", "value", "interval", "n", "threshold", "chance", "blind", "ability")
_LEFT_OUT_FIRST = ("chance", "metric", "blind", "ability")  # the columns that a narrow terminal has no room for


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """What text is written to: its width in characters, None for a log without one, its colours, and -v."""

    width: int | None = None
    colour: bool = False
    verbose: bool = False


def closing_text(run: RunResult, found: Release, model: str, status: int, screen: Screen) -> str:
    decision = release_line(found, model, status)
    elsewhere = {row.gate for row in rows(run)}
    reasons = [line for one in NOT_PASSED for line in outcome_lines(run.decisions, one, elsewhere)]
    more = [f"and {len(reasons) - REASONS} more reasons in summary.md"] if len(reasons) > REASONS else []
    compared = [] if run.comparison is None else comparison_lines(run.comparison)
    counts = [unit_line(run)] if run.results else []
    remarks = [line for say in (fatal_lines, shortcut_lines, warning_lines, coverage_lines) for line in say(run)]
    remarks += [*outcome_lines(run.decisions, "not run"), *average_lines(run), *variant_lines(run)]
    remarks += [*run.notes, *(error_rate_lines(run.error_rates) if screen.verbose else [])]
    parts = [
        _styled([decision, *reasons[:REASONS], *more, *counts, *compared], screen),
        terminal_table(run, screen) if run.results else "",
        _styled(ability_lines(run, screen.width) if run.results and screen.verbose else [], screen),
        _styled(remarks, screen),
    ]
    text = "\n\n".join(filter(None, parts))
    return f"{text}\n\n{_styled([decision], screen)}" if text.count("\n") > SCREEN else text


def terminal_table(run: RunResult, screen: Screen) -> str:
    """Return a line for each gate and each task without one, those that did not pass first, with their reasons."""
    able = {one.task: one for one in abilities(run)}
    words: dict[str, str] = {task: one.word for task, one in able.items()}
    order: list[str] = [*NOT_PASSED, *WORDS]

    def place(row: ResultRow) -> int:
        stopped = row.outcome if row.outcome in NOT_PASSED else None
        return order.index(stopped or words.get(row.cells[1], "unclear"))

    found = sorted(rows(run), key=place)
    headings, cells = (*HEADINGS, "ability"), [(*row.cells, words.get(row.cells[1], "-")) for row in found]
    outcomes = [row.outcome or words.get(row.cells[1], "") for row in found]
    table = Table(headings=headings, rows=cells, numbers=NUMBERS, outcomes=outcomes)
    kept = list(_COLUMNS)
    for heading in _LEFT_OUT_FIRST:
        if screen.width is not None and table.columns(kept).width() > screen.width:
            kept.remove(heading)
    head, *lines = table.columns(kept).text(_STYLES if screen.colour else None)
    whys = {one.gate.id: _FIGURES.sub("", one.why) for one in run.decisions if one.outcome in NOT_PASSED}
    text, said = [head], {""}
    for row, line in zip(found, lines, strict=True):
        why = whys.get(row.gate, "") or (able[row.cells[1]].doubt if row.cells[1] in able else "")
        text += [line, *([f"  {printable(why)}"] if why not in said and len(said) <= REASONS else [])]
        said.add(why)
    if left_out := [heading for heading in _COLUMNS if heading not in kept]:
        text.append(f"(in summary.md only: {', '.join(left_out)})")
    if len(said) > REASONS + 1:
        text.append(f"and {len(said) - REASONS - 1} more reasons in summary.md")
    return "\n".join(text)


# what the columns say already, at the beginning of a reason
_FIGURES = re.compile(r"^\S+ is -?[\d.]+(?: \([^)]*\))?(?:, (?:below|above) (?:min|max) = [\d.]+$)?[:,;]? ?")


def place_lines(options: Options, found: Release, run: RunResult) -> list[str]:
    """Return the gates' file, the page, and what to do next."""
    named = options.thresholds is not None
    gates = f"gates from {options.thresholds}" if named else "no thresholds file: nothing is gated"
    page = (options.results / "report.html").resolve()
    tasks = {result.task.id for result in run.results}
    kept = options.baseline if run.comparison and (Path(options.baseline or "") / BLESSED).is_file() else ""
    place, old = (str(folder).removeprefix(f"{Path.cwd()}/") for folder in (options.results, kept))
    records, command = map(gate_record, run.decisions), program("vlgate")
    folders = {"run": shlex.quote(place), "baseline": old and shlex.quote(old)}
    step = next_step(found.verdict, records, tasks, **folders, vlgate=command)
    ends = [f"page: {page.as_uri()}"] if page.is_file() else []
    return [gates, *ends, *([f"next: {step}"] if step else [])]


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
