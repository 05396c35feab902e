"""Write the pages of docs/reference from the code: `python scripts/write_reference.py [--check]`.

With ``--check`` nothing is written; the exit status is 1 if a page is not what the code says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from reference import api, cli, metrics, options, results, thresholds

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "options.md": options.page,
    "metrics.md": metrics.page,
    "thresholds.md": thresholds.page,
    "results.md": results.page,
    "cli.md": cli.page,
    "api.md": api.page,
}
NOTE = "<!-- Written by scripts/write_reference.py from the code; change the code, then run: make docs -->\n\n"


def main(arguments: list[str]) -> int:
    """Write or check all pages.

    Returns: the exit status.
    """
    stale = []
    for name, page in PAGES.items():
        file, text = FOLDER / name, NOTE + page().rstrip() + "\n"
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if "--check" not in arguments:
        return 0
    for name in stale:
        print(f"docs/reference/{name} is not what the code says; run: make docs")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
