"""The missed cases of a finished run, the worst first, from the rows of its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from vlgate.errors import OptionError, UnknownNameError
from vlgate.recorded.cases import tags_of
from vlgate.recorded.folder import RecordedRun
from vlgate.report.page.page import shown
from vlgate.report.page.sections import headline_of
from vlgate.report.page.worst import margins


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


def missed_cases(run: RecordedRun, table: Any, pattern: str = "*", part: str = "") -> list[MissedOfTask]:
    """Return the missed cases by task: the task with the largest share of misses first.

    Args:
        run: the run.
        table: its rows; see ``read_cases``.
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
    names = table.column("task").to_pylist()
    tags = tags_of(run, table)
    rows: dict[str, list[int]] = {task: [] for task in wanted}
    for place, task in enumerate(names):
        if task in rows and (not part or part in _slices(tags[place])):
            rows[task].append(place)
    if part and not any(rows.values()):
        known = {name for place, task in enumerate(names) if task in rows for name in _slices(tags[place])}
        raise UnknownNameError("slice", part, known)
    found = [
        _of_task(task, headline_of(run.figures["tasks"][task]), table.take(places), [tags[place] for place in places])
        for task, places in rows.items()
        if places
    ]
    return sorted(found, key=lambda one: -len(one.missed) / max(1, one.judged))


def _slices(tags: Mapping[str, str]) -> Iterator[str]:
    return (f"{tag}={value}" for tag, value in tags.items())


def _of_task(task: str, headline: str, rows: Any, tags: Sequence[Mapping[str, str]]) -> MissedOfTask:
    states = rows.column("state").to_pylist()
    right = rows.column("right").to_pylist()
    missed = [place for place, state in enumerate(states) if state == "judged" and not right[place]]
    kept = rows.take(np.array(missed, dtype=np.intp))
    scores = np.array(kept.column("scores").to_pylist(), dtype=np.float64)  # shape (n, k), if any case is missed
    by = margins(headline, scores, 1.0 - _fact(kept, "acc", 0.0)) if missed else np.empty(0)
    read = _fact(kept, "read", 1.0)
    cases, why = kept.column("case").to_pylist(), kept.column("why").to_pylist()
    order = np.argsort(-by, kind="stable").tolist()
    return MissedOfTask(
        task=task,
        headline=headline,
        cases=len(states),
        judged=states.count("judged"),
        unscored=states.count("unscored"),
        skipped=states.count("skipped"),
        missed=tuple(
            Missed(
                case=cases[place],
                margin=float(by[place]),
                tags=tags[missed[place]],
                why=why[place],
                unread=bool(read[place] < 1),
            )
            for place in order
        ),
    )


def _fact(rows: Any, name: str, default: float) -> Any:
    if name not in rows.column_names:
        return np.full(rows.num_rows, default)
    return np.nan_to_num(np.array(rows.column(name).to_pylist(), dtype=np.float64), nan=default)


def missed_lines(found: Sequence[MissedOfTask], most: int | None) -> list[str]:
    """Return the missed cases as lines: the counts, then each task with its cases; those left out are counted.

    Args:
        found: the missed cases by task.
        most: the most cases of a task; None for all.
    """
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


def one_line(text: str) -> str:
    r"""Return a text as one line that a terminal prints and does not obey.

    >>> one_line("a\n\x1b[31mred")
    'a\\n\\x1b[31mred'
    """
    return str(shown(text)).replace("\n", "\\n").replace("\t", "\\t")
