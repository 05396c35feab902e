"""The missed cases of a finished run, the worst first, and one case in the terminal, with its images."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.errors import ImageError, OptionError, UnknownNameError
from vlgate.metrics.clusters import image_of
from vlgate.record.cases import CaseTable, case_tables, fact_names
from vlgate.record.folder import RecordedRun
from vlgate.report.page.cards import UNKNOWN, Card, CardMaker, Line, Pictures
from vlgate.report.page.rows import TaskRows, margins_of, missed_rows
from vlgate.report.page.sections import headline_of
from vlgate.report.page.template import one_line
from vlgate.types import Case, LazyImage
from vlgate.types import images_of as of_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Missed:
    case: str
    margin: float  # by how much it is missed
    tags: Mapping[str, str]
    why: str
    unread: bool  # whether an answer of it could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedOfTask:
    task: str
    headline: str
    cases: int
    judged: int
    unscored: int
    skipped: int
    missed: tuple[Missed, ...]


def missed_cases(run: RecordedRun, wanted: Collection[str], part: str = "") -> list[MissedOfTask]:
    if part and "=" not in part:
        raise OptionError(f"--slice {part}: has no =; write tag=value, as --slice provenance=zero_to_something")
    tables = {task: table for task, table in case_tables(run).items() if task in wanted}
    if part:
        slices = {task: [set(_slices(tags)) for tags in table.tags] for task, table in tables.items()}
        if not any(part in names for rows in slices.values() for names in rows):
            raise UnknownNameError("slice", part, set().union(*(names for rows in slices.values() for names in rows)))
        for task, rows in slices.items():
            tables[task] = tables[task].take([row for row, names in enumerate(rows) if part in names])
    headlines = {task: headline_of(run.figures["tasks"][task]) for task in wanted}
    missed = [_of_task(task, headlines[task], tables[task]) for task in wanted if len(tables[task])]
    return sorted(missed, key=lambda one: -len(one.missed) / max(1, one.judged))


def _slices(tags: Mapping[str, str]) -> Iterator[str]:
    return (f"{tag}={value}" for tag, value in tags.items())


def _of_task(task: str, headline: str, table: CaseTable) -> MissedOfTask:
    rows = missed_rows(table)
    missed = table.take(rows)
    margin, why = margins_of(headline, table, rows), missed.column("why")
    unread = missed.case_metrics.get("read", np.ones(len(missed))) < 1
    columns: dict[str, Any] = {"case": missed.ids, "margin": margin.tolist(), "tags": missed.tags, "why": why}
    columns["unread"] = unread.tolist()
    worst = np.argsort(-margin, kind="stable").tolist()
    cases = tuple(Missed(**{name: column[row] for name, column in columns.items()}) for row in worst)
    counts = {state: table.states.count(state) for state in ("judged", "unscored", "skipped")}
    return MissedOfTask(task=task, headline=headline, cases=len(table), missed=cases, **counts)


def missed_lines(found: Sequence[MissedOfTask], most: int | None) -> list[str]:
    missed, judged = sum(len(task.missed) for task in found), sum(task.judged for task in found)
    others = {
        "not scored": sum(task.unscored for task in found),
        "skipped": sum(task.skipped for task in found),
        "with an answer that could not be read": sum(case.unread for task in found for case in task.missed),
    }
    more = "".join(f", {number:,} {words}" for words, number in others.items() if number)
    number = f"{len(found):,} task{'s' if len(found) > 1 else ''}"
    lines = [f"{missed:,} missed of {judged:,} judged cases in {number}{more}"]
    for task in (one for one in found if one.missed):
        lines.append(f"{task.task}: {len(task.missed):,} missed of {task.judged:,} judged cases")
        for case in task.missed[:most]:
            why = f"{case.why}{' (an answer could not be read)' if case.unread else ''}"
            texts = (f"{task.task}:{case.case}", why, " ".join(_slices(case.tags)))
            lines.append("  " + "  ".join(filter(None, map(one_line, texts))))
        if most is not None and len(task.missed) > most:
            lines.append(f"  and {len(task.missed) - most:,} more of {task.task}; --all lists them")
    return lines


_NOTHING = TaskRows(example=None, missed=(), broken=(), unscored=(), all_missed=0, lowest=0.0, highest=0.0)
_BOLD, _PLAIN = "\x1b[1;4m", "\x1b[0m"


def row_of(run: RecordedRun, name: str) -> dict[str, Any]:
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
    task = run.figures["tasks"][row["task"]]
    about = {"task": row["task"], "capability": task["capability"], "headline": headline_of(task)}
    options = {"model": run.model, **run.options}
    return CardMaker(rows=_NOTHING, cases={}, pictures=Pictures(), options=options, **about).card(row)


def case_lines(card: Card, *, colour: bool) -> list[str]:
    lines = [f"{one_line(card.task)}:{one_line(card.case)}: {card.state}", f"  {one_line(card.why)}"]
    lines += [f"  {_asked(line, colour=colour)}" for line in card.lines]
    if card.tags:
        lines.append("  tags: " + ", ".join(one_line(f"{tag}={value}") for tag, value in card.tags.items()))
    lines += [f"  from: {one_line(card.origin)}"] if card.origin else []
    return [*lines, f"  ask again: {one_line(card.command)}"]


def _asked(line: Line, *, colour: bool) -> str:
    before, after = (_BOLD, _PLAIN) if colour else ("[", "]")
    pieces = ((one_line(text), differs) for text, differs in line.pieces)
    text = "".join(f"{before}{piece}{after}" if differs else piece for piece, differs in pieces)
    where = f"{line.picture} " if line.picture else ""
    if line.answer is None and line.score is None:
        return f"{where}{line.truth}: {text} -> no reply"
    reply = line.score if line.answer is None else one_line(repr(line.answer))
    verdict = "" if line.right is None else ", right" if line.right else ", wrong"
    return f"{where}{one_line(line.truth)}: {text} -> {reply}{verdict}"


def case_images(card: Card, row: Mapping[str, Any], case: Case | None) -> list[tuple[str, LazyImage | None]]:
    requests = () if case is None else case.requests
    same = [image_of(request) for request in requests] == list(row["images"])
    by_key = {image.key: image for request in requests for image in of_request(request)} if same else {}
    many = len(card.pictures) > 1
    return [
        (f"{chr(ord('A') + index)} {picture.key}" if many else picture.key, by_key.get(picture.key))
        for index, picture in enumerate(card.pictures)
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


WIDTH = 48  # the width of an image, in cells of the terminal
_REAL = {"textual_image.renderable.tgp", "textual_image.renderable.sixel"}


def drawer() -> Callable[..., Any] | None:
    """Return what draws an image; None if ``textual-image`` is not installed or the terminal cannot show images."""
    if not os.get_terminal_size().columns:  # the package divides by it
        return None
    try:
        renderable = import_module("textual_image.renderable").Image  # asks the terminal as it is imported
    except ImportError:
        return None
    return renderable if renderable.__module__ in _REAL else None


def draw(show: Callable[..., Any], images: Sequence[tuple[str, LazyImage | None]]) -> None:
    from rich.console import Console

    console = Console(file=getattr(sys.stdout, "terminal", None), highlight=False, markup=False)  # not escaped
    for name, image in images:
        console.print(f"image {one_line(name)}")
        try:
            console.print(UNKNOWN if image is None else show(image.load(), width=WIDTH))
        except ImageError as error:
            console.print(one_line(str(error)))
