"""Every reader takes mutants of its files with nothing but success or a VlgateError, in bounded time and memory.

``FUZZ_MUTANTS=5000 pytest tests/fuzz -n auto -rP`` reads 5,000 mutants per reader; by default it is a sample.
"""

import gc
import os
import resource
import signal
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from fuzz_mutants import mutant, put
from fuzz_readers import READERS

from vlgate.errors import VlgateError

STATM = Path("/proc/self/statm")
MUTANTS = int(os.environ.get("FUZZ_MUTANTS", "0"))
SAMPLE = 90
SECONDS = 10 if MUTANTS else 3
MEMORY = 2 << 30  # bytes of addresses beyond those that are in use
KEPT = {
    "own cases": (3311010975,),  # a path that is too long
    "graphs gqa": (1159958795,),  # a pipe, here and below
    "questions gqa": (2594216733,),
    "winoground zip": (3437725998,),
    "winoground parquet": (3777945974, 3777945990),  # a pipe; a link to itself
    "replay lines": (889675731, 889675960, 889676086, 889676121),
    "thresholds": (42566492, 42566617),  # a pattern of 20,000 brackets
    "detector yaml": (1957619819, 1957619849),  # 20,000 brackets
    "volta json": (1280220135, 1280220770, 1280221293),  # the last two: no attention heads, an infinite size
    "vl-checklist yaml": (641678627,),
    "vg release objects": (713787191,),
    "captions coco": (2567625536,),  # 20,000 brackets, here and below
    "answered visual7w": (1218166230,),
    "answered lines": (811029773,),
    "dialogs visdial": (3606666698,),
    "dialogs lines": (616521507,),
    "frames swig": (4220060302, 4220059489),  # the second: an object for a noun
}
"""The seeds of mutants that once ended in something else; they are always read."""


class Late(BaseException):
    """A mutant took longer than ``SECONDS``."""


@contextmanager
def bounded():
    """Limit the time of what the body does, and the memory of this process."""

    def late(*_):
        raise Late

    timers = {signal.SIGPROF: (signal.ITIMER_PROF, SECONDS), signal.SIGALRM: (signal.ITIMER_REAL, 10 * SECONDS)}
    before = {number: signal.signal(number, late) for number in timers}  # of the processor; of a reader that waits
    used = int(STATM.read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, (timer, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def outcome(reader, folder, file):
    try:
        with bounded(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(folder, file)
    except VlgateError as error:
        message = str(error)
        return "refused" if message.strip() else "an empty message"
    except BaseException as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"[:200]
    return "read"


@pytest.mark.slow
@pytest.mark.skipif(not STATM.exists(), reason="needs Linux")
@pytest.mark.parametrize("name", READERS)
def test_every_mutant_is_read_or_refused(tmp_path, name):
    reader = READERS[name]
    folder = tmp_path / "data"
    folder.mkdir()
    file = reader.make(folder)
    content = file.read_bytes()
    assert outcome(reader, folder, file) == "read" or name.startswith("real graphs")  # it has faults
    found, others = Counter(), {}
    base = crc32(name.encode())
    seeds = [*KEPT.get(name, ()), *range(base, base + (MUTANTS or max(8, SAMPLE // reader.cost)))]
    for seed in seeds:
        put(file, mutant(content, seed))
        said = outcome(reader, folder, file)
        found[said if said in {"read", "refused"} else "other"] += 1
        if said not in {"read", "refused"}:
            others.setdefault(said, []).append(seed)
    put(file, content)
    gc.collect()
    print(f"FUZZ | {name} | {len(seeds)} | {found['read']} | {found['refused']} | {found['other']} |")  # noqa: T201  # the row of the table that -rP shows
    assert not others, others
