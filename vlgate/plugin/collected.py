"""What tests hand in and report: the ledger of a test, the replies of a session, and pytest's counts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from vlgate.errors import printable, short
from vlgate.gates.records import Decision, Gate
from vlgate.judging.judged import Verdicts, causes, in_order, verdicts_of
from vlgate.record.options import Options
from vlgate.record.replies import UNASKED, Rows, pack, unpack, unreplied
from vlgate.types import Batch, Task, Verdict

if TYPE_CHECKING:
    from vlgate.probes.shrink.search import Search


_SHOWN = 5  # the most causes in a failure's message
VERDICTS = pytest.StashKey[Sequence[Verdict]]()
SEARCH = pytest.StashKey["Search"]()


class ItemLedger:
    def __init__(self, item: pytest.Item, given: Callable[[], object]) -> None:
        self.item = item
        self.given = given

    def record(self, verdicts: Sequence[Verdict]) -> None:
        # A case that the model gets wrong is a result, not a failure
        _check_asked(self.item, self.given())
        self.item.stash[VERDICTS] = verdicts
        table = verdicts_of(verdicts)
        unscored = table.states.count("unscored")
        if unscored and len(verdicts) == 1:
            pytest.fail(table.why(0), pytrace=False)
        if unscored:
            lines = [f"{unscored} of {len(verdicts)} cases could not be scored"]
            by_cause = causes([table])
            for cause in by_cause[:_SHOWN]:
                number = len(cause.reasons)
                first = cause.example if number == 1 else f"{number} cases, the first is {cause.example}"
                lines.append(f"{first}: {cause.sentence}")
            lines += [f"and {len(by_cause) - _SHOWN} more causes"] if len(by_cause) > _SHOWN else []
            pytest.fail("\n".join(lines), pytrace=False)
        if all(state == "skipped" for state in table.states):
            pytest.skip("image missing")


class ItemSearch:
    def __init__(self, item: pytest.Item, options: Options, given: Callable[[], object]) -> None:
        self.item = item
        self.budget = options.shrink_budget
        self.families = options.shrink_edits
        self.seed = options.seed
        self.given = given

    def record(self, search: Search) -> None:
        # A change that breaks the case is a result, not a failure; so is a case that is wrong without a change
        _check_asked(self.item, self.given())
        self.item.stash[SEARCH] = search
        if search.ending == "unscored":
            pytest.fail(search.original.why, pytrace=False)
        if search.ending == "skipped":
            pytest.skip(search.note or "image missing")


def _check_asked(item: pytest.Item, given: object) -> None:
    used = getattr(item, "funcargs", {}).get("model", given)
    if given is None or used is not given:
        message = "the fixture 'model' is not vlgate's, so the replies are not those of the model of --model"
        pytest.fail(f"{message}; a conftest.py defines a fixture of the same name: rename it", pytrace=False)


# What the tests reported, by the id of each test; no other module knows which cases have a reply.


class Collected:
    def __init__(self) -> None:
        self.expected: dict[str, Batch] = {}
        self.rows: dict[str, Rows] = {}
        self.verdicts: dict[str, Sequence[Verdict]] = {}
        self.tables: dict[str, Verdicts] = {}  # of the tasks whose tests are joined, in place of their verdicts
        self.failures: dict[str, str] = {}
        self.strays: list[str] = []
        self.others: list[str] = []

    def expect(self, nodeids: Iterable[str], batches: Mapping[str, Batch]) -> None:
        for nodeid in nodeids:
            name = batch_name(nodeid)
            if name in batches:
                self.expected[nodeid] = batches[name]

    def take(self, report: pytest.TestReport, plan: Callable[[], str]) -> int:
        rows = rows_of(report)
        if report.nodeid not in self.expected:
            self.strays += [report.nodeid] if rows is not None else []
            return 0
        known = report.nodeid in self.rows or report.nodeid in self.failures
        if rows is not None and rows["plan"] and rows["plan"] != plan():
            self.others.append(_sender(report))
            self.failures.setdefault(report.nodeid, _other_data(_sender(report)))
        elif rows is not None:
            self.rows[report.nodeid] = rows
        elif report.failed and report.nodeid not in self.rows:
            self.failures.setdefault(report.nodeid, failure_line(report))
        done = rows is not None or report.failed
        return len(self.expected[report.nodeid].positions) if done and not known else 0

    def replies(self) -> Iterator[tuple[Batch, Rows]]:
        for nodeid, batch in self.expected.items():
            yield batch, pack(self.of_test(nodeid))

    def unreported(self, nodeid: str) -> bool:
        return nodeid not in self.rows and nodeid not in self.verdicts and nodeid not in self.failures

    def of_task(self, task: Task) -> Sequence[Verdict]:
        nodeids = {nodeid: batch for nodeid, batch in self.expected.items() if batch.task.id == task.id}
        parts = [verdicts_of(self.of_test(nodeid)) for nodeid in nodeids]
        positions = array("i", (position for batch in nodeids.values() for position in batch.positions))
        table = in_order(parts, positions, task.cases)
        if len(table) == len(positions) == len(task.cases):  # the row of each case is its position
            self.tables[task.id] = table
            self.verdicts = {nodeid: part for nodeid, part in self.verdicts.items() if nodeid not in nodeids}
        return table

    def integrity_failures(self) -> list[Decision]:
        asked: dict[tuple[str, bytes], str] = {}
        reasons: dict[str, str] = {}
        for nodeid, batch in self.expected.items():
            first = asked.setdefault((batch.task.id, array("i", batch.positions).tobytes()), nodeid)
            if first != nodeid:
                reasons[batch.task.id] = f"two tests ask the same cases: {first} and {nodeid}; leave one of them out"
        for nodeid in self.strays:
            reasons["?"] = f"the test {nodeid} reported replies, but it was not among the collected tests"
        twice = [
            Decision(gate=Gate(task=task, metric="asked-once"), outcome="fail", why=why)
            for task, why in reasons.items()
        ]
        if not self.others:
            return twice
        why = _other_data(", ".join(sorted(set(self.others))))
        return [*twice, Decision(gate=Gate(task="run", metric="same-data"), outcome="fail", why=why)]

    def of_test(self, nodeid: str) -> Sequence[Verdict]:
        from vlgate.judging.verdicts import judge

        if nodeid in self.verdicts:
            return self.verdicts[nodeid]
        batch = self.expected[nodeid]
        if batch.task.id in self.tables:
            return self.tables[batch.task.id].take(batch.positions)
        rows = self.rows.get(nodeid)
        why = self.failures.get(nodeid, UNASKED)
        return judge(batch, unreplied(batch, why) if rows is None else unpack(rows, batch))


def batch_name(nodeid: str) -> str:
    test = nodeid.rpartition(".py::")[2]
    return test.partition("[")[2].removesuffix("]")


def rows_of(report: pytest.TestReport) -> Rows | None:
    rows: Rows | None = getattr(report, "vlgate_rows", None)
    return rows


def _other_data(sender: str) -> str:
    return (
        f"{sender} read other data than the process that judges: the ids, texts, truths or images of the plan differ; "
        "the data or the code changed while the run started, so run it again"
    )


def _sender(report: pytest.TestReport) -> str:
    return f"the worker {getattr(report, 'worker_id', '?')}"


def failure_line(report: pytest.TestReport) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = (str(report.longrepr).strip().splitlines() or [""])[-1:] if crash is None else [str(crash.message)]
    return short(printable(lines[0]), 400) if lines[0].strip() else "the test failed without a message"


def count_cases(stats: dict[str, list[Any]]) -> None:
    right, missed = [], []
    for status in ("passed", "missed", "failed"):
        for report in stats.get(status, []):
            rows = rows_of(report)
            if rows is None:
                right += [report] if status == "passed" else []
                continue
            right += [report] * (rows["judged"] - rows["missed"])
            missed += [report] * rows["missed"]
    stats.update({status: reports for status, reports in (("passed", right), ("missed", missed)) if reports})
