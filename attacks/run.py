"""Run attacks against a gate, print what held, and end with 1 if anything is broken.

python attacks/run.py --gate 'pytest --pyargs tests_vl --model={model} --data={data} --thresholds={thresholds} \
--results={results}'
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from attacks.catalogue import models
from attacks.drawn import draw
from attacks.gate import SECONDS, Ended, Gate
from attacks.ways import BAD, GOOD, PLAIN, WAYS, Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """A model that is run in one way, and what the gate must do: end with 0 (``passes``), or with anything else."""

    name: str
    about: str
    model: str
    way: Way
    passes: bool
    hangs: bool = False

    @property
    def expected(self) -> str:
        """What the gate must do, in two characters."""
        return "0" if self.passes else "not 0"

    def held(self, ended: Ended) -> bool:
        """Whether the gate did that; one that had to be ended from outside did not."""
        return ended.status is not None and (ended.status == 0) == self.passes


def attacks() -> Iterator[Attack]:
    """Every model as it is, and two models in every way."""
    for model in models():
        yield Attack(
            name=model.name, about=model.about, model=model.name, way=PLAIN, passes=model.good, hangs=model.hangs
        )
    for way in WAYS:
        yield Attack(name=f"{way.name}:bad", about=way.about, model=BAD, way=way, passes=False)
        if way.whole is not None:
            yield Attack(name=f"{way.name}:good", about=way.about, model=GOOD, way=way, passes=way.whole)


def main(args: Sequence[str] | None = None) -> int:
    """Run what the command line asks for, and return the exit status."""
    asked = _parser().parse_args(args)
    chosen = [attack for attack in attacks() if _wanted(attack, asked)]
    if asked.list:
        for attack in chosen:
            print(f"{attack.name:42} {attack.expected:6} {attack.about}")
        return 0
    if not chosen:
        print(f"--only {asked.only}: no attack has such a name; --list shows them all")
        return 2
    with tempfile.TemporaryDirectory(prefix="attacks-") as place:
        draw(Path(place, "drawn"))
        gate = Gate(command=asked.gate, drawn=Path(place, "drawn"), thresholds=asked.thresholds)
        broken = _run(gate, chosen, Path(place), asked)
    print(f"{len(chosen) - broken} of {len(chosen)} attacks held, {broken} broken")
    return 1 if broken else 0


def _run(gate: Gate, chosen: Sequence[Attack], path: Path, asked: argparse.Namespace) -> int:
    broken = 0
    print(f"{'attack':42} {'expected':8} {'status':7} held")
    with ThreadPoolExecutor(asked.jobs) as pool:
        ended = pool.map(
            lambda at: gate.run(at[1].model, at[1].way, path / str(at[0]), asked.seconds), enumerate(chosen)
        )
        for attack, one in zip(chosen, ended, strict=True):
            held = attack.held(one)
            broken += not held
            status = "ended" if one.status is None else one.status
            print(f"{attack.name:42} {attack.expected:8} {status!s:7} {'held' if held else 'BROKEN: ' + attack.about}")
            if asked.output and not held:
                print(one.output)
    return broken


def _wanted(attack: Attack, asked: argparse.Namespace) -> bool:
    if attack.hangs and not asked.hangs:
        return False
    names = (attack.name, attack.name.rpartition(":")[0])
    return not asked.only or any(fnmatchcase(name, pattern) for name in names for pattern in asked.only)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Run attacks against a gate, which is any command with an exit status."
    )
    parser.add_argument(
        "--gate",
        required="--list" not in sys.argv,
        metavar="COMMAND",
        help="the command of the gate, with {model}, {data}, {thresholds} and {results}",
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="a name or pattern of attacks; can be repeated")
    parser.add_argument("--thresholds", type=Path, metavar="FILE", help="the gates, if those of drawn.py do not do")
    parser.add_argument(
        "--hangs", action="store_true", help="also the models that never return, which need a gate with a limit of time"
    )
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S", help=f"how long a gate may take (default: {SECONDS})"
    )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="how many gates run at the same time (default: one per core)",
    )
    parser.add_argument("--output", action="store_true", help="print what a broken gate printed")
    parser.add_argument("--list", action="store_true", help="list the attacks and run none")
    return parser


if __name__ == "__main__":
    sys.exit(main())
