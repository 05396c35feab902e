"""The journal of a run that died holds all replies that were reported."""

import json
import time
from zlib import crc32

import numpy as np
import pytest

from vlgate.errors import DataError
from vlgate.judging.verdicts import judge
from vlgate.record.replies import Journal, pack, read_journal
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
    found = read_journal(journal, batches)
    assert (found.verdicts, found.damaged) == ({"own/dogs": expected}, ())


def test_a_last_line_that_is_cut_off_is_left_out(journal, batches):
    journal.write_bytes(journal.read_bytes()[:-7])
    found = read_journal(journal, batches)
    assert (len(found.verdicts["own/dogs"]), found.damaged) == (N - 250, ())


def test_the_last_rows_of_a_test_count(tmp_path, batches):
    again = Journal(tmp_path / "again.jsonl", "random")
    name, batch = next(iter(batches.items()))
    ties = {request: Prediction(request=request, score=1.0) for case in batch.cases for request in case.requests}
    for part in (verdicts_of(batch), judge(batch, ties)):
        again.add("t", name, pack(part))
    again.close(remove=False)
    [found] = read_journal(tmp_path / "again.jsonl", batches).verdicts.values()
    assert not any(verdict.right for verdict in found)
    assert len(found) == 250


@pytest.mark.parametrize("line", range(5))
@pytest.mark.parametrize("where", ["mark", "checksum", "score", "end"])
def test_a_damaged_line_costs_itself_only(journal, batches, line, where):
    raw = bytearray(journal.read_bytes())
    start = [0, *(place + 1 for place, byte in enumerate(raw) if byte == 10)][line]
    end = raw.index(b"\n", start)
    raw[{"mark": start + 3, "checksum": start + 10, "score": end - 40, "end": end}[where]] ^= 4
    journal.write_bytes(raw)
    found = read_journal(journal, batches)
    lost = [] if line == 0 else list(batches)[line - 1 : line]
    cut_off = line == 4 and where == "end"  # as the last line of a run that died
    assert found.damaged == (() if cut_off else (line + 1,))
    kept = [verdict for name, batch in batches.items() if name not in lost for verdict in verdicts_of(batch)]
    assert found.verdicts == {"own/dogs": kept}


def test_a_journal_of_another_plan_is_refused(journal, batches):
    with pytest.raises(DataError, match=r"journal.jsonl.*line 3.*own/dogs:250"):
        read_journal(journal, {name: batch for name, batch in batches.items() if name != "own/dogs:250"})


@pytest.mark.parametrize("content", [b"", b"noise\n", b'{"journal":1,"model":"m"}\n', b"[" * 100_000 + b"\n"])
def test_a_file_without_a_record_is_refused(journal, batches, content):
    journal.write_bytes(content)
    with pytest.raises(DataError, match=r"journal.jsonl.*expected a journal of version 2"):
        read_journal(journal, batches)


def test_rows_of_other_batches_are_refused(journal, batches):
    first, *others = batches.values()
    smaller = Batch(task=first.task, positions=first.positions[:-1], ties="strict")
    with pytest.raises(DataError, match=r"line 2.*498 requests"):
        read_journal(journal, dict(zip(batches, [smaller, *others], strict=True)))


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


@pytest.mark.parametrize("column", ["scores", "answers", "accepted", "problems", "skipped", "cut", "neither", "plan"])
@pytest.mark.parametrize("value", ["gone", None, 7, "x", [], {}, [None], [True], [10**400], [float("nan")], [{}]])
def test_rows_with_a_right_checksum_and_a_wrong_column_are_read_or_refused(tmp_path, batches, column, value):
    name, batch = next(iter(batches.items()))
    rows = pack(verdicts_of(batch))
    rows[column] = value * len(rows["skipped"]) if isinstance(value, list) and value else value
    if value == "gone":
        del rows[column]
    with (tmp_path / "journal.jsonl").open("wb") as stream:
        for content in ({"journal": 2, "model": "m"}, {"test": "t", "batch": name, "rows": rows}):
            text = json.dumps(content, separators=(",", ":")).encode()
            stream.write(b'{"crc":"%08x",%s\n' % (crc32(text), text[1:]))
    harmless = column == "plan" or (value == "gone" and column not in ("scores", "problems"))
    harmless |= value == [None] and column in ("answers", "accepted")
    if (
        harmless
        or (column in ("skipped", "cut", "neither") and value == [True])
        or (column == "accepted" and value == [True])
    ):
        assert len(read_journal(tmp_path / "journal.jsonl", batches).verdicts["own/dogs"]) == 250
    else:
        with pytest.raises(DataError, match=r"journal\.jsonl, record on line 2: "):
            read_journal(tmp_path / "journal.jsonl", batches)
