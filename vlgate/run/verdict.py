"""The verdict on a run as a whole, and the digests of what it was made from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from json import JSONEncoder
from typing import Literal

from vlgate.gates.records import Outcome
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.run.digest import digest
from vlgate.run.rows import UNASKED
from vlgate.types import Task, Verdict

_json = JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
Word = Literal["broken", "incomplete", "fail", "inconclusive", "pass"]
UNGATED = "not gated"
"""What ``verdict.json`` says of a run of which no gate was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    """Digests of what a verdict was made from, each with the name of its algorithm.

    ``thresholds`` and ``must_hold`` are None without such a file. ``plan`` is that of all ids, texts, truths and image
    keys; ``rows`` is explained in ``rows_digest``.
    """

    thresholds: str | None
    must_hold: str | None
    plan: str
    rows: str


def digests(thresholds: Thresholds, tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]]) -> Digests:
    """Return the digests of a run: of its thresholds, the tasks of its plan, and the verdicts by task."""
    held = thresholds.must_hold
    return Digests(
        thresholds=f"sha256:{thresholds.digest}" if thresholds.digest else None,
        must_hold=None if held is None else f"sha256:{held.digest}",
        plan=f"blake2b:{digest(tasks)}",
        rows=rows_digest((task.id, verdicts.get(task.id, ())) for task in tasks),
    )


def rows_digest(verdicts: Iterable[tuple[str, Sequence[Verdict]]]) -> str:
    """Return the SHA-256 of the judged rows: what each case contributes to the metrics, and what the model answered.

    A row is a line of JSON with no spaces, ``["task","case","state",{"fact":"1.000000"},["answer",null]]``, in UTF-8
    and with the facts sorted by name. Facts are texts with six decimals. Scores are left out: their last digits differ
    between machines that judge every case alike.

    Args:
        verdicts: the tasks in the order of the plan, each with the verdicts of its selected cases.
    """
    found = sha256()
    for task, said_of in verdicts:
        judged = verdicts_of(said_of)
        start, starts = _json(task), judged.starts
        answers = ["null" if said is None else _json(said) for said in judged.replies.answers]
        facts: dict[int, str] = {}  # few, because cases share equal facts
        for row, (case, state, one) in enumerate(zip(judged.cases, judged.states, judged.facts, strict=True)):
            if id(one) not in facts:
                facts[id(one)] = _json({name: f"{value:.6f}" for name, value in one.items()})
            said = ",".join(answers[starts[row] : starts[row + 1]] or ["null"] * len(case.requests))
            line = f'[{start},{_json(case.id)},"{state}",{facts[id(one)]},[{said}]]\n'
            found.update(line.encode("utf-8", "replace"))
    return f"sha256:{found.hexdigest()}"


def word(outcomes: Collection[Outcome], *, broken: bool, incomplete: bool) -> Word | None:
    """Return the verdict on a run with decisions of these outcomes: the first word of the ladder that applies.

    ``broken``: something crashed, or a case could not be scored. ``incomplete``: the run did not come to its end.
    ``fail``, ``inconclusive``: a gate says so. ``pass``: a gate passes, and no other word applies.

    Returns: the word; None if no gate was judged, so that there is no verdict.
    """
    if broken:
        return "broken"
    if incomplete:
        return "incomplete"
    words: tuple[Word, ...] = ("fail", "inconclusive", "pass")
    return next((one for one in words if one in outcomes), None)


def unscored(verdicts: Sequence[Verdict]) -> bool:
    """Return whether the model was asked about a case that could not be scored."""
    found = verdicts_of(verdicts)
    return any(
        why != UNASKED and found.states[found.row_of(place)] == "unscored"
        for place, (why, _) in found.replies.problems.items()
    )
