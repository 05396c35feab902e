"""The journal of a run that died holds all replies that were reported."""

import json
import time

import numpy as np
import pytest

from vlgate.errors import DataError
from vlgate.judging.verdicts import judge
from vlgate.report.journal import Journal, read_journal
from vlgate.run.rows import pack
from vlgate.types import Batch, Case, LazyImage, Match, Prediction, Task

N = 1000


@pytest.fixture(scope="module")
def task():
    def case(number):
        picture = LazyImage(key=f"{number}.jpg", load=None)
        pair = tuple(Match(image=picture, text=f"{words} {number} dogs") for words in ("There are", "There are no"))
        return Case(id=str(number), requests=pair, truths=(True, False), origin="here")

    return Task(id="own/dogs", capability="foil", shape="pair", cases=tuple(map(case, range(N))))


@pytest.fixture(scope="module")
def batches(task):
    parts = {start: tuple(range(start, start + 250)) for start in range(0, N, 250)}
    return {f"own/dogs:{start}": Batch(task=task, positions=part, ties="strict") for start, part in parts.items()}


def verdicts_of(batch):
    scores = np.random.default_rng(batch.positions[0]).normal(size=2 * len(batch.positions)).tolist()
    requests = [request for case in batch.cases for request in case.requests]
    replies = {r: Prediction(request=r, score=s, accepted=s > 0) for r, s in zip(requests, scores, strict=True)}
    replies[requests[3]] = Prediction(request=requests[3], problem="half \ud800", skipped=True)
    return judge(batch, replies)


@pytest.fixture
def journal(tmp_path, batches):
    written = Journal(tmp_path / "journal.jsonl", "random")
    for name, batch in batches.items():
        written.add(f"tests_vl/test_foil.py::test_foil[{name}]", name, pack(verdicts_of(batch)))
    written.close(remove=False)
    return tmp_path / "journal.jsonl"


def test_the_verdicts_come_back_as_they_were(journal, batches):
    expected = [verdict for batch in batches.values() for verdict in verdicts_of(batch)]
    assert read_journal(journal, batches) == {"own/dogs": expected}


def test_a_last_line_that_is_cut_off_is_left_out(journal, batches):
    journal.write_bytes(journal.read_bytes()[:-7])
    assert len(read_journal(journal, batches)["own/dogs"]) == N - 250


def test_the_last_rows_of_a_test_count(tmp_path, batches):
    again = Journal(tmp_path / "again.jsonl", "random")
    name, batch = next(iter(batches.items()))
    ties = {request: Prediction(request=request, score=1.0) for case in batch.cases for request in case.requests}
    for part in (verdicts_of(batch), judge(batch, ties)):
        again.add("t", name, pack(part))
    again.close(remove=False)
    [found] = read_journal(tmp_path / "again.jsonl", batches).values()
    assert not any(verdict.right for verdict in found)
    assert len(found) == 250


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: lines[1:], "line 1.*journal"),
        (lambda lines: [lines[0], "[" * 100_000, *lines[1:]], "line 2.*object"),
        (lambda lines: [lines[0], lines[1][:40], *lines[2:]], "line 2.*object"),
        (lambda lines: [line.replace("own/dogs:250", "own/cats:250") for line in lines], "line 3.*own/cats:250"),
        (lambda lines: [lines[0], json.dumps({"batch": "own/dogs:0", "rows": {"scores": [1.0]}})], "line 2.*500"),
        (lambda lines: [lines[0], json.dumps({"batch": "own/dogs:0", "rows": None})], "line 2.*500"),
    ],
    ids=["head", "nested", "cut", "plan", "number", "null"],
)
def test_a_journal_of_another_plan_or_with_a_broken_line_is_refused(journal, batches, change, says):
    lines = change(journal.read_text().splitlines())
    journal.write_text("\n".join([*lines, ""]))
    with pytest.raises(DataError, match=f"journal.jsonl.*{says}"):
        read_journal(journal, batches)


def test_a_journal_costs_little(tmp_path, batches):
    rows = {name: pack(verdicts_of(batch)) for name, batch in batches.items()}
    written = Journal(tmp_path / "journal.jsonl", "random")

    def seconds():
        start = time.process_time()
        for name, some in rows.items():
            written.add("tests_vl/test_foil.py::test_foil", name, some)
        return time.process_time() - start

    found = min(seconds() for _ in range(10)) / N
    written.close(remove=True)
    assert found < 5e-6
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_the_journal_and_not_the_run(tmp_path, batches):
    written = Journal(tmp_path / "nowhere" / "journal.jsonl", "random")
    for name, batch in batches.items():
        written.add("t", name, pack(verdicts_of(batch)))
    assert "journal.jsonl" in written.problem
    written.close(remove=True)
