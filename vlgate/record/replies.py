"""The replies of a batch as plain values: as workers send them, and as part.jsonl keeps them."""

from collections.abc import Iterable, Mapping, Sequence
from sys import float_info
from typing import Any, TypedDict, TypeVar, cast

from vlgate.judging.judged import Replies, plain, replies_of, verdicts_of
from vlgate.metrics.compute import numbers
from vlgate.record.folder import DEFAULTS
from vlgate.types import Batch, Prediction, Request, Verdict

# The distinct requests of a batch have the same order in every process, so the replies need no keys.

UNASKED = "the run ended before this case was asked"  # why there is no reply to a request that never reached the model

Value = TypeVar("Value")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "scores": (int, float),
    "answers": (str,),
    "accepted": (bool,),
    "problems": (str,),
    **dict.fromkeys(("skipped", "cut", "neither"), (bool,)),
}


class Rows(TypedDict):
    scores: list[float | None]
    answers: list[str | None]
    accepted: list[bool | None]
    problems: list[str | None]
    skipped: list[bool]
    cut: list[bool]
    neither: list[bool]
    judged: int
    missed: int
    plan: str  # digest of the plan of the process that asked; empty if no other process judges the replies


def pack(verdicts: Sequence[Verdict], plan: str | None = "") -> Rows:
    table = verdicts_of(verdicts)
    replies, judged = replies_of(()) if plan is None else table.replies.once(), table.judged.right.tolist()
    n = len(replies)
    return Rows(
        scores=plain(replies.scores),
        answers=list(replies.answers or [None] * n),
        accepted=[None if yes is None else yes == 1.0 for yes in plain(replies.accepted)],
        problems=_column(n, {place: why for place, (why, _) in replies.problems.items()}, None),
        skipped=_column(n, {place: skipped for place, (_, skipped) in replies.problems.items()}, False),
        cut=_column(n, dict.fromkeys(replies.cut, True), False),
        neither=_column(n, dict.fromkeys(replies.neither, True), False),
        judged=len(judged),
        missed=judged.count(False),
        plan=plan or "",
    )


def read_rows(columns: object, batch: Batch) -> Rows:
    n = len(list(distinct(batch)))
    given: Mapping[str, Any] = columns if isinstance(columns, dict) else {"scores": columns}
    rows: dict[str, Any] = {"judged": 0, "missed": 0, "plan": ""}
    for name, types in _TYPES.items():
        default = DEFAULTS[name]
        values = rows[name] = given.get(name, [default] * n)
        right = isinstance(values, list) and len(values) == n
        if not right or not all(_usable(value, types, none=default is None) for value in values):
            raise ValueError(f"expected {n} {name} for the {n} requests of the batch")
    return cast("Rows", rows)


def _usable(value: object, types: tuple[type, ...], *, none: bool) -> bool:
    if value is None:
        return none
    if isinstance(value, bool) != (bool in types) or not isinstance(value, types):
        return False
    return not isinstance(value, int | float) or abs(value) <= float_info.max


def unpack(rows: Rows, batch: Batch) -> Replies:
    requests = list(distinct(batch))
    flags = (rows["skipped"], rows["cut"], rows["neither"])
    sizes = {len(column) for column in (rows["scores"], rows["answers"], rows["accepted"], rows["problems"], *flags)}
    if sizes != {len(requests)}:
        counts = ", ".join(map(str, sorted(sizes)))
        expected = f"expected {len(requests)}, one per distinct request of the batch"
        raise ValueError(f"columns of {counts} replies: {expected}")
    problems = zip(rows["problems"], rows["skipped"], strict=True)
    return Replies(
        requests=requests,
        scores=numbers(rows["scores"]),
        accepted=numbers(rows["accepted"]),
        answers=rows["answers"] if rows["answers"].count(None) < len(requests) else (),
        problems={index: (why, skipped) for index, (why, skipped) in enumerate(problems) if why is not None},
        cut=frozenset(index for index, cut in enumerate(rows["cut"]) if cut),
        neither=frozenset(index for index, neither in enumerate(rows["neither"]) if neither),
    )


def unreplied(batch: Batch, why: str) -> dict[Request, Prediction]:
    return {request: Prediction(request=request, problem=why) for request in distinct(batch)}


def distinct(batch: Batch) -> Iterable[Request]:
    return dict.fromkeys(request for case in batch.cases for request in case.requests)


def _column(n: int, known: Mapping[int, Value], other: Value) -> list[Value]:
    column = [other] * n
    for place, value in known.items():
        column[place] = value
    return column
