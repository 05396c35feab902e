"""Join the parts of a run: they belong together, their replies are judged, and the gates decided once."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.asking.checks.check import Check
from vlgate.errors import OptionError
from vlgate.gates.records import Decision
from vlgate.judging.verdicts import judge
from vlgate.metrics.names import CONTROLLED
from vlgate.record.comparison import FinishedRun
from vlgate.record.digests import digest, thresholds_digests
from vlgate.record.folder import REPLIES, RecordedPart, lines_of
from vlgate.record.model_card import card_from
from vlgate.record.options import Options
from vlgate.record.replies import read_rows, unpack
from vlgate.record.results import EndedRun, of_yes_or_no
from vlgate.record.run_gates import failed_checks
from vlgate.run.concluding import conclude, refuse_gates
from vlgate.run.loading import merged
from vlgate.run.planning import Plan, empty_lines, make_plan, read_gates
from vlgate.run.sampling import parts_of
from vlgate.types import Batch, Verdict

ALIKE = tuple("model suite limit quick pairs seed ask ties missing_images protocols dtype compiled health".split())
"""The options that all parts have in common: the others change neither what is asked nor how it is judged."""
_OWN = frozenset({"pytest", "pytest-xdist", "allure-pytest", "hypothesis"})
"""Packages that no reply and no figure depends on."""
_SORTED = ("suite", "protocols")
_JUDGE_WITH = "name the file to judge with by --thresholds"
_REMEDIES = (
    ("plan", "the ids, texts, truths or images of the cases differ: give all machines the same data and options"),
    ("images", "the files differ in size, or some are missing on one machine: give all machines the same files"),
    ("thresholds", _JUDGE_WITH),
    ("must_hold", _JUDGE_WITH),
)


def in_order(parts: Sequence[RecordedPart], *, thresholds: bool) -> list[RecordedPart]:
    ordered = sorted(parts, key=lambda part: part.number)
    _refuse_count(ordered)
    for part in ordered:
        if part.content["vlgate"] != __version__:
            problem = f"is of vlgate {part.content['vlgate']}, this is {__version__}"
            raise part.wrong(problem, "install the version that asked the parts")
        if not part.content["complete"]:
            raise part.wrong(f"part {part.number} of {part.of} is incomplete ({part.content['why']})")
    for part in ordered[1:]:
        _refuse_other(ordered[0], part, thresholds=thresholds)
    return ordered


def _refuse_count(parts: Sequence[RecordedPart]) -> None:
    first = parts[0]
    for part in parts[1:]:
        if part.of != first.of:
            problem = f"is part {part.number} of {part.of}, but {first.named} is part {first.number} of {first.of}"
            raise part.wrong(problem, "name the parts of one run")
    for one, other in pairwise(parts):
        if one.number == other.number:
            problem = f"{one.named} and {other.named} are both part {one.number} of {one.of}"
            raise OptionError(f"{problem}; name each part once")
    missing = sorted(set(range(1, first.of + 1)) - {part.number for part in parts})
    if missing:
        which = f"part{'s' if len(missing) > 1 else ''} {', '.join(map(str, missing[:10]))}"
        more = f" and {len(missing) - 10} more" if len(missing) > 10 else ""
        named = ", ".join(part.named for part in parts[:10])
        again = f"run the suite with --shard={missing[0]}/{first.of} and name its results folder, too"
        raise OptionError(f"{which}{more} of {first.of} missing beside {named}; {again}")


def _refuse_other(first: RecordedPart, part: RecordedPart, *, thresholds: bool) -> None:
    model, other = first.content["model"], part.content["model"]
    for name in ("name", "fingerprint"):
        if model[name] != other[name]:
            said = f"asked another model than {first.named}: {name} {_short(other[name])}, there {_short(model[name])}"
            raise part.wrong(said, f"ask all parts of the same model, and run this one again with {part.shard}")
    _refuse_unlike(first, part, "has other options than", _options)
    for name, remedy in _REMEDIES if thresholds else _REMEDIES[:2]:
        if first.content["digests"][name] != part.content["digests"][name]:
            raise part.wrong(f"has other {'cases' if name == 'plan' else name} than {first.named}", remedy)
    _refuse_unlike(first, part, "ran with other versions than", _packages)


def _refuse_unlike(
    first: RecordedPart, part: RecordedPart, how: str, of: Callable[[RecordedPart], Mapping[str, Any]]
) -> None:
    mine, there = of(first), of(part)
    differ = [name for name in sorted({*mine, *there}) if mine.get(name) != there.get(name)]
    if differ:
        settings = ", ".join(f"{name}={there.get(name)!r}, there {mine.get(name)!r}" for name in differ)
        raise part.wrong(
            f"{how} {first.named}: {settings}", f"run one of the two again, as {part.shard} or {first.shard}"
        )


def _options(part: RecordedPart) -> dict[str, Any]:
    given = part.content["environment"]["options"]
    options = {name: given.get(name) for name in ALIKE}
    lists = {name: sorted(set(options[name])) for name in _SORTED if isinstance(options[name], Iterable)}
    return options | lists


def _packages(part: RecordedPart) -> dict[str, Any]:
    packages = part.content["environment"]["packages"]
    return {name: version for name, version in packages.items() if name not in _OWN}


def _short(text: str) -> str:
    return repr(text if len(text) <= 12 else f"{text[:12]}...")


def without_controls(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    # A control is asked about a sample of the judged cases of the whole run, which no part knows
    made = []
    for decision in decisions:
        metric = decision.gate.metric
        if metric in CONTROLLED and decision.outcome == "inconclusive":
            control = CONTROLLED[metric]
            lacks = f"the control {control} has no {metric} of this task, because parts of a run ask no control"
            remedy = f"judge this gate in a run without --shard, with --controls {control}"
            why = f"{lacks}; {remedy}, and name a --thresholds file without it here"
            made.append(replace(decision, why=why, step=None))
        else:
            made.append(decision)
    return tuple(made)


_WORST = ("failed", "suspect", "ok", "not applicable")


def join(
    parts: Sequence[RecordedPart], options: Options, earlier: FinishedRun | None = None, *, own_thresholds: bool = False
) -> EndedRun:
    thresholds, first = read_gates(options), parts[0]
    if not own_thresholds:
        made = thresholds_digests(thresholds)
        if any(first.content["digests"][name] != digest for name, digest in made.items()):
            problem = f"{thresholds.file} is not what it was when the part ran"
            raise first.wrong(problem, _JUDGE_WITH)
    plan = make_plan(options)
    if not _asked_these(first, plan):
        raise _other_cases(first, options)
    refuse_gates(plan.tasks, thresholds, options, earlier)
    verdicts = _verdicts(parts, plan, options)
    result = conclude(plan.tasks, verdicts, thresholds, options, (), earlier)
    cards = [card_from(part.content["model"]) for part in parts]
    card = replace(merged(cards, options.model), checks=joined_checks([card.checks for card in cards]))
    result = replace(
        of_yes_or_no(result) if card.yes_or_no else result,
        decisions=(*failed_checks(card, cards, thresholds), *without_controls(result.decisions)),
        notes=(*result.notes, *empty_lines(plan.empty), *plan.notes),
        tests=next((status for part in parts if (status := part.content["status"])), 0),
    )
    workers = sum(part.content["workers"] for part in parts)
    return EndedRun(result=result, card=card, options=options, tasks=plan.tasks, workers=workers)


def _asked_these(part: RecordedPart, plan: Plan) -> bool:
    return bool(f"blake2b:{digest(plan.tasks)}" == part.content["digests"]["plan"])


def _other_cases(part: RecordedPart, options: Options) -> OptionError:
    where = ", ".join(map(str, options.data)) or "the drawn scenes"
    theirs = tuple(map(Path, part.content["environment"]["options"]["disputes"]))
    if theirs == options.disputes == ():
        return part.wrong(f"asked other cases than those of {where}", "name the same data with --data DIR")
    named, here = (", ".join(map(str, files)) or "none" for files in (theirs, options.disputes))
    remedy = "name the same files with --disputes FILE, as they were when the part ran"
    others = theirs != options.disputes and all(file.is_file() for file in theirs)
    if others and _asked_these(part, make_plan(replace(options, disputes=theirs))):
        return part.wrong(f"was asked with other disputes: {named}; these are {here}", remedy)
    problem = f"asked other cases than those of {where} with the disputes {here} (its own: {named})"
    return part.wrong(problem, f"name the same data with --data DIR, and {remedy}")


def joined_checks(checks: Sequence[Sequence[Check]]) -> tuple[Check, ...]:
    names = dict.fromkeys(check.name for some in checks for check in some)
    by_name = {name: [check for some in checks for check in some if check.name == name] for name in names}
    return tuple(min(some, key=lambda check: _WORST.index(check.outcome)) for some in by_name.values())


def _verdicts(parts: Sequence[RecordedPart], plan: Plan, options: Options) -> dict[str, list[Verdict]]:
    planned = parts_of(plan.tasks, len(parts))
    tasks = {task.id: task for task in plan.tasks}
    verdicts: dict[str, dict[int, Verdict]] = {name: {} for name in tasks}
    for part, places in zip(parts, planned, strict=True):
        left = {name: set(positions) for name, positions in places.items()}
        for name, positions, columns in lines_of(part):
            if not positions or not left.get(name, set()).issuperset(positions) or len(set(positions)) < len(positions):
                raise part.wrong(f"{REPLIES} has cases of {name!r} that are not of this part, or has them twice")
            left[name].difference_update(positions)
            batch = Batch(task=tasks[name], positions=positions, ties=options.ties)
            try:
                judged = judge(batch, unpack(read_rows(columns, batch), batch))
            except ValueError as error:
                raise part.wrong(f"{REPLIES}: the case at {positions[0]} of {name}: {error}") from None
            verdicts[name].update(zip(positions, judged, strict=True))
        lacking = sum(map(len, left.values()))
        if lacking:
            raise part.wrong(f"{REPLIES} lacks {lacking:,} of the cases of part {part.number} of {part.of}")
    return {name: [some[place] for place in sorted(some)] for name, some in verdicts.items()}
