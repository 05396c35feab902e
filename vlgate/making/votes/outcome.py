"""Votes: read from forms and crowdsourcing, what they decide, and how far voters agree (VALSE, Table 5)."""

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import get_args

from vlgate.errors import DataError, OptionError, nearest, printable
from vlgate.images.files import name_of
from vlgate.making.votes.form import Answer, Item, digest
from vlgate.record.whole_file import write_whole
from vlgate.report.exports.rows import text_of_cell
from vlgate.sources.reading.text_files import read_json, read_text
from vlgate.types import Case, Match

_COLUMNS = (
    {name: name for name in ("form", "item", "annotator", "answer")},
    {"form": "Input.form", "item": "Input.item", "annotator": "WorkerId", "answer": "Answer.answer"},
)
_LONGEST = 200  # of an annotator's name, in characters
_FIRST = "give the file as the form or the platform made it"


@dataclass(frozen=True, slots=True, kw_only=True)
class Votes:
    by_item: Mapping[str, Mapping[str, Answer]]
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    file: Path
    record: str
    form: str
    item: str
    annotator: str
    answer: str


def read_votes(files: Sequence[Path], items: Sequence[Item]) -> Votes:
    left_out: Counter[str] = Counter()
    taken: dict[str, dict[str, _Row]] = {item.id: {} for item in items}
    name = digest(items)
    for file in files:
        for row in _from_csv(file, left_out) if file.suffix.lower() == ".csv" else _from_form(file):
            _check(row, name, taken)
            before = taken[row.item].setdefault(row.annotator, row)
            if before is not row:
                same = "it" if before.file == row.file else str(before.file)
                problem = f"{row.annotator!r} has voted on this item before ({same}, record {before.record})"
                raise DataError(row.file, row.record, problem, "keep one of the two votes")
    answers: dict[str, Answer] = {answer: answer for answer in get_args(Answer)}
    votes = {item: {who: answers[row.answer] for who, row in rows.items()} for item, rows in taken.items()}
    return Votes(by_item=votes, left_out=left_out)


def _from_form(file: Path) -> Iterator[_Row]:
    content = read_json(file)
    if type(content) is not dict or content.get("vlgate_votes") != 1 or type(content.get("votes")) is not dict:
        raise DataError(file, None, 'expected an object with "vlgate_votes": 1 and "votes"', _FIRST)
    form, annotator = content.get("form"), content.get("annotator")
    if type(form) is not str or type(annotator) is not str:
        raise DataError(file, None, 'expected the strings "form" and "annotator"', _FIRST)
    for item, answer in content["votes"].items():
        yield _Row(file=file, record=item, form=form, item=item, annotator=annotator.strip(), answer=str(answer))


def _from_csv(file: Path, left_out: Counter[str]) -> Iterator[_Row]:
    lines = csv.reader(read_text(file, _FIRST).splitlines(keepends=True), strict=True)
    try:
        columns = next(lines)
        names = next((names for names in _COLUMNS if set(names.values()) <= set(columns)), None)
        if names is None:
            wanted = " or ".join(", ".join(names.values()) for names in _COLUMNS)
            raise DataError(file, None, f"has the columns {', '.join(columns)}, expected {wanted}", _FIRST)
        for cells in lines:
            record = f"on line {lines.line_num}"
            if not cells:
                continue
            if len(cells) != len(columns):
                raise DataError(file, record, f"has {len(cells)} cells, expected {len(columns)}", _FIRST)
            found = dict(zip(columns, cells, strict=True))
            if found.get("AssignmentStatus") == "Rejected":
                left_out["vote of a rejected assignment"] += 1
                continue
            cells_of = {name: text_of_cell(found[column].strip()) for name, column in names.items()}
            yield _Row(file=file, record=record, **cells_of)
    except csv.Error as error:
        raise DataError(file, f"on line {lines.line_num}", f"is not CSV ({error})", _FIRST) from None


