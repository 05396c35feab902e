"""The cases that every model must get right, whatever the metrics are."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from vlgate.errors import ThresholdsError
from vlgate.gates.records import Decision, Gate, Outcome

NAME = "must_hold"
_REMEDY = 'write one case per line, {"task": "valse/existence", "case": "..."}'
_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class MustHold:
    file: Path
    cases: Mapping[str, tuple[str, ...]] = field(repr=False)
    digest: str


def read_must_hold(file: Path) -> MustHold:
    try:
        if file.exists() and not file.is_file():  # reading a pipe would block for ever
            raise ThresholdsError(f"{file}: is not a regular file; name another file as must_hold")
        content = file.read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ThresholdsError(f"{file}: is not UTF-8 ({error}); save it as UTF-8") from None
    except (OSError, ValueError) as error:  # a ValueError for a path with a null byte
        reason = getattr(error, "strerror", None) or error
        raise ThresholdsError(f"{file}: cannot be read ({reason}); name another file as must_hold") from None
    found: dict[str, dict[str, None]] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{file}, record {number}"
        try:
            record = json.loads(line, object_pairs_hook=tuple)  # the pairs: a key may be repeated
        except (ValueError, RecursionError):
            raise ThresholdsError(f"{where}: is not JSON; {_REMEDY}") from None
        fields = dict(record) if isinstance(record, tuple) else {}
        task, case = fields.get("task"), fields.get("case")
        if not isinstance(task, str) or not isinstance(case, str):
            raise ThresholdsError(f"{where}: lacks the text 'task' or 'case'; {_REMEDY}")
        if len(record) > 2:
            problem = f"has {len(record)} keys, expected 'task' and 'case', each once"
            raise ThresholdsError(f"{where}: {problem}; {_REMEDY}")
        found.setdefault(task, {})[case] = None
    if not found:
        raise ThresholdsError(f"{file}: names no case; {_REMEDY}")
    by_task = {task: tuple(cases) for task, cases in found.items()}
    return MustHold(file=file, cases=by_task, digest=sha256(content).hexdigest())


def must_hold_decision(
    held: MustHold, right: Mapping[str, Mapping[str, bool | None]], *, whole: bool = False
) -> Decision:
    # ``right`` says of each selected case, by task and case, whether it is right; None for one that is not judged.
    file, wanted = held.file, held.cases
    asked = [(task, case) for task, cases in wanted.items() if task in right for case in cases]
    found = {(task, case): right[task].get(case) for task, case in asked}
    wrong = [name for name, verdict in found.items() if verdict is False]
    lost = [name for name, verdict in found.items() if verdict is None]
    total = sum(map(len, wanted.values()))
    beyond = total - len(asked)
    others = f"; the tasks of {beyond} others are not in this run" if beyond else ""
    outcome: Outcome = "pass"
    why = f"{len(asked)} of {total} cases of {file} are right{others}"
    if wrong:
        outcome, why = "fail", f"{len(wrong)} of {total} cases of {file} are wrong: {_named(wrong)}{others}"
    elif lost:
        outcome, why = "inconclusive", f"{len(lost)} of {total} cases of {file} are not judged: {_named(lost)}{others}"
    elif whole and beyond:
        absent = ", ".join(task for task in wanted if task not in right)
        why = f"{beyond} of {total} cases of {file} are of tasks without data in this run ({absent})"
        outcome, why = "inconclusive", f"{why}; name their data folder with --data, or narrow the run with --suite"
    elif not asked:
        outcome, why = "not run", f"none of the tasks of {file} is in this run"
    return Decision(gate=Gate(task="run", metric=NAME), outcome=outcome, why=why)


def _named(cases: Sequence[tuple[str, str]]) -> str:
    more = ", ..." if len(cases) > _SHOWN else ""
    return ", ".join(f"{task}:{case}" for task, case in cases[:_SHOWN]) + more
