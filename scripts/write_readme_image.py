"""Draw the README's images: `python scripts/write_readme_image.py` writes docs/images/report.svg and case.svg.

It runs the suite on the embedded model, as `make gate` does but without a control. report.svg is what the terminal
shows after the letters, case.svg the case of relations whose foil leads the most: image, texts and scores.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
import tempfile
from base64 import b64encode
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from pyarrow.parquet import read_table
from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "docs" / "images" / "report.svg"
CASE_FILE = FILE.with_name("case.svg")
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
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])  # as in an activated environment
    return kept | {"PATH": path, "COLUMNS": str(COLUMNS), "HF_HUB_OFFLINE": "1", "VLGATE_CACHE": "off"}


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


def case_drawing() -> str:
    """Draw a missed case as SVG: its image, and a bar for the score of its caption and of its foil."""
    from vlgate.cli import main

    with tempfile.TemporaryDirectory() as folder, redirect_stdout(StringIO()):
        run, data = Path(folder) / "run", Path(folder) / "images"
        command = ["-q", "--suite=scenes/relations", "--controls=none", f"--results={run}"]
        call = [sys.executable, "-m", "pytest", *command]
        subprocess.run(call, cwd=ROOT, env=environment(), capture_output=True, check=True)  # noqa: S603
        row = max(
            (row for row in read_table(run / "cases.parquet").to_pylist() if not row["right"]),
            key=lambda row: row["scores"][1] - row["scores"][0],
        )
        main(["show", str(run), f"{row['task']}:{row['case']}", "--out", str(data)])
        image = b64encode(next(data.glob("*.png")).read_bytes()).decode()
    rows = []
    for number, (text, score) in enumerate(zip(row["texts"], row["scores"], strict=True)):
        word, colour = (("caption", "#1a7f37"), ("foil", "#b42318"))[number]
        y, width = 64 + 92 * number, 330 * score / max(row["scores"])
        rows += [
            f'<text x="260" y="{y}" font-size="18">{html.escape(text)}</text>',
            f'<rect x="260" y="{y + 12}" width="{width:.0f}" height="16" rx="3" fill="{colour}"/>',
            f'<text x="{268 + width:.0f}" y="{y + 26}" font-size="15">{word} {score:.2f}</text>',
        ]
    said = "missed: tiny-lxmert scores the foil higher"
    rows.append(f'<text x="260" y="232" font-size="15" font-weight="bold">{said}</text>')
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 256" font-family="system-ui, sans-serif">'
    back = '<rect width="760" height="256" rx="8" fill="#fff" stroke="#d0d7de"/>'
    picture = f'<image x="16" y="16" width="224" height="224" href="data:image/png;base64,{image}"/>'
    return "\n".join([head, f"<title>{html.escape(row['why'])}</title>", back, picture, *rows, "</svg>"]) + "\n"


if __name__ == "__main__":
    FILE.write_text(drawing(screen()), encoding="utf-8")
    CASE_FILE.write_text(case_drawing(), encoding="utf-8")
