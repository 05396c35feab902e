"""The missed cases of a finished run, the worst first, and one case in the terminal, with its images."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ImageError, OptionError, UnknownNameError
from vlgate.metrics.clusters import image_of
from vlgate.record.cases import CaseTable, case_tables, fact_names
from vlgate.record.folder import RecordedRun
from vlgate.report.difference import Piece
from vlgate.report.page.cards import UNKNOWN, Card, CardMaker, Line, Pictures
from vlgate.report.page.rows import TaskRows, margins_of, missed_rows
from vlgate.report.page.sections import headline_of
from vlgate.report.page.template import one_line
from vlgate.types import Case, LazyImage
from vlgate.types import images_of as of_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    """A missed case; ``margin`` is by how much, ``unread`` whether an answer of it could not be read."""

    case: str
    margin: float
    tags: Mapping[str, str]
    why: str
    unread: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOfTask:
    """The missed cases of a task, the worst first, with the counts of its cases, or of those in a slice."""

    task: str
    headline: str
    cases: int
    judged: int
    unscored: int
    skipped: int
    missed: tuple[Missed, ...]


def missed_cases(run: RecordedRun, pattern: str = "*", part: str = "") -> list[MissedOfTask]:
    """Return the missed cases by task: the task with the largest share of misses first.

    Args:
        run: the run.
        pattern: the tasks that are wanted.
        part: ``tag=value`` for the cases of one slice; empty for all cases.

    Raises: UnknownNameError if no task matches the pattern, or no case of these tasks is in the slice; OptionError if
        the slice has no ``=``.
    """
    wanted = [task for task in run.figures["tasks"] if fnmatchcase(task, pattern)]
    if not wanted:
        raise UnknownNameError("task in --task", pattern, run.figures["tasks"])
    if part and "=" not in part:
        raise OptionError(f"--slice {part}: has no =; write tag=value, as --slice provenance=zero_to_something")
    known = case_tables(run)
    tables = {task: _slice(known[task], part) if part else known[task] for task in wanted}
    if part and not any(map(len, tables.values())):
        raise UnknownNameError(
            "slice", part, {name for task in wanted for tags in known[task].tags for name in _slices(tags)}
        )
    found = [
        _of_task(task, headline_of(run.figures["tasks"][task]), table) for task, table in tables.items() if len(table)
    ]
    return sorted(found, key=lambda one: -len(one.missed) / max(1, one.judged))


def _slice(table: CaseTable, part: str) -> CaseTable:
    return table.take([row for row, tags in enumerate(table.tags) if part in _slices(tags)])


def _slices(tags: Mapping[str, str]) -> Iterator[str]:
    return (f"{tag}={value}" for tag, value in tags.items())


def _of_task(task: str, headline: str, table: CaseTable) -> MissedOfTask:
    missed = table.take(missed_rows(table))
    margin = margins_of(headline, missed)
    read = missed.case_metrics.get("read", np.ones(len(missed)))
    why = missed.column("why")
    return MissedOfTask(
        task=task,
        headline=headline,
        cases=len(table),
        judged=table.states.count("judged"),
        unscored=table.states.count("unscored"),
        skipped=table.states.count("skipped"),
        missed=tuple(
            Missed(
                case=missed.ids[row],
                margin=float(margin[row]),
                tags=missed.tags[row],
                why=why[row],
                unread=bool(read[row] < 1),
            )
            for row in np.argsort(-margin, kind="stable").tolist()
        ),
    )


def missed_lines(found: Sequence[MissedOfTask], most: int | None) -> list[str]:
    """Return the missed cases as lines: the counts, then each task with its cases; those left out are counted."""
    lines = [_counts(found)]
    for task in found:
        if not task.missed:
            continue
        lines.append(f"{task.task}: {len(task.missed):,} missed of {task.judged:,} judged cases")
        lines += [_line(task.task, one) for one in task.missed[:most]]
        if most is not None and len(task.missed) > most:
            lines.append(f"  and {len(task.missed) - most:,} more of {task.task}; --all lists them")
    return lines


def _counts(found: Sequence[MissedOfTask]) -> str:
    missed, judged = sum(len(one.missed) for one in found), sum(one.judged for one in found)
    others = {
        "not scored": sum(one.unscored for one in found),
        "skipped": sum(one.skipped for one in found),
        "with an answer that could not be read": sum(case.unread for one in found for case in one.missed),
    }
    more = "".join(f", {number:,} {words}" for words, number in others.items() if number)
    return f"{missed:,} missed of {judged:,} judged cases in {len(found):,} task{'s' if len(found) > 1 else ''}{more}"


def _line(task: str, one: Missed) -> str:
    tags = " ".join(f"{tag}={value}" for tag, value in one.tags.items())
    why = f"{one.why}{' (an answer could not be read)' if one.unread else ''}"
    return "  " + "  ".join(filter(None, (one_line(f"{task}:{one.case}"), one_line(why), one_line(tags))))


# A case of a finished run in lines for the terminal: what was asked, the replies, the verdict and its images.

_NOTHING = TaskRows(example=None, missed=(), broken=(), unscored=(), all_missed=0, lowest=0.0, highest=0.0)
_BOLD, _PLAIN = "\x1b[1;4m", "\x1b[0m"


def row_of(run: RecordedRun, name: str) -> dict[str, Any]:
    """Return the row of a case.

    Args:
        run: the run.
        name: ``task:case``, or the id of a case that only one task has.

    Raises: UnknownNameError, with the nearest name, if there is no such case; OptionError if several tasks have it.
    """
    tables = case_tables(run)
    task, colon, case = name.partition(":")
    if colon and task in tables:
        if case not in tables[task].ids:
            raise UnknownNameError(f"case of {task}", case, tables[task].ids)
        tasks = [task]
    else:
        case, tasks = name, [known for known, table in tables.items() if name in table.ids]
        if not tasks and colon and "/" in task:
            raise UnknownNameError("task", task, run.figures["tasks"])
        if not tasks:
            raise UnknownNameError("case", name, {known for table in tables.values() for known in table.ids})
    if len(tasks) > 1:
        named = ", ".join(f"{known}:{case}" for known in tasks[:3])
        raise OptionError(f"{name!r} is a case of {len(tasks)} tasks; name the task too: {named}")
    table = tables[tasks[0]]
    row: dict[str, Any] = table.take([table.ids.index(case)]).rows.to_pylist()[0]
    return {key: value for key, value in row.items() if value is not None or key not in fact_names(table.rows)}


def card_of(run: RecordedRun, row: Mapping[str, Any]) -> Card:
    """Return a row as the page shows it, without images."""
    task = run.figures["tasks"][row["task"]]
    maker = CardMaker(
        task=row["task"],
        capability=task["capability"],
        headline=headline_of(task),
        rows=_NOTHING,
        cases={},
        pictures=Pictures(),
        options={"model": run.model, **run.options},
    )
    return maker.card(row)


def case_lines(card: Card, *, colour: bool) -> list[str]:
    """Return a case in lines; the words that differ are in bold, or in brackets without ``colour``."""
    lines = [f"{one_line(card.task)}:{one_line(card.case)}: {card.state}", f"  {one_line(card.why)}"]
    lines += [f"  {_asked(line, colour=colour)}" for line in card.lines]
    if card.tags:
        lines.append("  tags: " + ", ".join(one_line(f"{tag}={value}") for tag, value in card.tags.items()))
    lines += [f"  from: {one_line(card.origin)}"] if card.origin else []
    return [*lines, f"  ask again: {one_line(card.command)}"]


def _asked(line: Line, *, colour: bool) -> str:
    text = "".join(_marked(piece, colour=colour) for piece in line.pieces)
    where = f"{line.picture} " if line.picture else ""
    if line.answer is None and line.score is None:
        return f"{where}{line.truth}: {text} -> no reply"
    reply = f"{line.score:.5g}" if line.answer is None else one_line(repr(line.answer))
    verdict = "" if line.right is None else ", right" if line.right else ", wrong"
    return f"{where}{one_line(line.truth)}: {text} -> {reply}{verdict}"


def _marked(piece: Piece, *, colour: bool) -> str:
    text, differs = one_line(piece[0]), piece[1]
    if not differs:
        return text
    return f"{_BOLD}{text}{_PLAIN}" if colour else f"[{text}]"


def case_images(card: Card, row: Mapping[str, Any], case: Case | None) -> list[tuple[str, LazyImage | None]]:
    """Return the different images of a case with their names; None for one that cannot be found again."""
    requests = () if case is None else case.requests
    same = [image_of(one) for one in requests] == list(row["images"])
    by_key = {image.key: image for one in requests for image in of_request(one)} if same else {}
    many = len(card.pictures) > 1
    return [
        (f"{chr(ord('A') + place)} {picture.key}" if many else picture.key, by_key.get(picture.key))
        for place, picture in enumerate(card.pictures)
    ]


def image_files(images: Sequence[tuple[str, LazyImage | None]], folder: Path) -> list[str]:
    lines = []
    for number, (name, image) in enumerate(images):
        if image is None:
            lines.append(f"image {one_line(name)}: {UNKNOWN}")
            continue
        plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:80]
        file = folder / f"{number + 1}-{plain}.png"
        try:
            picture = image.load()
            folder.mkdir(parents=True, exist_ok=True)
            picture.save(file, "PNG")
            lines.append(f"image {one_line(name)}: {file}")
        except ImageError as error:
            lines.append(f"image {one_line(name)}: {one_line(str(error))}")
        except OSError as error:
            raise OptionError(f"--out {folder}: cannot be written ({error.strerror}); name another folder") from None
    return lines


# Images in a terminal that can show them, by the package ``textual-image``, which need not be installed.

WIDTH = 48  # the width of an image, in cells of the terminal
_REAL = {"textual_image.renderable.tgp", "textual_image.renderable.sixel"}


def drawer() -> Callable[..., Any] | None:
    """Return what draws an image, None if the package is not installed or the terminal knows no protocol for images."""
    if not os.get_terminal_size().columns:  # the package divides by it
        return None
    try:
        renderable = import_module("textual_image.renderable").Image  # asks the terminal as it is imported
    except ImportError:
        return None
    return renderable if renderable.__module__ in _REAL else None


def draw(show: Callable[..., Any], images: Sequence[tuple[str, LazyImage | None]]) -> None:
    from rich.console import Console

    console = Console(file=getattr(sys.stdout, "terminal", None))  # not escaped
    for name, image in images:
        console.print(f"image {one_line(name)}", markup=False, highlight=False)
        try:
            problem = UNKNOWN if image is None else ""
            if image is not None:
                console.print(show(image.load(), width=WIDTH))
        except ImageError as error:
            problem = str(error)
        if problem:
            console.print(one_line(problem), markup=False, highlight=False)