def _check(row: _Row, form: str, known: Mapping[str, object]) -> None:
    if row.form != form:
        problem = f"is a vote on the form {printable(row.form)!r}, but these cases and this seed make the form {form!r}"
        raise DataError(row.file, row.record, problem, "give the cases, --suite and --seed that the form was made with")
    if row.item not in known:
        problem = f"the item {printable(row.item)!r} is not in the form {form!r}"
        raise DataError(row.file, row.record, problem, _FIRST)
    if row.answer not in get_args(Answer):
        problem = f"the answer is {printable(row.answer)!r} ({nearest(row.answer, get_args(Answer))})"
        raise DataError(row.file, row.record, problem, "correct the answer")
    if not row.annotator or not row.annotator.isprintable() or len(row.annotator) > _LONGEST:
        problem = f"the annotator is {printable(row.annotator)[:_LONGEST]!r}, expected a name"
        raise DataError(row.file, row.record, problem, "write the annotator's name, or a number for each annotator")


# How far voters agree: the shares and the coefficient that VALSE prints in Table 5.
# Krippendorff's alpha is computed by the ``krippendorff`` library over the five answers as they were given, at the
# nominal level. "The first" and "the second" are two of the five: an alpha over caption and foil would be below 0 on
# the valid items, since nearly all votes there are for the caption, whereas Table 5 prints 0.23 to 0.64.

Ballots = Mapping[str, Mapping[str, Answer]]  # the answers by item and annotator


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A line of VALSE's Table 5: numbers of items, and alpha over all items and over the valid ones."""

    # An alpha is None if it is not defined: no item has two votes, or all votes are the same.

    items: int
    valid: int
    unanimous: int
    alpha: float | None
    alpha_valid: float | None


def is_valid(item: Item, votes: Mapping[str, Answer], voters: int = 3) -> bool:
    chosen = sum(answer == item.right for answer in votes.values())
    return len(votes) >= voters and 3 * chosen >= 2 * len(votes)


def agreement(items: Sequence[Item], ballots: Ballots, voters: int = 3) -> Agreement:
    valid = [item for item in items if is_valid(item, ballots[item.id], voters)]
    return Agreement(
        items=len(items),
        valid=len(valid),
        unanimous=sum(all(answer == item.right for answer in ballots[item.id].values()) for item in valid),
        alpha=alpha([ballots[item.id] for item in items]),
        alpha_valid=alpha([ballots[item.id] for item in valid]),
    )


def alpha(ballots: Sequence[Mapping[str, Answer]]) -> float | None:
    try:
        import krippendorff
    except ImportError:
        raise OptionError("counting votes needs krippendorff; run pip install 'vlgate[text]'") from None
    answers = get_args(Answer)
    counts = [[[*votes.values()].count(answer) for answer in answers] for votes in ballots if len(votes) > 1]
    if sum(any(column) for column in zip(*counts, strict=True)) < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


