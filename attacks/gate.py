"""Run a gate, which is any command with an exit status, on one model, in a folder of its own."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attacks.catalogue import MODELS
from attacks.ways import RESULTS, Way

SECONDS = 120
"""How long a gate may take; a gate that takes longer is ended, and has neither passed nor refused the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a gate ended: its exit status (None if it was ended from outside), what it printed, and its folder."""

    status: int | None
    output: str
    results: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A gate: its command with the fields ``{model}``, ``{data}``, ``{thresholds}`` and ``{results}``.

    ``drawn`` is the folder that ``drawn.draw`` filled; ``thresholds`` replaces its gates by a file for another gate.
    """

    command: str
    drawn: Path
    thresholds: Path | None = None

    def run(self, model: str, way: Way, folder: Path, seconds: float = SECONDS) -> Ended:
        """Run the gate on a model in one way, in a new folder."""
        self.prepare(way, folder)
        if way.before is not None:
            before = self.words(way.before.model, way.before, folder, way.before_results)
            _run(before, folder / way.folder, self._environment(folder, way.before), seconds, folder)
        words = self.words(model, way, folder)
        return _run(words, folder / way.folder, self._environment(folder, way), seconds, folder / RESULTS)

    def prepare(self, way: Way, folder: Path) -> None:
        """Make the folder of a run, with its data, its thresholds and what the way adds."""
        shutil.copytree(self.drawn, folder)
        if self.thresholds is not None:
            shutil.copy(self.thresholds, folder / "thresholds.toml")
        way.prepare(folder)

    def words(self, model: str, way: Way, folder: Path, results: str = RESULTS) -> list[str]:
        """Return the command for a model and a way."""
        fields = {
            "model": model,
            "data": str(folder / "data"),
            "thresholds": str(folder / "thresholds.toml"),
            "results": str(folder / results),
        }
        words = [word.format(**fields) for word in shlex.split(self.command)]
        return [*(word for word in words if not (way.without and word.startswith(way.without))), *way.args]

    def _environment(self, folder: Path, way: Way) -> dict[str, str]:
        """The environment of a job of continuous integration, whose PYTHONPATH holds the models."""
        path = os.pathsep.join(filter(None, [str(MODELS), str(folder), os.environ.get("PYTHONPATH", "")]))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("VLGATE_", "PYTEST_"))}
        cache = str(folder / "cache")  # for this attack alone
        return {**kept, "CI": "true", "OMP_NUM_THREADS": "1", "PYTHONPATH": path, "VLGATE_CACHE": cache, **way.env}


def _run(command: list[str], folder: Path, env: dict[str, str], seconds: float, results: Path) -> Ended:
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            status = child.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        _end_group(child)
        output.seek(0)
        return Ended(status=status, output=output.read().decode(errors="replace"), results=results)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End what the gate has left behind: workers, and children of the model."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    child.wait()
