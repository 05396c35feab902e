"""Join the parts of a run: its plan is made again, the replies of all parts are judged, and the gates decided once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vlgate.checks.check import Check
from vlgate.comparing.changes import refuse_blunt
from vlgate.comparing.earlier import EarlierRun
from vlgate.comparing.pairing import refuse_unlike
from vlgate.errors import OptionError
from vlgate.judging.verdicts import judge
from vlgate.merging.gates import read_gates, refuse_other_thresholds, without_controls
from vlgate.recorded.part import REPLIES, RecordedPart, lines_of
from vlgate.run.concluding import conclude
from vlgate.run.digest import digest
from vlgate.run.held import doubts
from vlgate.run.loading import merged
from vlgate.run.model_card import ModelCard, card_from
from vlgate.run.options import Options
from vlgate.run.parts.sharding import parts_of
from vlgate.run.planning import Plan, empty_lines, make_plan
from vlgate.run.results import RunResult, of_yes_or_no
from vlgate.run.rows import read_rows, unpack
from vlgate.run.verdict import outcome_of
from vlgate.types import Batch, Task, Verdict

_WORST = ("failed", "suspect", "ok", "not applicable")


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """A run that was joined from its parts; ``workers`` counts the processes with a model."""

    result: RunResult
    card: ModelCard
    options: Options
    tasks: tuple[Task, ...]
    workers: int

    @property
    def status(self) -> int:
        """The exit status: 0, or 1 if the run does not pass."""
        return int(outcome_of(self.result, self.card).status > 0)


def join(
    parts: Sequence[RecordedPart],
    options: Options,
    earlier: EarlierRun | None = None,
    *,
    own_thresholds: bool = False,
) -> Joined:
    """Judge the replies of all parts, and decide the gates.

    Args:
        parts: the parts of one run, in their order.
        options: the options of the run, with the data folders and thresholds of this machine.
        earlier: the run to compare with.
        own_thresholds: whether the thresholds file may be another one than that of the parts.

    Returns: the run, as one process would have ended it with the same replies.
    Raises: OptionError if the data are not those of the parts, or if a part does not hold the replies to its cases;
        ThresholdsError if the thresholds file cannot be used, or is not that of the parts.
    """
    thresholds = read_gates(options)
    if not own_thresholds:
        refuse_other_thresholds(parts[0], thresholds)
    plan = make_plan(options)
    first = parts[0]
    if not _asked_these(first, plan):
        raise _other_cases(first, options)
    cases = {task.id: (task.shape, len(task.cases)) for task in plan.tasks}
    refuse_blunt(thresholds, cases, quick=options.quick)
    if earlier is not None:
        refuse_unlike(earlier, plan.tasks, options.ties)
    verdicts = _verdicts(parts, plan, options)
    result = conclude(plan.tasks, verdicts, thresholds, options, (), earlier)
    cards = [card_from(part.content["model"]) for part in parts]
    card = replace(merged(cards, options.model), checks=joined_checks([card.checks for card in cards]))
    result = replace(
        of_yes_or_no(result) if card.yes_or_no else result,
        decisions=(*doubts(card, cards, thresholds), *without_controls(result.decisions)),
        notes=(*result.notes, *empty_lines(plan.empty), *plan.notes),
        tests=next((status for part in parts if (status := part.content["status"])), 0),
    )
    return Joined(
        result=result,
        card=card,
        options=options,
        tasks=plan.tasks,
        workers=sum(part.content["workers"] for part in parts),
    )


def _asked_these(part: RecordedPart, plan: Plan) -> bool:
    return bool(f"blake2b:{digest(plan.tasks)}" == part.content["digests"]["plan"])


def _other_cases(part: RecordedPart, options: Options) -> OptionError:
    """The error about a part that asked other cases, which says whether the disputes are the reason."""
    where = ", ".join(map(str, options.data)) or "the drawn scenes"
    theirs = tuple(map(Path, part.content["environment"]["options"]["disputes"]))
    if theirs == options.disputes == ():
        return part.wrong(f"asked other cases than those of {where}", "name the same data with --data DIR")
    named, here = (", ".join(map(str, files)) or "none" for files in (theirs, options.disputes))
    remedy = "name the same files with --disputes FILE, as they were when the part ran"
    others = theirs != options.disputes and all(file.is_file() for file in theirs)
    if others and _asked_these(part, make_plan(replace(options, disputes=theirs))):
        return part.wrong(f"was asked with other disputes: {named}; these are {here}", remedy)
    said = f"asked other cases than those of {where} with the disputes {here} (its own: {named})"
    return part.wrong(said, f"name the same data with --data DIR, and {remedy}")


def joined_checks(checks: Sequence[Sequence[Check]]) -> tuple[Check, ...]:
    """Return the checks of a model that several processes checked: of each, the worst that one of them found.

    Equal outcomes are told in the words of the first process.
    """
    names = dict.fromkeys(check.name for some in checks for check in some)
    found = {name: [check for some in checks for check in some if check.name == name] for name in names}
    return tuple(min(some, key=lambda check: _WORST.index(check.outcome)) for some in found.values())


def _verdicts(parts: Sequence[RecordedPart], plan: Plan, options: Options) -> dict[str, list[Verdict]]:
    """The verdicts of all cases by task id, in the tasks' order."""
    planned = parts_of(plan.tasks, len(parts))
    tasks = {task.id: task for task in plan.tasks}
    found: dict[str, dict[int, Verdict]] = {name: {} for name in tasks}
    for part, places in zip(parts, planned, strict=True):
        left = {name: set(positions) for name, positions in places.items()}
        for name, positions, columns in lines_of(part):
            if not positions or not left.get(name, set()).issuperset(positions) or len(set(positions)) < len(positions):
                raise part.wrong(f"{REPLIES} has cases of {name!r} that are not of this part, or has them twice")
            left[name].difference_update(positions)
            batch = Batch(task=tasks[name], positions=positions, ties=options.ties)
            found[name].update(zip(positions, _judged(part, batch, columns), strict=True))
        lacking = sum(map(len, left.values()))
        if lacking:
            raise part.wrong(f"{REPLIES} lacks {lacking:,} of the cases of part {part.number} of {part.of}")
    return {name: [some[place] for place in sorted(some)] for name, some in found.items()}


def _judged(part: RecordedPart, batch: Batch, columns: Mapping[str, Any]) -> Sequence[Verdict]:
    try:
        return judge(batch, unpack(read_rows(columns, batch), batch))
    except ValueError as error:
        raise part.wrong(f"{REPLIES}: the case at {batch.positions[0]} of {batch.task.id}: {error}") from None
