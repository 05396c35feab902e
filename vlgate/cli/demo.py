"""Show a run: the default suite on the default model, or on a model that is broken on purpose.

Without --sabotage the gates pass. With it they must not: the run ends with status 1, and the page opens on what
broke.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from vlgate.cli import say
from vlgate.errors import UnknownNameError


def run(given: argparse.Namespace) -> int:
    """Return the exit status of the run, but 1 if a model that is broken on purpose passes."""
    from vlgate.studies.sensitivity.sabotage import closing_lines, place_of, sabotages, stopped_by

    known = sabotages()
    if given.list:
        say(*(f"{name}: {one.says}" for name, one in known.items()))
        return 0
    if given.sabotage is not None and given.sabotage not in known:
        raise UnknownNameError("defect in --sabotage", given.sabotage, known)
    name = "demo" if given.sabotage is None else f"demo-{given.sabotage.replace('/', '-')}"
    folder = (given.results or Path("results") / name).expanduser().resolve()
    sabotage = None if given.sabotage is None else known[given.sabotage]
    options = [f"--results={folder}", "--overwrite"]
    options += [] if sabotage is None else [f"--model={sabotage.model}"]
    options += [] if sabotage is None or sabotage.thresholds is None else [f"--thresholds={sabotage.thresholds}"]
    options += [f"--suite={given.suite or 'scenes/*'}"]
    options += [] if given.workers is None else ["-n", given.workers]
    # The suite runs in a process of its own and in an empty folder, so that nothing of the user's counts
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "VLGATE_DATA"))}
    with TemporaryDirectory() as empty:
        words = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", "-q", f"--rootdir={empty}"]
        words += ["-p", "no:cacheprovider", *options]
        status = subprocess.run(words, cwd=empty, env=kept, check=False).returncode  # noqa: S603  # our own
    if (folder / "metrics.json").exists() and status in {0, 1}:
        from vlgate.record.folder import read_run

        figures = read_run(folder, "vlgate demo").figures
        if given.sabotage is not None:
            say(*closing_lines(given.sabotage, known[given.sabotage], figures))
        page = folder / "report.html"
        say(page)
        display = sys.platform in {"darwin", "win32"} or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
        if not given.no_open and sys.stdout.isatty() and display:
            import webbrowser

            place = place_of(stopped_by(figures))
            webbrowser.open(page.as_uri() + (f"#{place}" if place else ""))
    return 1 if given.sabotage is not None and status == 0 else status