_REASONS: Mapping[Answer, str] = {
    "both": "both texts are true",
    "neither": "neither text is true",
    "cannot_tell": "voters cannot tell",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    kept: Mapping[str, tuple[Case, ...]]
    dropped: Mapping[str, Counter[str]]
    table: Mapping[str, Agreement]
    annotators: Mapping[str, Mapping[str, int]]  # how many votes each gave, and how many of them for the caption


def outcome(items: Sequence[Item], ballots: Ballots, voters: int = 3) -> Outcome:
    by_task: dict[str, list[Item]] = defaultdict(list)
    votes: dict[str, list[bool]] = defaultdict(list)
    for item in items:
        by_task[item.task].append(item)
        for name, answer in ballots[item.id].items():
            votes[name].append(answer == item.right)
    kept, dropped = {}, {}
    for task, of_task in by_task.items():
        reasons = {item.case.id: "" for item in of_task}
        for item in of_task:
            reasons[item.case.id] = reasons[item.case.id] or reason(item, ballots[item.id], voters)
        cases = {item.case.id: item.case for item in of_task}
        kept[task] = tuple(case for name, case in cases.items() if not reasons[name])
        dropped[task] = Counter(why for why in reasons.values() if why)
    return Outcome(
        kept=kept,
        dropped=dropped,
        table={task: agreement(of_task, ballots, voters) for task, of_task in by_task.items()},
        annotators={name: {"votes": len(own), "caption": sum(own)} for name, own in sorted(votes.items())},
    )


def reason(item: Item, votes: Mapping[str, Answer], voters: int = 3) -> str:
    """Return why an item is dropped: what more than half of the voters said, or that they disagree."""
    if len(votes) < voters:
        return f"fewer than {voters} votes"
    if is_valid(item, votes, voters):
        return ""
    answer, number = Counter(votes.values()).most_common(1)[0]
    if 2 * number <= len(votes) or answer == item.right:
        return "voters disagree"
    return _REASONS.get(answer, "the foil is true, the caption is not")


def write_outcome(result: Outcome, folder: Path) -> list[Path]:
    (folder / "cases").mkdir(parents=True, exist_ok=True)
    content = {
        "tasks": {task: {**asdict(line), "dropped": result.dropped[task]} for task, line in result.table.items()},
        "annotators": dict(result.annotators),
    }
    files = {"votes.json": json.dumps(content, indent=2, ensure_ascii=False) + "\n"}
    files["votes.md"] = "".join(f"{line}\n" for line in report(result))
    rows = [row_of(task, case) for task, cases in result.kept.items() for case in cases]
    if rows:  # a file of cases without a line is an error to its reader
        files["cases/valid.jsonl"] = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    for name, text in files.items():
        write_whole(folder / name, text)
    return [folder / name for name in files]


def report(result: Outcome) -> Iterator[str]:
    yield "| task | items | valid (%) | unanimous (%) | alpha | alpha, valid |"
    yield "|---|---|---|---|---|---|"
    lines = list(result.table.items())
    if len(lines) > 1:
        sums = [sum(getattr(line, name) for _, line in lines) for name in ("items", "valid", "unanimous")]
        total = Agreement(items=sums[0], valid=sums[1], unanimous=sums[2], alpha=None, alpha_valid=None)
        lines.append(("overall", total))
    for number, (task, line) in enumerate(lines):
        shares = (f"{count:,} ({_share(count, line.items)})" for count in (line.valid, line.unanimous))
        undefined = "-" if number < len(result.table) else ""  # there is none of all tasks
        alphas = (undefined if value is None else f"{value:.3f}" for value in (line.alpha, line.alpha_valid))
        yield f"| {' | '.join((task, f'{line.items:,}', *shares, *alphas))} |"
    yield ""
    for task, reasons in result.dropped.items():
        number = sum(reasons.values())
        listed = f": {', '.join(f'{count:,} x {why}' for why, count in sorted(reasons.items()))}" if reasons else ""
        yield f"{task}: {len(result.kept[task]):,} cases kept, {number:,} dropped{listed}"
    for name, own in result.annotators.items():
        yield f"{name}: {own['votes']:,} votes, {_share(own['caption'], own['votes'])} % for the caption"


def row_of(task: str, case: Case) -> dict[str, object]:
    asked = [request for request in case.requests if isinstance(request, Match)]
    texts = [request.text for request in asked]
    fields: dict[str, object]
    if len(asked) == 2:
        fields = {"image": name_of(asked[0].image), "caption": texts[0], "foil": texts[1]}
    elif case.truths[1] is True:
        fields = {"image": name_of(asked[0].image), "true": texts[:2], "false": texts[2:]}
    else:
        fields = {"images": [name_of(asked[0].image), name_of(asked[2].image)], "captions": texts[:2]}
    return {"task": task, "id": case.id, **fields, **({"tags": dict(case.tags)} if case.tags else {})}


def _share(number: int, total: int) -> str:
    return f"{100 * number / total:.1f}" if total else "-"
