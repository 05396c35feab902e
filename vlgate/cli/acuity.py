"""Draw acuity charts: for each faculty, the level at which a model falls to the midpoint between chance and its best.

The levels are found by an adaptive staircase over drawn scenes, made for the question: a true and a false text about
one image. The command says how many calls to the model it needs, and about how long they take, before it asks.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from vlgate.cli import chosen, say
from vlgate.errors import OptionError


def run(given: argparse.Namespace) -> int:
    """Return the exit status: 1 if a gate fails, is inconclusive, or its chart was not drawn."""
    from vlgate.cli import options_of
    from vlgate.metrics.perception import FACULTIES
    from vlgate.studies.acuity.charts import draw, gates_of, read_release, written

    if given.batch_size is not None and given.batch_size < 1:
        raise OptionError(f"--batch-size {given.batch_size}: expected a number above 0")
    faculties = chosen(given.faculty, FACULTIES, "faculty")
    file = given.thresholds or Path("thresholds.toml")
    gates = gates_of(file) if given.thresholds is not None or os.path.lexists(file) else ()
    idle = [gate.faculty for gate in gates if gate.faculty not in faculties]
    gates = tuple(gate for gate in gates if gate.faculty in faculties)
    earlier = read_release(given.against) if given.against else None
    asked = {name: getattr(given, name) for name in ("model", "seed", "device", "batch_size")}
    options = replace(options_of(argparse.Namespace(data=[], suite=[])), data=(), **asked)
    drawn = draw(options, faculties, gates, given.limit, say)
    say(*(*written(drawn, earlier, given.out), *(f"acuity.{name}: not run: not in --faculty" for name in idle)))
    say(f"written: {given.out / 'acuity.html'}")
    return 0 if drawn.passed else 1
