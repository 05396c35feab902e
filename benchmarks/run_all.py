"""Run the benchmarks of speed and memory, and print one table: what is compared, its bar, the ratio, whether it holds.

Each ratio is of two measurements in one run on one machine. With ``--against``, these scripts also measure an earlier
commit, in turn with the files here, and its ratios are beside the ratios now. ``--quick`` takes smaller sizes. A
benchmark that lacks a package, data or a GPU has a row that says so. The exit status is 1 if a bar is missed or a
benchmark fails. The other scripts of this folder measure no speed: ``coverage``, ``question_quality``,
``question_sample``, ``rebuilt_graphs``, ``truth``.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
HEAD = ("what is compared", "bar", "now", "before", "holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One comparison. ``bar`` is None if there is none; ``most`` says that the ratio must not be above it."""

    what: str
    ratio: float
    bar: float | None = None
    most: bool = False

    @property
    def holds(self) -> bool:
        """Whether the ratio keeps to its bar."""
        return self.bar is None or (self.ratio <= self.bar if self.most else self.ratio >= self.bar)

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """The cells of the table."""
        if self.bar is None:
            return self.what, f"{self.ratio:.2f}", "-", "-"
        side = "at most" if self.most else "at least"
        return self.what, f"{self.ratio:.2f}", f"{side} {self.bar:g}", "yes" if self.holds else "NO"

    def __str__(self) -> str:
        """Return the line that a benchmark prints, which ``rows`` reads."""
        what, ratio, bar, holds = self.cells
        return f"ratio: {what}: {ratio} (bar: {bar}; holds: {holds})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A script with the arguments of a whole and of a quick run; ``{kept}`` is a folder that both trees share."""

    script: str
    whole: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()


KEPT = ("--kept", "{kept}")
BENCHES = (
    Bench(script="start_up", quick=("--cases", "40000", "--starts", "2")),
    Bench(script="suite_cost", whole=("--cases", "100000", "--runs", "3"), quick=("--cases", "20000")),
    Bench(script="suite_cost", whole=("--cases", "1000000"), quick=("--none",)),
    Bench(script="reading_and_judging"),
    Bench(script="ray_two_nodes", whole=("wait",), quick=("wait", "--quick")),
    Bench(script="everything_on", whole=("--images", "2000"), quick=("--images", "200")),
    Bench(script="everything_on", whole=("--images", "2000", "--items", "batch"), quick=("--none",)),
    Bench(script="everything_on", whole=("--images", "200", "--model", "open_clip:ViT-B-32/random"), quick=("--none",)),
    Bench(script="captions_choice", whole=("--pairs", "300", *KEPT), quick=("--none",)),
    Bench(script="captions_choice", whole=("--pairs", "2000", *KEPT), quick=("--none",)),
    Bench(script="captions_choice", whole=("--pairs", "2000", "--model", "tiny-clip", *KEPT), quick=("--none",)),
    Bench(script="model_throughput", quick=("clip",)),
    Bench(script="open_clip_throughput", quick=("--none",)),
    Bench(script="cache", whole=("100000",), quick=("8000",)),
    Bench(script="report_page", quick=("--none",)),
    Bench(script="image_perturbations", quick=("--none",)),
    Bench(script="drawing"),
    Bench(script="question_pairs", quick=("--none",)),
    Bench(script="quick_error", quick=("--none",)),
)
NOT_QUICK = ("--none",)


def main() -> int:
    """Run, print the rows as they come; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes; leaves out what has none")
    parser.add_argument("--only", nargs="*", metavar="SCRIPT", help="some of them")
    parser.add_argument("--against", default="", metavar="COMMIT", help="an earlier commit")
    given = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    missed = False
    with _tree(given.against) as before, TemporaryDirectory() as kept:
        for number, bench in enumerate(BENCHES):
            arguments = bench.quick if given.quick else bench.whole
            if arguments == NOT_QUICK or (given.only and bench.script not in given.only):
                continue
            trees = [ROOT, before][:: -1 if number % 2 else 1]
            arguments = tuple(argument.format(kept=kept) for argument in arguments)
            found = {tree: _run(tree, bench.script, arguments) for tree in trees if tree is not None}
            earlier = {what: ratio for what, ratio, *_ in (found[before] if before else ())}
            for what, ratio, bar, holds in found[ROOT]:
                missed |= holds == "NO"
                print(f"| {what} | {bar} | {ratio} | {earlier.get(what, '-')} | {holds} |", flush=True)
    return int(missed)


@contextmanager
def _tree(commit: str) -> Iterator[Path | None]:
    """Give a folder with a commit's files and these scripts, beside this one so that both find the same data."""
    if not commit:
        yield None
        return
    with TemporaryDirectory(prefix="before-", dir=ROOT.parent) as folder:
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(packed)) as files:
            files.extractall(folder, filter="data")
        scripts = Path(folder, "benchmarks")
        shutil.rmtree(scripts)
        shutil.copytree(ROOT / "benchmarks", scripts)
        yield Path(folder)


def rows(said: str) -> Iterator[tuple[str, ...]]:
    """Yield the cells of the rows in what a benchmark printed, and a row for what it skipped."""
    for line in said.splitlines():
        if match := re.fullmatch(r"ratio: (.*): ([\d.naif]+) \(bar: (.*); holds: (.*)\)", line):
            yield match.groups()
        elif "skipped" in line or "is not installed" in line:
            yield line.replace("|", "/"), "-", "-", "skipped"


def _run(tree: Path, script: str, arguments: tuple[str, ...]) -> list[tuple[str, ...]]:
    command = [sys.executable, str(tree / "benchmarks" / f"{script}.py"), *arguments]
    env = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    found = list(rows(done.stdout))
    if done.returncode and all(cells[-1] != "NO" for cells in found):
        lines = (done.stdout + done.stderr).strip().splitlines() or [""]
        found.append((f"{script}: ended with {done.returncode}: {lines[-1][:200]}", "-", "-", "NO"))
    return found or [(f"{script}: printed no ratio", "-", "-", "-")]


if __name__ == "__main__":
    sys.exit(main())
