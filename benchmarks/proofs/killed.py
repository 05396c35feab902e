"""``kill -9`` of a random process of a run every 20 seconds of asking: are its files those of an undisturbed run?

The run asks 200,000 generated cases with a cache and two workers. It is started again each time it dies, with the same
command, and also if it ends with a worker that was killed. The clock of the kills goes while the model is asked,
because reading the cases and what the cache has is done anew in each start; one start in four is also killed at a
random moment of its first seconds. ``--wait`` is what the model waits in each call, as one does for a GPU::

    python benchmarks/proofs/killed.py --cases 200000 --every 20 --wait 0.05
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMES = {"environment.json", "report.html"}
"""Files that hold times, ``report.html`` in its footer; all others are compared."""
IMAGES = 1_000
STEP = 0.5  # seconds
EARLY = 0.25  # of the starts are killed once at a random moment, whether the model is asked or not
MODEL = """
import os, time, zlib
import numpy as np

class Model:
    fingerprint = "a model of the proof"

    def match(self, pairs):
        time.sleep({wait})
        with open(f"asked/{os.getpid()}", "ab", buffering=0) as counts:
            counts.write(b"%d\\n" % len(pairs))
        return np.array([zlib.crc32((pair.image.key + pair.text).encode()) % 9973 / 9973 for pair in pairs])

def build():
    return Model()
"""


@dataclass(slots=True, kw_only=True)
class Count:
    """What happened until a run ended; ``killed`` has the processes by what they were."""

    killed: dict[str, int]
    starts: int = 0
    early: int = 0


def main() -> int:
    """Run undisturbed, run disturbed, compare; the exit status is 1 if a file differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200_000)
    parser.add_argument("--every", type=float, default=20.0, help="seconds between kills")
    parser.add_argument("--wait", type=float, default=0.05, help="seconds that a call of the model waits")
    parser.add_argument("--seed", type=int, default=0, help="decides which processes are killed")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, given.cases, given.wait)
        requests = undisturbed(folder)
        print(f"killed: {given.cases:,} cases, {requests:,} requests, undisturbed", flush=True)
        count = disturbed(folder, given.every, random.Random(given.seed))
        kinds = ", ".join(f"{n} of {kind}" for kind, n in sorted(count.killed.items()))
        print(
            f"killed: {sum(count.killed.values())} kills ({kinds}), {count.early} of them at a random moment of a start"
        )
        total = asked(folder)
        print(f"killed: {count.starts - 1} restarts; {total:,} asked in all, {total / requests:.4f} x the requests")
        names = sorted(file.name for file in (folder / "whole").iterdir() if file.name not in TIMES)
        differ = [one for one in names if not same(folder / "whole" / one, folder / "out" / one)]
        print(f"killed: {', '.join(names)}: {'identical' if not differ else f'{differ} differ'}")
    return int(bool(differ))


def prepare(folder: Path, cases: int, wait: float) -> None:
    """Write records of VALSE's existence file about a thousand small images, and the model."""
    from PIL import Image

    sys.path.insert(0, str(ROOT / "benchmarks"))
    from suite_cost import generate

    file = generate(folder, cases)
    records = json.loads(file.read_text())
    for index, record in enumerate(records.values()):
        record["image_file"] = f"v7w_{index % IMAGES}.jpg"
    file.write_text(json.dumps(records))
    images = folder / "data/images/vg"
    images.mkdir(parents=True)
    for number in range(min(cases, IMAGES)):
        Image.new("RGB", (16, 16), (number % 256, number // 256, 40)).save(images / f"{number}.jpg")
    (folder / "slow_model.py").write_text(MODEL.replace("{wait}", str(wait)))
    (folder / "asked").mkdir()


def start(folder: Path, results: str, *more: str) -> subprocess.Popen[bytes]:
    """Start the suite as a user would, in a process group of its own."""
    options = ["--model=slow_model:build", "--data=data", "-q", "-p", "no:cacheprovider", f"--results={results}"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options, *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True)


def undisturbed(folder: Path) -> int:
    """Run without a cache and workers; return the number of requests."""
    status = start(folder, "whole", "--cache=off").wait()
    if not complete(folder / "whole"):
        raise SystemExit(f"the undisturbed run ended with {status}:\n{(folder / 'log.txt').read_text()[-3000:]}")
    for file in (folder / "asked").iterdir():
        file.unlink()
    cache = json.loads((folder / "whole/environment.json").read_text())["cache"]
    return int(cache["asked"])


def disturbed(folder: Path, every: float, chance: random.Random) -> Count:
    """Start until a run is complete, and kill a random process of it every so many seconds of asking."""
    count = Count(killed={})
    while not complete(folder / "out"):
        count.starts += 1
        run = start(folder, "out", "--cache=kept", "-n", "2", "--overwrite")
        if chance.random() < EARLY:
            wait(run, chance.random() * every)
            count.early += kill_one(run, folder, count, chance)
        while run.poll() is None:
            asking(run, folder, every)
            kill_one(run, folder, count, chance)
        left(run.pid)
    return count


def kill_one(run: subprocess.Popen[bytes], folder: Path, count: Count, chance: random.Random) -> int:
    """Kill a random process of a run that has not ended; return how many were killed."""
    if run.poll() is not None:
        return 0
    role, process = chance.choice(list(processes(run.pid)))
    os.kill(process, signal.SIGKILL)
    count.killed[role] = count.killed.get(role, 0) + 1
    print(f"killed: {role}, start {count.starts}, {asked(folder):,} asked so far", flush=True)
    return 1


def wait(run: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until a run ends, or for some seconds."""
    try:
        run.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def asking(run: subprocess.Popen[bytes], folder: Path, seconds: float) -> None:
    """Wait until a run ends, or until it has asked the model for some seconds."""
    spent, known = 0.0, asked(folder)
    while run.poll() is None and spent < seconds:
        wait(run, STEP)
        now = asked(folder)
        spent += STEP if now > known else 0.0
        known = now


def processes(group: int) -> Iterator[tuple[str, int]]:
    """Yield the processes of a process group: the one that the user started, and its workers."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, belongs = (folder / "stat").read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it ended meanwhile
            continue
        if int(belongs) == group and state != "Z":
            yield ("the driver" if int(folder.name) == group else "a worker"), int(folder.name)


def left(group: int, seconds: float = 60.0) -> None:
    """Wait for the end of the workers of a driver that was killed.

    Raises: SystemExit if one is still there after a minute.
    """
    end = time.monotonic() + seconds
    while found := [process for _, process in processes(group)]:
        if time.monotonic() > end:
            os.killpg(group, signal.SIGKILL)
            raise SystemExit(f"killed: {len(found)} processes of a dead run were still there after {seconds:.0f} s")
        time.sleep(0.1)


def same(one: Path, other: Path) -> bool:
    """Whether two files hold the same bytes; only the name of the results folder may differ."""
    return other.exists() and one.read_bytes() == other.read_bytes().replace(b"/out", b"/whole")


def complete(results: Path) -> bool:
    """Whether a run has ended with all of its cases."""
    file = results / "metrics.json"
    return file.exists() and bool(json.loads(file.read_text())["complete"])


def asked(folder: Path) -> int:
    """How many requests reached the model in all processes since the undisturbed run."""
    return sum(int(line) for file in (folder / "asked").iterdir() for line in file.read_text().split())


if __name__ == "__main__":
    sys.exit(main())
