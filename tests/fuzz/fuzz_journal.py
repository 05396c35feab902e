"""Damage journals at random: ``python tests/fuzz/fuzz_journal.py --seconds 600``.

Whatever the damage, a journal is read or refused, no reply that is read differs from the one that was written, and a
changed byte costs the record that it is in, and no other. The exit status is 1 if a rule was broken.
"""

import argparse
import random
import sys
import tempfile
import time
from itertools import count
from pathlib import Path

from fuzz_cache import cut, flip, grow, overwrite

from vlgate.errors import DataError
from vlgate.judging.verdicts import judge
from vlgate.record.replies import Journal, pack, read_journal
from vlgate.types import Batch, Case, LazyImage, Match, Prediction, Task

CASES, OF_A_BATCH = 400, 4


def byte(raw, chance):
    """One byte anywhere."""
    raw[chance.randrange(len(raw))] = chance.randrange(256)


def swap(raw, chance):
    """Two lines."""
    lines = raw.splitlines(keepends=True)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    raw[:] = b"".join(lines)


WAYS = (byte, byte, flip, overwrite, swap, cut, grow)
MOST = {"byte": 1, "flip": 64, "swap": 0, "grow": 1}
"""The most records that a kind of damage may cost; the others cost what they cover."""


def batches():
    """Pairs about images that are never opened."""

    def case(number):
        image = LazyImage(key=f"{number}.jpg", load=None)
        pair = tuple(Match(image=image, text=f"{words} {number} dogs.") for words in ("There are", "There are no"))
        return Case(id=str(number), requests=pair, truths=(True, False), origin="here")

    task = Task(id="own/dogs", capability="foil", shape="pair", cases=tuple(map(case, range(CASES))))
    parts = (tuple(range(start, start + OF_A_BATCH)) for start in range(0, CASES, OF_A_BATCH))
    return {f"own/dogs:{part[0]}": Batch(task=task, positions=part, ties="strict") for part in parts}


def written(file, plan):
    """Write a journal of random replies; return its bytes and the verdicts by place."""
    chance, journal, found = random.Random(0), Journal(file, "random"), []
    for name, batch in plan.items():
        requests = [request for case in batch.cases for request in case.requests]
        replies = {one: Prediction(request=one, score=chance.random(), accepted=None) for one in requests}
        replies[requests[0]] = Prediction(request=requests[0], problem='"crc":"\ud800\n')
        verdicts = judge(batch, replies)
        journal.add(f"a test[{name}]", name, pack(verdicts))
        found += verdicts
    journal.close(remove=False)
    return file.read_bytes(), found


def one(file, content, known, plan, chance):
    """Damage a journal once; return how, what is wrong with it (or nothing), and the number of lost records."""
    way, raw = chance.choice(WAYS), bytearray(content)
    way(raw, chance)
    file.write_bytes(raw)
    try:
        found = [verdict for some in read_journal(file, plan).verdicts.values() for verdict in some]
    except DataError:
        found = []
    lost = len(plan) - len(found) // OF_A_BATCH
    by_case = {verdict.case.id: verdict for verdict in known}
    if any(by_case[verdict.case.id] != verdict for verdict in found):
        return way.__name__, "another reply", lost
    return way.__name__, f"{lost} records lost" if lost > MOST.get(way.__name__, len(plan)) else "", lost


def main():
    """Damage for as long as asked, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    plan, chance = batches(), random.Random(given.seed)
    wrong, lost, end = 0, {}, time.monotonic() + given.seconds
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "journal.jsonl"
        content, known = written(file, plan)
        for number in count():
            if time.monotonic() > end:
                break
            way, problem, missing = one(file, content, known, plan, chance)
            lost.setdefault(way, []).append(missing)
            wrong += bool(problem)
            if problem:
                sys.stdout.write(f"mutant {number}: {way}: {problem}\n")
    for way, found in sorted(lost.items()):
        some = sorted(found)
        sys.stdout.write(
            f"{way:10} {len(some):6} mutants, most lost {some[-1]}, median {some[len(some) // 2]} of {len(plan)}\n"
        )
    sys.stdout.write(f"{sum(map(len, lost.values()))} mutants, {wrong} broke a rule\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
