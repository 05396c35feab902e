"""``pytest --collect-only -q`` and ``pytest --help``: seconds, and whether torch was imported.

They are compared with the import of numpy, pytest and hypothesis in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from statistics import median
from time import perf_counter

BAR = 2.5
IMPORTS = "import sys, numpy, pytest, hypothesis; print('torch' in sys.modules, file=sys.stderr)"
PROBE = "import sys, pytest; pytest.main(sys.argv[1:]); print('torch' in sys.modules, file=sys.stderr)"


def main() -> None:
    """Start each five times, print the median, and the ratio to the bare imports in the same run."""
    environment = {name: value for name, value in os.environ.items() if name not in {"CI", "PYTHONDONTWRITEBYTECODE"}}
    with tempfile.TemporaryDirectory() as folder:
        bare, _ = start(IMPORTS, [], folder, environment)
        for args in (["--pyargs", "tests_vl", "--collect-only", "-q"], ["--help"]):
            seconds, torch = start(PROBE, args, folder, environment)
            print(f"start_up: pytest {' '.join(args)}: {seconds:.2f} s; {seconds / bare:.1f} x the imports, bar {BAR}")
            print(f"start_up: torch imported: {torch}")


def start(program: str, args: list[str], folder: str, environment: dict[str, str]) -> tuple[float, str]:
    """The median seconds of five starts after a first one, and whether the last one imported torch."""
    found = []
    for _ in range(6):
        begin = perf_counter()
        command = [sys.executable, "-c", program, *args]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
        found.append(perf_counter() - begin)
    return median(found[1:]), done.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    main()
