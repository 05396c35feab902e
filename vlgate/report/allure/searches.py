"""The results of searches for smallest changes: a case as it was, and as a change broke it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vlgate.report.allure.pages import case
from vlgate.report.allure.pictures import Pictures, images_of
from vlgate.report.allure.results import Attachment, Moment, Result, Status
from vlgate.shrink.record import says
from vlgate.types import Batch

if TYPE_CHECKING:
    from vlgate.shrink.search import Search

_STATUS: dict[str, Status] = {"broken": "failed", "unscored": "broken", "skipped": "skipped"}


def search_result(name: str, batch: Batch, search: Search, at: Moment) -> Result:
    """Return the result of a search; a case that a small change breaks is a failure of the model.

    Args:
        name: the name of the test's case.
        batch: the batch of this one case.
        search: the search.
        at: when the test ran.
    """
    task, pictures = batch.task, Pictures()
    found = search.find
    page = case(search.original, task.shape, pictures if found is not None else None)
    attachments: tuple[Attachment, ...] = ()
    if found is not None:
        page = f"<h3>unchanged</h3>{page}<h3>changed</h3>{case(found.verdict, task.shape, pictures)}"
        before, after = images_of(search.original), images_of(found.verdict)
        attachments = tuple(
            one for pair in zip(before, after, strict=False) if pair[0] != pair[1] for one in pictures.attached(pair)
        )
    return Result(
        id=name,
        name=name,
        layer="case",
        path=(task.benchmark, "shrink", task.id),
        status=_STATUS.get(search.ending, "passed"),
        at=at,
        message=says(search),
        page=page,
        tags=("shrink",),
        attachments=attachments,
    )
