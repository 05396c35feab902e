"""Write the files of a run that was joined from its parts, and say how it ended."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from vlgate.record.folder import ENVIRONMENT, RecordedPart
from vlgate.record.json_files import environment_content
from vlgate.record.results import EndedRun
from vlgate.record.results_folder import take_folder
from vlgate.record.verdict import outcome_of
from vlgate.record.whole_file import write_whole
from vlgate.report.ci.release import append_summary, release
from vlgate.report.ci.trackers import check_trackers, log_to
from vlgate.report.folder import recorded_run, saved, write_figures, write_rows
from vlgate.report.terminal import Screen, closing_text, results_line
from vlgate.studies.analyses.saved import analysed


def write_joined(joined: EndedRun, parts: Sequence[RecordedPart], job_page: str) -> tuple[EndedRun, list[str]]:
    options = joined.options
    check_trackers(options.log_to)
    release_folder = take_folder(options)
    try:
        lost = write_rows(joined.result, options)
        result = replace(joined.result, incomplete="; ".join(lost))
        said = analysed(recorded_run(result, joined.card, options, joined.workers)) if not lost else []
        problems = write_figures(result, joined.card, options, joined.workers, joined.tasks)
        problems += saved(lambda: _write_environment(joined, parts))
        result = replace(result, incomplete="; ".join(dict.fromkeys([*lost, *problems])))
        said += [append_summary(options.results / "summary.md", job_page)]
        said += log_to(options.log_to, result, joined.card, options)
    finally:
        release_folder()
    return replace(joined, result=result), [line for line in said if line]


def status_of(joined: EndedRun) -> int:
    """Return the exit status: 0, or 1 if the run does not pass."""
    return int(outcome_of(joined.result, joined.card).status > 0)


def closing_lines(joined: EndedRun, model: str, problems: Sequence[str]) -> Iterator[str]:
    """Yield what the run prints at its end, as a session of pytest does."""
    found = release(joined.result, joined.card)
    yield closing_text(joined.result, found, model, status_of(joined), Screen())
    yield results_line(joined.options)
    yield from problems


def _write_environment(joined: EndedRun, parts: Sequence[RecordedPart]) -> None:
    content = environment_content(joined.options, joined.workers, joined.card.cache)
    told = {str(part.number): part.content["environment"] for part in parts}
    write_whole(joined.options.results / ENVIRONMENT, json.dumps({**content, "parts": told}, indent=1) + "\n")
