"""Allure results of cases, each one or a sample of the missed ones, and of searches for smallest changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vlgate.metrics.shapes import SHAPES
from vlgate.probes.shrink.record import says
from vlgate.record.parquet import case_table
from vlgate.record.results import RunResult, TaskResult
from vlgate.report.allure.pages import Pictures, case, images_of, text
from vlgate.report.allure.results import Attachment, Moment, Result, Status
from vlgate.report.page.rows import chosen, margins_of, missed_rows
from vlgate.report.rows import HEADINGS, coverage_line, rows
from vlgate.types import Batch, Verdict

if TYPE_CHECKING:
    from vlgate.probes.shrink.search import Search

MOST_CASES = 5000  # the most cases of a run that all have a result of their own
MOST_PICTURED = 1000  # the most missed cases that are shown with their images: a photograph takes about 15 ms
SAMPLE = 8  # the most missed cases of a task that have a result of their own if not all cases have one

Moments = Mapping[tuple[str, str], Moment]  # when a case was asked, by the ids of its task and of the case


# If the run has more than ``MOST_CASES`` cases, there is a result for each task, and for a sample of its missed cases:
# the worst two, then a seeded sample. The images of at most ``MOST_PICTURED`` missed cases are shown.
def case_results(run: RunResult, moments: Moments, start: int) -> Iterator[Result]:
    all_shown = sum(len(result.verdicts) for result in run.results) <= MOST_CASES
    missed = sum(_missed(verdict) for result in run.results for verdict in result.verdicts)
    room = missed if missed <= MOST_PICTURED else max(SAMPLE, MOST_PICTURED // len(run.results))
    never = Moment(start=start, stop=start)
    for result in run.results:
        table = case_table(result.task, result.verdicts)
        rows_missed = missed_rows(table)
        margin = margins_of(SHAPES[result.task.shape].headline, table, rows_missed)
        places = chosen(margin, room if all_shown else SAMPLE, f"allure:{result.task.id}")
        worst = {int(rows_missed[place]) for place in places}
        asked = [moments.get((result.task.id, verdict.case.id), never) for verdict in result.verdicts]
        if not all_shown:
            yield _of_task(run, result, asked)
        pictures = Pictures()
        for index, (verdict, at) in enumerate(zip(result.verdicts, asked, strict=True)):
            if all_shown or index in worst:
                yield _of_case(result, verdict, at, pictures if index in worst else None)


def status_of(verdict: Verdict) -> Status:
    if verdict.state != "judged":
        return "broken" if verdict.state == "unscored" else "skipped"
    return "passed" if verdict.right else "failed"


def _of_case(result: TaskResult, verdict: Verdict, at: Moment, pictures: Pictures | None) -> Result:
    task, missed = result.task, _missed(verdict)
    page = case(verdict, task.shape, pictures)
    if missed and pictures is None:
        page += f"<p>More than {MOST_PICTURED:,} cases are missed, so the images of this one are left out.</p>"
    return Result(
        id=f"{task.id}:{verdict.case.id}",
        layer="case",
        path=(task.benchmark, task.capability, task.id),
        status=status_of(verdict),
        at=at,
        message=f"missed: {verdict.why}" if missed else "" if verdict.state == "judged" else verdict.why,
        page=page,
        tags=(task.capability, *(f"{tag}={value}" for tag, value in sorted(verdict.case.tags.items()))),
        attachments=pictures.attached(images_of(verdict)) if missed and pictures is not None else (),
    )


def _of_task(run: RunResult, result: TaskResult, at: Sequence[Moment]) -> Result:
    task, statuses = result.task, [status_of(verdict) for verdict in result.verdicts]
    found: Sequence[Status] = ("broken", "failed", "passed", "skipped")
    missed, unscored = statuses.count("failed"), statuses.count("broken")
    said = [f"missed: {missed:,} of {len(statuses):,} cases"] if missed else []
    said += [f"{unscored:,} of {len(statuses):,} cases could not be scored"] if unscored else []
    row = next(row for row in rows(run) if row.cells[1] == task.id)
    note = coverage_line(result)
    shown = f"<p>The worst of its missed cases, and a sample of the others, at most {SAMPLE}, are beside it.</p>"
    return Result(
        id=task.id,
        name=f"{task.id}: all cases",
        layer="task",
        path=(task.benchmark, task.capability, task.id),
        status=next((status for status in found if status in statuses), "skipped"),
        at=Moment(start=min(one.start for one in at), stop=max(one.stop for one in at)),
        message="; ".join(said),
        page=(shown if missed else "") + (f"<p>{text(note)}</p>" if note else ""),
        parameters=dict(zip(HEADINGS[2:8], row.cells[2:8], strict=True)),
        tags=(task.capability,),
    )


def _missed(verdict: Verdict) -> bool:
    return verdict.state == "judged" and not verdict.right


_STATUS: dict[str, Status] = {"broken": "failed", "unscored": "broken", "skipped": "skipped"}


def search_result(name: str, batch: Batch, search: Search, at: Moment) -> Result:
    task, pictures = batch.task, Pictures()
    found = search.find
    page = case(search.original, task.shape, pictures if found is not None else None)
    attachments: tuple[Attachment, ...] = ()
    if found is not None:
        page = f"<h3>unchanged</h3>{page}<h3>changed</h3>{case(found.verdict, task.shape, pictures)}"
        before, after = images_of(search.original), images_of(found.verdict)
        changed = (pair for pair in zip(before, after, strict=False) if pair[0] != pair[1])
        attachments = tuple(one for pair in changed for one in pictures.attached(pair))
    path, status = (task.benchmark, "shrink", task.id), _STATUS.get(search.ending, "passed")
    shown = Result(id=name, layer="case", path=path, status=status, at=at, message=says(search), page=page)
    return replace(shown, tags=("shrink",), attachments=attachments)
