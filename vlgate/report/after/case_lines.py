"""A case of a finished run in lines for the terminal: what was asked, the replies, the verdict and its images."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vlgate.comparing.cases import image_of
from vlgate.errors import ImageError, OptionError, UnknownNameError
from vlgate.recorded.cases import fact_names
from vlgate.recorded.folder import RecordedRun
from vlgate.report.after.missed import one_line
from vlgate.report.difference import Piece
from vlgate.report.page.cards import CardMaker
from vlgate.report.page.pictures import UNKNOWN, Pictures
from vlgate.report.page.records import Card, Line
from vlgate.report.page.rows import TaskRows
from vlgate.report.page.sections import headline_of
from vlgate.types import Case, LazyImage
from vlgate.types import images_of as of_request

_NOTHING = TaskRows(example=None, missed=(), broken=(), unscored=(), all_missed=0, lowest=0.0, highest=0.0)
_BOLD, _PLAIN = "\x1b[1;4m", "\x1b[0m"


def row_of(run: RecordedRun, table: Any, name: str) -> dict[str, Any]:
    """Return the row of a case.

    Args:
        run: the run.
        table: its rows; see ``read_cases``.
        name: ``task:case``, or the id of a case that only one task has.

    Raises: UnknownNameError, with the nearest name, if there is no such case; OptionError if several tasks have it.
    """
    tasks, cases = table.column("task").to_pylist(), table.column("case").to_pylist()
    task, colon, case = name.partition(":")
    if colon and task in run.figures["tasks"]:
        places = [place for place, known in enumerate(cases) if known == case and tasks[place] == task]
        if not places:
            known = [one for one, of in zip(cases, tasks, strict=True) if of == task]
            raise UnknownNameError(f"case of {task}", case, known)
    else:
        places = [place for place, known in enumerate(cases) if known == name]
        if not places and colon and "/" in task:
            raise UnknownNameError("task", task, run.figures["tasks"])
        if not places:
            raise UnknownNameError("case", name, set(cases))
    if len(places) > 1:
        named = ", ".join(f"{tasks[place]}:{cases[place]}" for place in places[:3])
        raise OptionError(f"{name!r} is a case of {len(places)} tasks; name the task too: {named}")
    found: dict[str, Any] = table.slice(places[0], 1).to_pylist()[0]
    return {key: value for key, value in found.items() if value is not None or key not in fact_names(table)}


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


def images_of(card: Card, row: Mapping[str, Any], case: Case | None) -> list[tuple[str, LazyImage | None]]:
    """Return the different images of a case with their names; None for one that cannot be found again.

    Args:
        card: the case as it is shown.
        row: its row.
        case: the case, read again; None if its task cannot be read.
    """
    requests = () if case is None else case.requests
    same = [image_of(one) for one in requests] == list(row["images"])
    by_key = {image.key: image for one in requests for image in of_request(one)} if same else {}
    many = len(card.pictures) > 1
    return [
        (f"{chr(ord('A') + place)} {picture.key}" if many else picture.key, by_key.get(picture.key))
        for place, picture in enumerate(card.pictures)
    ]


def image_files(images: Sequence[tuple[str, LazyImage | None]], folder: Path) -> list[str]:
    """Write the images as PNG files into a folder.

    Returns: a line for each: its path, or why it cannot be shown.
    Raises: OptionError if a file cannot be written.
    """
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
