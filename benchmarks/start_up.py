"""``pytest --collect-only -q`` and ``pytest --help``: seconds, and whether torch was imported."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter

PROBE = "import sys, pytest; pytest.main(sys.argv[1:]); print('torch' in sys.modules, file=sys.stderr)"


def main() -> None:
    """Start each five times, print the median, and the ratio to a bare pytest in the same run."""
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTHONDONTWRITEBYTECODE"}}
    with tempfile.TemporaryDirectory() as folder:
        bare, _ = start(["--version", "-p", "no:vlgate.plugin"], folder, environment)
        for args in (["--pyargs", "tests_vl", "--collect-only", "-q"], ["--help"]):
            seconds, torch = start(args, folder, environment)
            print(f"start_up: pytest {' '.join(args)}: {seconds:.2f} s, bar 2; {seconds / bare:.1f} x pytest --version")
            print(f"start_up: torch imported: {torch}")


def start(args: list[str], folder: str, environment: dict[str, str]) -> tuple[float, str]:
    """The median seconds of five starts after a first one, and whether the last one imported torch."""
    found = []
    for _ in range(6):
        begin = perf_counter()
        command = [sys.executable, "-c", PROBE, *args]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        found.append(perf_counter() - begin)
    return median(found[1:]), done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
