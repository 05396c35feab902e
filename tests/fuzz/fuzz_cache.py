"""Damage files of replies at random: ``python tests/fuzz/fuzz_cache.py --seconds 600``.

Whatever the damage, a store raises nothing, returns no wrong value and goes on to keep new records. The output says how
many records each kind of damage costs; the exit status is 1 if a rule was broken.
"""

import argparse
import random
import shutil
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from vlgate.asking.cache.store import NAME, Store

RECORDS = 2000
NEW = {b"new" + bytes(13): b"a new record"}


def flip(raw, chance):
    """A few bits anywhere."""
    for _ in range(chance.choice((1, 1, 1, 8, 64))):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)


def overwrite(raw, chance):
    """Noise or zeros over a part."""
    start, length = chance.randrange(len(raw)), chance.choice((1, 16, 512, 4096, 40_000))
    end = min(len(raw), start + length)
    raw[start:end] = chance.randbytes(end - start) if chance.random() < 0.7 else bytes(end - start)


def header(raw, chance):
    """A byte of the header, or of a page's own."""
    page = chance.choice((0, 0, chance.randrange(len(raw) // 4096) * 4096))
    raw[min(len(raw) - 1, page + chance.randrange(112))] = chance.randrange(256)


def swap(raw, chance):
    """Two pages."""
    one, other = (chance.randrange(len(raw) // 4096) * 4096 for _ in range(2))
    raw[one : one + 4096], raw[other : other + 4096] = raw[other : other + 4096], raw[one : one + 4096]


def cut(raw, chance):
    """The end."""
    del raw[chance.randrange(len(raw)) :]


def grow(raw, chance):
    """More at the end."""
    raw += chance.randbytes(chance.randrange(1, 10_000))


WAYS = (flip, flip, overwrite, header, swap, cut, grow)


def records():
    """Values of the lengths that scores, answers and rows of features have."""
    chance = random.Random(0)
    return {chance.randbytes(16): chance.randbytes(chance.choice((10, 10, 10, 30, 514, 2050))) for _ in range(RECORDS)}


def whole(folder, known):
    """The files of a store with these records: its own, and the log of what was not moved there yet."""
    store = Store(folder)
    items = list(known.items())
    for start in range(0, len(items), 200):
        store.put("a model", dict(items[start : start + 200]))
    files = {}
    for end in ("", "-wal"):
        file = folder / f"{NAME}{end}"
        files[end] = file.read_bytes() if file.exists() else b""
    store.close()
    closed = {"": (folder / NAME).read_bytes(), "-wal": b""}
    return files, closed


def one(folder, files, known, chance):
    """Damage the files once; return how, what is wrong with the store (or nothing), and the number of lost records."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    hurt = chance.choice([end for end, content in files.items() if content])
    way = chance.choice(WAYS)
    for end, content in files.items():
        raw = bytearray(content)
        if end == hurt and len(raw) > 4096:
            way(raw, chance)
        if raw or end == "":
            (folder / f"{NAME}{end}").write_bytes(raw)
    store = Store(folder)
    found = store.get(list(known))
    store.put("a model", NEW)
    kept = store.get(list(NEW))
    store.close()
    again = Store(folder)
    second = again.get(list(known))
    again.close()
    named = f"{way.__name__} {'the log' if hurt else 'the file'}"
    if any(known[key] != value for values in (found, second) for key, value in values.items()):
        return named, "a wrong value", 0
    if kept != NEW:
        return named, f"a new record was not kept: {store.problems}", 0
    return named, "", len(known) - len(second)


def main():
    """Damage for as long as asked, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    known, chance = records(), random.Random(given.seed)
    wrong, lost, end = 0, {}, time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as place:
        states = whole(Path(place) / "whole", known)
        for number in count():
            if time.monotonic() > end:
                break
            way, problem, missing = one(Path(place) / "mutant", states[number % 2], known, chance)
            lost.setdefault(way, []).append(missing)
            wrong += bool(problem)
            if problem:
                sys.stdout.write(f"mutant {number}: {way}: {problem}\n")
    for way, found in sorted(lost.items()):
        some = sorted(found)
        share, median = sum(some) / len(some) / len(known), some[len(some) // 2]
        sys.stdout.write(f"{way:30} {len(some):6} mutants, lost {share:7.2%}, median {median} of {len(known)}\n")
    sys.stdout.write(f"{sum(map(len, lost.values()))} mutants, {wrong} broke a rule\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
