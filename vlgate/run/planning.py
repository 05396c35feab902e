"""The plan of a run: which tasks it asks, which of their cases, and which cases each pytest item holds."""

import re
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.asking.items import hashed_cases
from vlgate.audit.label_fixes import KNOWN, applied, read_disputes, reported
from vlgate.errors import OptionError, ThresholdsError, UnknownNameError, UnknownTaskError, VlgateError
from vlgate.gates.thresholds import Thresholds, read_thresholds
from vlgate.record.options import Options, known_protocols
from vlgate.run.census import partly_missing
from vlgate.run.sampling import part_of, quick_sample
from vlgate.run.together import asked_together
from vlgate.seeds import generator
from vlgate.sources.data_folders import another_folder, own_cases
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.reading.text_files import collector_paused
from vlgate.sources.registry import SOURCES, read_tasks, shapes
from vlgate.types import UNDRAWN, Batch, Shape, Task

PAIRS_AT_MOST = 2000  # with more cases, items are batches: each item costs 0.45 ms, with Allure 1.4 ms and 2 files
CASES_A_BATCH = 256
EMBEDDED = "scenes"
NAMED_ONLY = frozenset(("counterfactual",))
"""The benchmarks without data that are asked only if ``--suite`` names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    tasks: tuple[Task, ...]
    batches: Mapping[str, Batch]
    empty: tuple[Task, ...] = ()
    notes: tuple[str, ...] = ()

    def of_capability(self, capability: str) -> dict[str, Batch]:
        return {name: batch for name, batch in self.batches.items() if batch.task.capability == capability}


def refuse_files(data: Sequence[Path]) -> None:
    for folder in data:
        if not folder.is_dir():
            known = another_folder([folder] if folder.is_file() else [])
            remedy = known or "name one that holds valse/, cases.jsonl, ..."
            raise OptionError(f"--data {folder}: is not a folder; {remedy}")


def known_tasks(options: Options) -> dict[str, Shape]:
    refuse_files(options.data)
    known = shapes(options.data)
    for pattern in options.suite:
        if not any(fnmatchcase(task, pattern) for task in known):
            raise UnknownNameError("task in --suite", pattern, known, without_folder(options, pattern))
    for protocol in sorted(options.protocols):
        if protocol not in known_protocols():
            raise UnknownNameError("protocol", protocol, known_protocols())
    return known


def read_gates(options: Options) -> Thresholds:
    known = known_tasks(options)  # first: a wrong --data or --suite makes the user's own tasks unknown
    if options.thresholds is None:
        return Thresholds(file=Path("thresholds.toml"), rules=(), require=())
    try:
        return read_thresholds(options.thresholds, known)
    except UnknownTaskError as error:
        raise ThresholdsError(f"{error}{without_folder(options, error.task)}") from None


def without_folder(options: Options, task: str) -> str:
    if task.partition("/")[0] in SOURCES:
        return ""
    if options.data:
        return f" ({another_folder(options.data) or own_cases(options.data)})"
    return " (no data folder was given: name the one with your tasks with --data DIR or VLGATE_DATA)"


@collector_paused()
def make_plan(options: Options) -> Plan:
    known = known_tasks(options)
    wanted = frozenset(task for task in known if is_wanted(task, options))
    given = {name: getattr(options, name) for name in ("seed", "protocols", "pairs", "missing_images")}
    read = read_tasks(ReadOptions(folders=options.data, wanted=wanted.__contains__, **given))
    corrected, notes = applied(read, read_disputes(options.disputes), known)
    notes += () if KNOWN in options.disputes else reported(read)
    drawn = [task for task in corrected if task.cases]
    if options.quick:
        drawn = [quick_sample(task, f"{options.seed}:quick:{task.id}") for task in drawn]
    tasks = tuple(sample(task, options.limit, f"{options.seed}:limit:{task.id}") for task in drawn)
    empty = tuple(task for task in corrected if not task.cases)
    if options.ask == "together" and tasks:
        tasks, note = asked_together(tasks, options.seed)
        notes += (note,)
    for pattern in options.suite or ("*",):
        if not any(fnmatchcase(task.id, pattern) for task in tasks):
            first = next((task for task in empty if fnmatchcase(task.id, pattern)), None)
            why = [] if first is None else empty_lines([first])
            if first is None or not first.note:
                why.append(_nothing(options, pattern, wanted, tasks))
            raise OptionError("; ".join(why))
    notes += partly_missing(tasks)
    return Plan(tasks=tasks, batches=_batches(tasks, options), empty=empty, notes=notes)


def empty_lines(tasks: Sequence[Task]) -> list[str]:
    lines = []
    for task in tasks:
        counts = [f"{number:,} x {reason}" for reason, number in task.left_out.items() if number]
        reasons = "; ".join([*([task.note] if task.note else []), *counts])
        lines.append(f"{task.id}: no cases: {reasons or 'its files hold no record for it'}")
    return lines


def is_wanted(task: str, options: Options) -> bool:
    if options.suite:
        return any(fnmatchcase(task, pattern) for pattern in options.suite)
    return wanted_by_default(task, data=bool(options.data))


def wanted_by_default(task: str, *, data: bool) -> bool:
    """Return whether a run without ``--suite`` asks a task, with or without data folders.

    >>> wanted_by_default("scenes/relations", data=False), wanted_by_default("counterfactual/questions", data=False)
    (True, False)
    """
    benchmark = task.partition("/")[0]
    return benchmark not in NAMED_ONLY and (benchmark == EMBEDDED) != data


def _nothing(options: Options, pattern: str, wanted: Collection[str], tasks: Sequence[Task]) -> str:
    folders = f"in {', '.join(map(str, options.data))}" if options.data else "because no data folder was given"
    remedy = "name the folder that holds them with --data DIR or VLGATE_DATA"
    if tasks:  # of other patterns
        others = ", ".join(one for one in options.suite if any(fnmatchcase(task.id, one) for task in tasks))
        remedy = f"leave {pattern} out of --suite, or {remedy}"
        return f"found no data for {pattern} {folders}, only for {others}; {remedy}"
    benchmarks = sorted({task.partition("/")[0] for task in wanted})
    what = pattern if options.suite else f"any of {', '.join(benchmarks)}, and no cases.jsonl of your own"
    return f"there is nothing to ask: found no data for {what} {folders}; {another_folder(options.data) or remedy}"


def sample(task: Task, limit: int | None, name: str) -> Task:
    n = len(task.cases)
    if limit is None or n <= limit:
        return task
    random = generator(name)
    kept = np.sort(random.choice(n, size=limit, replace=False))
    left_out = {**task.left_out, f"{UNDRAWN}limit {limit}": n - limit}
    return replace(task, cases=tuple(task.cases[place] for place in kept), left_out=left_out)


def subjects(plan: Plan, options: Options) -> dict[str, Batch]:
    batches: dict[str, Batch] = {}
    for task in plan.tasks:
        some = sample(task, options.shrink_cases, f"{options.seed}:shrink:{task.id}")
        for position, case in enumerate(some.cases):
            name = _unused(f"shrink:{task.id}:{case.id}", batches)
            batches[name] = Batch(task=some, positions=(position,), ties=options.ties)
    return batches


def _batches(tasks: Sequence[Task], options: Options) -> dict[str, Batch]:
    total = sum(len(task.cases) for task in tasks)
    single = options.items == "pair" or (options.items == "auto" and total <= PAIRS_AT_MOST)
    part = None if options.shard is None else part_of(tasks, options.shard)
    batches: dict[str, Batch] = {}
    for task in tasks:
        # Cases about one image are near each other: it is then in one batch, and encoded once.
        own = range(len(task.cases)) if part is None else part[task.id]
        hashed = hashed_cases([task.cases[place] for place in own], options.seed)
        order = array("i", (own[place] for place in hashed))  # 4 bytes each, in slices too
        size = 1 if single else CASES_A_BATCH
        for start in range(0, len(order), size):
            positions = tuple(order[start : start + size]) if single else order[start : start + size]
            name = task.cases[positions[0]].id if single else f"{start}-{start + len(positions) - 1}"
            batches[_unused(f"{task.id}:{name}", batches)] = Batch(task=task, positions=positions, ties=options.ties)
    return batches


def plain_id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.,:+/#@-]", "_", name)


def _unused(name: str, taken: Mapping[str, Batch]) -> str:
    plain = plain_id(name)
    number, unused = 2, plain
    while unused in taken:
        number, unused = number + 1, f"{plain}~{number}"
    return unused


def tasks_again(
    figures: Mapping[str, Any], environment: Mapping[str, Any], data: Sequence[Path] = ()
) -> tuple[tuple[Task, ...], str]:
    known = environment.get("options", {})
    if not known:
        return (), "environment.json is not there or names no options, so the images cannot be found again"
    options = Options(
        folder=Path(known["folder"]),
        suite=tuple(figures["tasks"]),
        data=tuple(data) or tuple(Path(folder) for folder in known["data"]),
        pairs=known["pairs"],
        missing_images="skip",
        protocols=frozenset(known["protocols"]),
        ask=known.get("ask", "apart"),
        seed=figures["run"]["seed"],
        thresholds=None,
        results=Path(),
    )
    try:
        return make_plan(options).tasks, ""
    except VlgateError as error:
        return (), f"the images cannot be found again: {error}"
