"""What a run will ask: which tables, which of their cases, and what each pytest item holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from hashlib import sha256

import numpy as np

from vlgate.errors import OptionError, UnknownNameError
from vlgate.metrics.variants import VARIANTS
from vlgate.options import Options
from vlgate.sources.registry import PROTOCOLS, read_tables, shapes
from vlgate.types import Batch, Case, Read, Reading, Table

PAIRS_AT_MOST = 2000  # above it an item is a batch: an item costs 0.45 ms in pytest, 1.4 ms and two files in Allure
CASES_A_BATCH = 256
EMBEDDED = "scenes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The tables of a run, and its batches by the id that their pytest items carry."""

    tables: tuple[Table, ...]
    batches: Mapping[str, Batch]

    def of_capability(self, capability: str) -> dict[str, Batch]:
        """The batches of one capability's tables, by id."""
        return {name: batch for name, batch in self.batches.items() if batch.table.capability == capability}


def make_plan(options: Options) -> Plan:
    """Read the wanted tables and cut them into batches.

    Returns: the same plan for the same options, in every process.
    Raises: OptionError or UnknownNameError where the options name nothing that is there; DataError from the sources.
    """
    for folder in options.data:
        if not folder.is_dir():
            raise OptionError(f"--data {folder}: is no folder; name the one that holds valse/, images/, ...")
    known = shapes(options.data)
    for pattern in options.suite:
        if not any(fnmatchcase(table, pattern) for table in known):
            raise UnknownNameError("table in --suite", pattern, known)
    for protocol in options.protocols:
        if protocol not in known_protocols():
            raise UnknownNameError("protocol", protocol, known_protocols())
    wanted = frozenset(table for table in known if _wanted(table, options))
    reading = Reading(
        folders=options.data,
        seed=options.seed,
        wanted=wanted.__contains__,
        protocols=options.protocols,
        pairs=options.pairs,
    )
    tables = tuple(
        sample(table, options.limit, f"{options.seed}:limit:{table.id}")
        for table in read_tables(reading)
        if table.cases
    )
    for pattern in options.suite or ("*",):
        if not any(fnmatchcase(table.id, pattern) for table in tables):
            raise OptionError(_nothing(options, pattern, wanted))
    return Plan(tables=tables, batches=_batches(tables, options))


def known_protocols() -> dict[str, str]:
    """What ``--protocol`` takes, with a word on each: ways to read a benchmark, and variants of its metrics."""
    return {**PROTOCOLS, **{name: variant.about for name, variant in VARIANTS.items()}}


def _wanted(table: str, options: Options) -> bool:
    if options.suite:
        return any(fnmatchcase(table, pattern) for pattern in options.suite)
    return (table.partition("/")[0] == EMBEDDED) != bool(options.data)


def _nothing(options: Options, pattern: str, wanted: Collection[str]) -> str:
    folders = ", ".join(map(str, options.data)) or "no data folder was given"
    benchmarks = sorted({table.partition("/")[0] for table in wanted})
    what = pattern if options.suite else "any of " + ", ".join(benchmarks)
    return (
        f"there is nothing to ask: no data for {what} ({folders}); "
        "name the folder that holds it with --data DIR or VLGATE_DATA"
    )


def sample(table: Table, limit: int | None, name: str) -> Table:
    """A seeded sample of at most ``limit`` cases, in the table's own order; what is left out is counted.

    Args:
        table: to draw from.
        limit: the most cases to keep; None for all.
        name: seeds the draw.
    """
    n = len(table.cases)
    if limit is None or n <= limit:
        return table
    random = np.random.default_rng(int.from_bytes(sha256(name.encode()).digest()[:8], "big"))
    kept = np.sort(random.choice(n, size=limit, replace=False))
    left_out = {**table.left_out, f"beyond --limit {limit}": n - limit}
    return replace(table, cases=tuple(table.cases[place] for place in kept), left_out=left_out)


def subjects(plan: Plan, options: Options) -> dict[str, Batch]:
    """The cases whose smallest breaking change is looked for: a seeded sample of each table, one case a batch, by id.

    The ids begin with ``shrink:``, which no table's do: these cases are not asked for the figures' sake.
    """
    found: dict[str, Batch] = {}
    for table in plan.tables:
        some = sample(table, options.shrink_cases, f"{options.seed}:shrink:{table.id}")
        for position, case in enumerate(some.cases):
            name = _unused(f"shrink:{table.id}:{case.id}", found)
            found[name] = Batch(table=some, positions=(position,), ties=options.ties)
    return found


def _batches(tables: Sequence[Table], options: Options) -> dict[str, Batch]:
    total = sum(len(table.cases) for table in tables)
    single = options.items == "pair" or (options.items == "auto" and total <= PAIRS_AT_MOST)
    found: dict[str, Batch] = {}
    for table in tables:
        # A picture's cases stand together, so that it is encoded once.
        order = sorted(range(len(table.cases)), key=lambda place: _picture(table.cases[place]))
        size = 1 if single else CASES_A_BATCH
        for start in range(0, len(order), size):
            positions = tuple(order[start : start + size])
            name = table.cases[positions[0]].id if single else f"{start}-{start + len(positions) - 1}"
            found[_unused(f"{table.id}:{name}", found)] = Batch(table=table, positions=positions, ties=options.ties)
    return found


def _picture(case: Case) -> str:
    first = case.requests[0]
    return "" if isinstance(first, Read) else first.picture.key


def _unused(name: str, taken: Mapping[str, Batch]) -> str:
    """An id of printable characters that pytest keeps as it is."""
    plain = re.sub(r"[^A-Za-z0-9_.,:+/#@-]", "_", name)
    number, found = 2, plain
    while found in taken:
        number, found = number + 1, f"{plain}~{number}"
    return found
