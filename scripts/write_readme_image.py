"""Draw the README's image: `python scripts/write_readme_image.py` writes docs/images/report.svg.

It runs the suite on the embedded model, as `make gate` does but without a control, and draws what the terminal shows
after the letters.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "images" / "report.svg"
COLUMNS = 102
TITLE = "vlgate: the report of the embedded model"

_CHARACTER = 12.2  # the width of a character in an image of rich: a font of 20 pixels, 0.61 as wide as it is high
_FONT_FILES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
_ROW = re.compile(r'<text class="report-r\d+" x="(?P<x>[\d.]+)" y="(?P<y>[\d.]+)"[^>]*>(?P<text>[^<]*)</text>')


def screen() -> str:
    """Run the suite; return what the terminal shows from the result table on, with its colours as escape codes."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder).resolve() / "gate"
        done = subprocess.run(  # noqa: S603  # this Python, with arguments of our own
            [sys.executable, "-m", "pytest", "-q", "-rN", "--color=yes", "--controls=none", f"--results={results}"],
            cwd=ROOT,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        printed = done.stdout.replace(str(results), "results/gate").replace(f"{ROOT}{os.sep}", "")
    lines = printed.splitlines()
    first = next(number for number, line in enumerate(lines) if "= vlgate =" in line)
    return "\n".join(["\x1b[1m$ make gate\x1b[0m", *lines[first:]])


def environment() -> dict[str, str]:
    """Return this process's environment without what changes the run or its colours."""
    changes = ("PYTEST", "VLGATE", "COV", "NO_COLOR", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changes) and name != "CI"}
    return kept | {"COLUMNS": str(COLUMNS), "HF_HUB_OFFLINE": "1", "VLGATE_CACHE": "off"}


def drawing(shown: str) -> str:
    """Draw a terminal's text as SVG; the same text gives the same file, and no font is fetched."""
    text = Text.from_ansi(shown)
    width = max(len(line) for line in text.plain.splitlines()) + 2
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True)
    console.print(text, soft_wrap=True)
    fonts = "ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace"
    code_format = _FONT_FILES.sub("", CONSOLE_SVG_FORMAT).replace("Fira Code, monospace", fonts)
    drawn = console.export_svg(title=TITLE, unique_id="report", code_format=code_format)
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def text_of(drawn: str) -> list[str]:
    """Return the lines of text in an image."""
    rows: dict[float, str] = {}
    for match in _ROW.finditer(drawn):
        before = rows.get(float(match["y"]), "").ljust(round(float(match["x"]) / _CHARACTER))  # spaces are not drawn
        rows[float(match["y"])] = before + html.unescape(match["text"]).replace("\xa0", " ")
    return [row.rstrip() for _, row in sorted(rows.items())]


if __name__ == "__main__":
    FILE.write_text(drawing(screen()), encoding="utf-8")
