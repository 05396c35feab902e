"""Digests of what a run asked and judged: its plan, its thresholds and its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b, sha256
from itertools import chain
from json import JSONEncoder
from math import isnan
from typing import TYPE_CHECKING

from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.types import Ask, Compare, Match, Matches, Request, Task, Verdict

if TYPE_CHECKING:
    from vlgate.record.cases import CaseTable


# Two processes with the same digest of the plan ask the same requests, and judge them by the same truths.
def digest(tasks: Iterable[Task]) -> str:
    """Return a digest (32 hexadecimal digits) of the ids, texts, truths and image keys of all cases, in their order."""
    whole = blake2b(digest_size=16)
    for task in tasks:
        whole.update(_one((task.id, task.shape, task.capability, str(len(task.cases)))))
        truths = {case.truths: repr(case.truths) for case in task.cases}
        for case in task.cases:
            asked: Iterable[tuple[str, ...]] = map(_asked, case.requests)
            if isinstance(case.requests, Matches):  # the most frequent kind
                asked = (("Match", *named) for named in case.requests.named)
            whole.update(_one([case.id, truths[case.truths], *chain.from_iterable(asked)]))
    return whole.hexdigest()


def _asked(request: Request) -> tuple[str, ...]:
    if isinstance(request, Match):
        return "Match", request.image.key, request.text
    if isinstance(request, Ask):
        return "ask", request.image.key, request.question, repr(request.choices)
    if isinstance(request, Compare):
        return "compare", *(image.key for image in request.images), request.question, repr(request.choices)
    return "Read", "", request.text


def _one(parts: Sequence[str]) -> bytes:
    lengths = ",".join(map(str, map(len, parts)))
    return ("\0".join((lengths, *parts)) + "\n").encode(errors="surrogatepass")


_json = JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Digests:
    thresholds: str | None
    must_hold: str | None
    plan: str
    rows: str


def thresholds_digests(thresholds: Thresholds) -> dict[str, str | None]:
    held = thresholds.must_hold
    return {
        "thresholds": f"sha256:{thresholds.digest}" if thresholds.digest else None,
        "must_hold": None if held is None else f"sha256:{held.digest}",
    }


def digests(thresholds: Thresholds, tasks: Sequence[Task], verdicts: Mapping[str, Sequence[Verdict]]) -> Digests:
    return Digests(
        **thresholds_digests(thresholds),
        plan=f"blake2b:{digest(tasks)}",
        rows=rows_digest((task.id, verdicts.get(task.id, ())) for task in tasks),
    )


def rows_digest(verdicts: Iterable[tuple[str, Sequence[Verdict]]]) -> str:
    """Return the SHA-256 of the judged rows: what each case contributes to the metrics, and what the model answered."""
    # A row is a line of JSON with no spaces, ["task","case","state",{"fact":"1.000000"},["answer",null]]. Scores are
    # left out: their last digits differ between machines that judge every case alike.
    whole = sha256()
    for task, verdicts_of_task in verdicts:
        judged = verdicts_of(verdicts_of_task)
        start, starts = _json(task), judged.starts
        answers = ["null" if answer is None else _json(answer) for answer in judged.replies.answers]
        facts: dict[int, str] = {}  # few, because cases share equal facts
        for row, (case, state, one) in enumerate(zip(judged.cases, judged.states, judged.facts, strict=True)):
            if id(one) not in facts:
                facts[id(one)] = _json({name: f"{value:.6f}" for name, value in one.items()})
            joined = ",".join(answers[starts[row] : starts[row + 1]] or ["null"] * len(case.requests))
            whole.update(_line(start, case.id, state, facts[id(one)], joined))
    return f"sha256:{whole.hexdigest()}"


def _line(task: str, case: str, state: str, facts: str, answers: str) -> bytes:
    return f'[{task},{_json(case)},"{state}",{facts},[{answers}]]\n'.encode("utf-8", "replace")


def recorded_digest(tables: Mapping[str, CaseTable]) -> str:
    """Return the ``rows_digest`` of the rows in ``cases.parquet``."""
    whole = sha256()
    for task, table in tables.items():
        start, columns = _json(task), table.case_metrics
        values = zip(*columns.values(), strict=True) if columns else ((),) * len(table)
        for case, state, answers, row in zip(table.ids, table.states, table.answers, values, strict=True):
            known = {name: f"{value:.6f}" for name, value in zip(columns, row, strict=True) if not isnan(value)}
            joined = ",".join("null" if answer is None else _json(answer) for answer in answers)
            whole.update(_line(start, case, state, _json(known), joined))
    return f"sha256:{whole.hexdigest()}"
