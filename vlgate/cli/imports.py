"""Take over what another harness recorded, as a file for --model=replay: that any run can judge and gate.

Reads samples of lmms-eval, tables of VLMEvalKit (.xlsx, .tsv, .csv, .json), answers of LLaVA with their file of
questions, text files of MME, logs of inspect, and tables with an image, a question and a reply. Each record is joined
with a request of the planned cases; what cannot be joined without a guess is counted, with the reason.
"""

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import ascii_lowercase

from vlgate.cli import options_of, say
from vlgate.errors import OptionError, program
from vlgate.judging.answers import read_answer, read_reply
from vlgate.making.importing.joining import Joined, Key, join, truths_of
from vlgate.making.importing.prompts import normal
from vlgate.making.importing.replies import Recording, recordings
from vlgate.record.whole_file import write_whole
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Task

_KEY = 0.99  # the least share of right replies in ``answer`` that is taken for the benchmark's own column
_NEARLY_ALL = 0.9  # the share of a task's requests with a reply from which on the next command names it


def run(given: argparse.Namespace) -> int:
    _check_out(given.out, overwrite=given.overwrite)
    options = options_of(given)
    if not options.data:
        raise OptionError("replies are joined with a benchmark's own records; name their folder with --data")
    read = recordings(given.files, given.reply)
    tasks = make_plan(options).tasks
    joined = join(read, tasks)
    say(*_joined_lines(read, joined))
    if not joined.rows:
        raise OptionError("no record is joined, and nothing is written; the reasons are above")
    for line in _notes_on_truths(read, joined, tasks, given.reply):
        say(line)
    replies = _replies(joined, tasks)
    lettered = sum(replies[key] != record.reply for key, record in joined.rows.items())
    if lettered:
        say(f"note: {lettered:,} replies name an option by its letter, and are written as the option's text")
    lines = []
    for (kind, image, text), record in joined.rows.items():
        row: dict[str, str | float | bool] = {"image": image, "text": text, "score": record.score or 0.0}
        if kind == "answer":
            row = {"image": image, "question": text, "answer": replies[kind, image, text]}
        elif record.match is not None:
            row["match"] = record.match
        lines.append(json.dumps(row) + "\n")
    write_whole(given.out, "".join(lines))
    say(*_task_lines(tasks, joined, given))
    return 0


def _check_out(out: Path, *, overwrite: bool) -> None:
    if out.suffix != ".jsonl":
        raise OptionError(f"--out {out}: expected a name that ends in .jsonl")
    if not out.parent.is_dir():
        raise OptionError(f"--out {out}: there is no folder {out.parent}; make it, or name another place")
    if out.exists() and not overwrite:
        raise OptionError(f"--out {out}: exists already; name another place, or add --overwrite")


def _notes_on_truths(read: Sequence[Recording], joined: Joined, tasks: Sequence[Task], reply: str) -> Iterator[str]:
    truths = truths_of(*tasks)
    keys = {id(record): key for key, record in joined.rows.items()}
    for recording in read:
        own = [record for record in recording.records if id(record) in keys]
        right = sum(
            any(
                isinstance(request, Ask) and normal(read_reply(record.reply, request) or "") == normal(truth)
                for request, truth in truths[keys[id(record)]]
            )
            for record in own
        )
        if right < _KEY * max(1, len(own)) or not (reply or recording.form == "answers"):
            continue
        what = f"{right:,} of {len(own):,} replies in {reply or 'answer'!r} are the right answers"
        if not reply:
            remedy = "name the field of the model's replies; if it is this one, add --reply=answer"
            raise OptionError(f"{recording.file}: {what}, as in the benchmark's own column; {remedy}")
        yield f"note: {recording.file.name}: {what}, as in the benchmark's own column; check that they are a model's"


def _replies(joined: Joined, tasks: Sequence[Task]) -> dict[Key, str]:
    # The replies; the letter of an option that only the harness's prompt lists becomes the option's text
    truths, replies = truths_of(*tasks), {}
    for key, record in joined.rows.items():
        replies[key] = record.reply
        choices = next((request.choices for request, _ in truths[key] if isinstance(request, Ask)), ())
        listed = record.options and [*map(normal, record.options)] == [*map(normal, choices)]
        if listed and read_answer(record.reply, choices) is None:
            aliases = ascii_lowercase[: len(choices)]
            replies[key] = read_answer(record.reply, choices, aliases=aliases) or record.reply
    return replies


def _joined_lines(read: Sequence[Recording], joined: Joined) -> Iterator[str]:
    for recording in read:
        number = joined.joined.get(recording.file.name, 0)
        yield f"{recording.file.name} ({recording.form}): {number:,} of {len(recording.records):,} records are joined"
    for reason, (number, first) in joined.left_out.items():
        yield f"left out: {number:,} x {reason}; the first is {first}"
    if joined.differing:
        what = f"{len(joined.differing):,} records have another right answer than the benchmark"
        yield f"note: {what}, which counts; the first is {joined.differing[0]}"


def _task_lines(tasks: Sequence[Task], joined: Joined, given: argparse.Namespace) -> Iterator[str]:
    share = {}
    for task in tasks:
        keys = truths_of(task).keys()
        number = len(keys & joined.rows.keys())
        share[task.id] = number / max(1, len(keys))
        if number:
            yield f"{task.id}: {number:,} of {len(keys):,} requests have a reply"
    if not all(share.values()):
        yield f"no reply: {', '.join(task for task, of_all in share.items() if not of_all)}"
    yield f"{given.out}: {len(joined.rows):,} replies"
    asked = [task for task, of_all in share.items() if of_all >= _NEARLY_ALL] or [task for task in share if share[task]]
    suite = ",".join(asked) if given.suite or len(asked) < len(tasks) else ""
    words = ["--pyargs", "tests_vl", f"--model=replay:{given.out}"]
    words += [f"--data={folder}" for folder in given.data] + ([f"--suite={suite}"] if suite else [])
    yield f"next: {program('pytest')} {shlex.join(words)}"
