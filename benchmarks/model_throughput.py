"""Adapters of models against a bare batched loop of the same model, on the CPU with random weights.

Each adapter is timed in turn with the loop that a user would write by hand for the same requests, in one process. The
script prints the median of the ratios of the rounds (bar 0.9), and how far the replies differ. The contests, with what
each loop does, are in ``contests``. Name some contests to run only those. ``overlap`` is a run whose network waits as
for a GPU: its time against the larger of that of preparing the inputs and that of the network (bar at most 1.3).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from contests import answering, cross, detector, dual, generative, judges, regions, text, volta
from contests.contest import Contest, Replies, imported
from contests.overlap import overlaps
from run_all import Row

CHECKPOINTS = Path(__file__).parents[1] / "tests/models/support"  # writers of small checkpoints
KINDS = (dual, cross, answering, regions, volta, generative, text, judges, detector)
MAKERS = {maker.__name__: maker for kind in KINDS for maker in kind.CONTESTS}
ROUNDS, BAR = 5, 0.9
OVERLAP, MOST = "overlap", 1.3


def main() -> None:
    """Write the checkpoints, time, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*MAKERS, OVERLAP]
    # argparse also compares the empty list with the choices
    parser.add_argument("contests", nargs="*", choices=[[], *names], metavar="CONTEST", help=", ".join(names))
    wanted = parser.parse_args().contests or names
    try:
        import torch
        import transformers  # noqa: F401
    except ModuleNotFoundError as error:
        print(f"model_throughput: skipped, {error.name} is not installed; pip install 'vlgate[hf]'")
        return
    logging = imported("transformers").logging
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    sys.path.insert(0, str(CHECKPOINTS))
    below = []
    for name in wanted:
        torch.manual_seed(0)
        with TemporaryDirectory() as folder:
            if name == OVERLAP:
                report_overlaps(Path(folder))
            elif report(MAKERS[name](Path(folder))) < BAR:
                below.append(name)
    print(f"model_throughput: below {BAR}: {', '.join(below) or 'none'}")


def report(contest: Contest) -> float:
    """Time the two in turn, each first in every other round, print, and return the median of the ratios."""
    import torch

    ratios = []
    with torch.inference_mode():
        for number in range(ROUNDS):
            entrant = contest.entrant()  # a new one, without cached replies
            order = (entrant, contest.bare) if number % 2 == 0 else (contest.bare, entrant)
            (first, one), (second, other) = (timed(call) for call in order)
            ours, expected = (one, other) if number % 2 == 0 else (other, one)
            ratios.append(second / first if number % 2 == 0 else first / second)
    ratio = median(ratios)
    spread = f"(rounds {min(ratios):.2f} to {max(ratios):.2f})"
    print(f"model_throughput: {contest.name}: {ratio:.2f} x a bare batched loop {spread}, bar {BAR}")
    print(Row(what=f"{contest.name}: throughput against a bare batched loop", ratio=ratio, bar=BAR))
    what = "; ".join(filter(None, (f"{contest.requests} requests", difference(ours, expected), contest.remark())))
    print(f"model_throughput: {contest.name}: {what}", flush=True)
    return ratio


def report_overlaps(folder: Path) -> None:
    """Print how long a run takes whose inputs are made ahead, and the bound of each family."""
    for name, prepared, network, turns, run in overlaps(folder):
        bound = max(prepared, network)
        print(
            f"model_throughput: overlap of {name}: inputs {prepared:.2f} s, network {network:.2f} s, in turn "
            f"{turns:.2f} s, run {run:.2f} s"
        )
        print(Row(what=f"{name}: time in turn against the longer part", ratio=turns / bound))
        print(Row(what=f"{name}: time of a run against the longer part", ratio=run / bound, bar=MOST, most=True))


def timed(call: Callable[[], Replies]) -> tuple[float, Replies]:
    """The seconds that a call takes, and its result."""
    start = perf_counter()
    replies = call()
    return perf_counter() - start, replies


def difference(ours: Replies, expected: Replies) -> str:
    """How far the replies are apart, in words."""
    if any(isinstance(reply, str) for reply in expected):
        apart = sum(our != other for our, other in zip(ours, expected, strict=True))
        return f"{apart} answers differ, of {len(set(expected))} different ones"
    found = np.array(expected, dtype=np.float64)
    most = np.abs(np.array(ours, dtype=np.float64) - found).max()
    return f"largest difference {most:.1e} in scores from {found.min():.3g} to {found.max():.3g}"


if __name__ == "__main__":
    main()
