"""The file of the replies: what was put is got, whatever happens to the file, to its disk or to a process."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from vlgate.asking.cache.folder import parsed_size
from vlgate.asking.cache.store import NAME, Store, connect, shrink

MODEL = "clip 0123456789ab float32"


def entries(n, *, size=40, start=0):
    return {number.to_bytes(16, "big"): (b"%d " % number).ljust(size, b".") for number in range(start, start + n)}


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path)
    yield opened
    opened.close()


def test_what_was_put_is_got_by_another_process_and_the_first_reply_stays(tmp_path):
    first, second = Store(tmp_path), Store(tmp_path)
    assert first.put(MODEL, entries(1200)) == {}
    assert second.get([*entries(1200), b"another key 1234"]) == entries(1200)
    key = b"k" * 16
    first.put(MODEL, {key: b"first"})
    assert second.put(MODEL, {key: b"second", b"n" * 16: b"new"}) == {key: b"first"}
    assert second.get([key]) == {key: b"first"}
    first.close(), second.close()


def test_a_damaged_record_costs_itself_only_and_one_under_another_key_is_not_a_reply(store):
    store.put(MODEL, entries(50))
    hurt = (7).to_bytes(16, "big")
    with connect(store.file) as other:
        other.execute("UPDATE replies SET value = replace(value, x'37', x'38') WHERE key = ?", (hurt,))
    other.close()
    assert store.get(list(entries(50))) == {key: value for key, value in entries(50).items() if key != hurt}
    assert "1 damaged records were removed" in store.problems[0]
    store.put(MODEL, {hurt: b"asked again"})
    assert store.get([hurt]) == {hurt: b"asked again"}
    store.put(MODEL, entries(2))
    one, other = entries(2)
    with connect(store.file) as opened:
        moved = opened.execute("SELECT value FROM replies WHERE key = ?", (one,)).fetchone()
        opened.execute("UPDATE replies SET value = ? WHERE key = ?", (*moved, other))
    opened.close()
    assert store.get([one, other]) == {one: entries(2)[one]}


def test_a_file_with_damaged_pages_gives_no_wrong_reply_and_is_set_aside_and_named(tmp_path):
    store = Store(tmp_path)
    store.put(MODEL, entries(4000, size=200))
    store.close()
    raw = bytearray(store.file.read_bytes())
    for page in range(100, 104):
        raw[page * 4096 : page * 4096 + 4096] = os.urandom(4096)
    store.file.write_bytes(raw)
    again = Store(tmp_path)
    assert again.get(list(entries(4000))).items() <= entries(4000, size=200).items()
    aside = [file.name for file in tmp_path.glob("*-damaged-*.sqlite")]
    assert len(aside) == len(again.problems) == 1
    assert f"set aside as {aside[0]}, and its requests asked again" in again.problems[0]
    again.put(MODEL, entries(3))
    assert again.get(list(entries(3))) == entries(3)
    again.close()


@pytest.mark.parametrize("content", [b"", b"garbage", os.urandom(50_000)], ids=["empty", "words", "noise"])
def test_a_file_that_is_no_cache_is_set_aside(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    store = Store(tmp_path)
    store.put(MODEL, entries(3))
    assert store.get(list(entries(3))) == entries(3)
    aside = [file for file in tmp_path.iterdir() if "-damaged-" in file.name]
    assert len(aside) == (1 if content else 0)
    assert bool(store.problems) == bool(content)
    store.close()


def test_a_cache_of_another_version_is_left_alone_and_without_permission_a_run_goes_on_without_one(tmp_path):
    other = tmp_path / "replies-v999.sqlite"
    other.write_bytes(b"of another version")
    store = Store(tmp_path)
    store.put(MODEL, entries(3))
    assert other.read_bytes() == b"of another version"
    assert store.problems == [f"{tmp_path} holds replies-v999.sqlite of another version of vlgate, which is not read"]
    store.close()
    (tmp_path / "file").write_text("not a folder")
    store = Store(tmp_path / "file" / "cache")
    assert store.put(MODEL, entries(3)) == {}
    assert store.get(list(entries(3))) == {}
    assert len(store.problems) == 1
    assert "so the model is asked everything" in store.problems[0]


@pytest.mark.parametrize(
    ("how", "says"), [("max_page_count=20", "database or disk is full"), ("query_only=ON", "readonly database")]
)
def test_a_disk_that_is_full_or_becomes_read_only_is_said_once_and_the_rest_stays_whole(
    tmp_path, monkeypatch, how, says
):
    monkeypatch.setattr("vlgate.asking.cache.store.os.access", lambda *_: "full" in says)
    store = Store(tmp_path)
    store.put(MODEL, entries(100))
    store._opened.execute(f"PRAGMA {how}")  # SQLite's own ways to meet such a disk
    for start in (1000, 5000):
        store.put(MODEL, entries(2000, start=start))
    assert len(store.problems) == 1
    assert says in store.problems[0]
    again = Store(tmp_path)
    assert again.get(list(entries(100))) == entries(100)
    assert again.get(list(entries(2000, start=1000))) == {}
    again.close()


def test_the_oldest_replies_make_room(tmp_path):
    store = Store(tmp_path, limit=400_000)
    for start in range(0, 20_000, 1000):
        store.put(MODEL, entries(1000, size=60, start=start))
    found = sorted(store.get(list(entries(20_000))))
    assert found, "nothing is left"
    newest = int.from_bytes(found[-1], "big")
    assert newest == 19_999
    assert [int.from_bytes(key, "big") for key in found] == list(range(newest - len(found) + 1, newest + 1))
    assert store.evicted == 20_000 - len(found)
    assert shrink(store._opened, 400_000) >= 0
    assert store.file.stat().st_size < 1_500_000
    store.close()


def _write_for_ever(folder, started):
    store = Store(folder)
    number = 0
    while True:
        store.put(MODEL, entries(50, start=number * 50))
        started.value = number = number + 1


def test_a_killed_writer_leaves_whole_transactions(tmp_path):
    method = multiprocessing.get_context("fork")
    for _ in range(int(os.environ.get("FAULT_POINTS", "2"))):
        counts = [method.Value("i", 0) for _ in range(2)]
        writers = [method.Process(target=_write_for_ever, args=(tmp_path, count)) for count in counts]
        for writer in writers:
            writer.start()
        deadline = time.monotonic() + 30
        while min(count.value for count in counts) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
    store = Store(tmp_path)
    done = max(count.value for count in counts) * 50
    assert done >= 250
    assert store.get(list(entries(done))) == entries(done)
    assert not store.problems
    with connect(store.file) as opened:
        assert opened.execute("SELECT count(*) FROM replies").fetchone()[0] % 50 == 0
        assert opened.execute("PRAGMA integrity_check").fetchone()[0] == b"ok"
    opened.close()
    store.close()


def test_a_busy_file_is_waited_for(store):
    other = sqlite3.connect(store.file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("COMMIT"))
    timer.start()
    store.put(MODEL, entries(3))
    timer.join()
    other.close()
    assert store.get(list(entries(3))) == entries(3)
    assert not store.problems


@pytest.mark.parametrize("text", ["", "0", "-1GB", "many", "nan", "5 parsecs", "5", "9.9MB"])
def test_a_size_that_is_none(text):
    with pytest.raises(ValueError, match=text or "could not convert"):
        parsed_size(text)


@pytest.mark.slow
def test_processes_that_make_a_file_at_the_same_moment_wait_for_each_other(tmp_path):
    code = "import sys, time; from pathlib import Path; from vlgate.asking.cache.store import connect\n"
    code += "time.sleep(max(0, float(sys.argv[1]) - time.time()))\n"
    code += "for n in range(20): connect(Path(f'{n}/replies.sqlite')).close()"
    command = [sys.executable, "-c", code, str(time.time() + 1)]
    started = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) for _ in range(4)]
    assert [one.communicate()[1] for one in started] == [b""] * 4
