"""Follow the guides of docs/guides, the pages of controls and docs/cache.md word by word, each in an empty folder.

A block of code whose paragraph above ends with a file's name and a colon is written to that file. A console block is
run: each line after "$ " is a command, the lines below it are what it prints. The exit status must be 0, or what the
`$ echo $?` below it prints; the lines must be those that the guide shows, but for times, versions, the width of rules
and the rows of letters. A block below `<!-- skip: REASON -->` needs something that is not here, and is reported as a
skipped test.

`python tests/docs/test_guides.py` runs the guides, writes what the commands print into them, and draws
docs/images/report.svg anew.
"""

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
FOLLOWED = [
    *GUIDES,
    ROOT / "docs" / "cache.md",
    *(ROOT / "docs" / "controls" / f"{name}.md" for name in ("delivery", "look")),
]
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"`(?P<name>[\w./-]+)`:\s*\Z")
_SKIP = re.compile(r"<!-- skip: (?P<reason>.+?) -->\s*\Z")
_CHANGING = (
    (re.compile(r"^[.a-zA-Z]+ +\[ *\d+%\]$", re.MULTILINE), "LETTERS"),
    (re.compile(r"\b\d+\.\d+s\b( \(\d+:\d\d:\d\d\))?"), "TIME"),
    (re.compile(r"\b\d+\.\d+\.\d+\b"), "VERSION"),
    (re.compile(r"^at most (\d+ min )?\d+ s$", re.MULTILINE), "TIME"),
    (re.compile(r"={3,}|_{3,}"), "RULE"),
    (re.compile(r"^vlgate: (about .* to ask|the estimate before|checks of the model and) .*\n", re.MULTILINE), ""),
)
"""What may change from run to run, and what stands for it in a comparison."""


class Block(NamedTuple):
    """A block of code in a guide, the file it is written to, and why it is not run."""

    guide: str
    line: int
    language: str
    body: str
    file: str
    skipped: str


@dataclass(slots=True, kw_only=True)
class Command:
    """A command of a console block, the exit status that the guide states, and the lines that it shows."""

    text: str
    status: int = 0
    lines: list[str] = field(default_factory=list)


def blocks(guide):
    """The blocks of a guide, in order; text blocks are illustrations."""
    text = guide.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        above = text[: match.start()]
        file, skip = _FILE.search(above), _SKIP.search(above)
        line, named, why = above.count("\n") + 1, file["name"] if file else "", skip["reason"] if skip else ""
        yield Block(guide.name, line, match["language"], match["body"], named, why)


def commands(body):
    found = []
    for line in body.replace("\\\n", "").splitlines():
        if line == "$ echo $?":
            found.append(None)
        elif line.startswith("$ "):
            found.append(Command(text=line[2:]))
        elif found[-1] is None:
            found[-2].status = int(line)
        else:
            found[-1].lines.append(line)
    return [command for command in found if command is not None]


def environment():
    """This process's environment, without what pytest and vlgate would take from it; python is this python."""
    changes = ("PYTEST", "VLGATE", "COV", "GITHUB_STEP_SUMMARY")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(changes) and name != "CI"}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    ours = {"PATH": path, "COLUMNS": "100", "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    return kept | ours | {"VLGATE_CACHE": "off"}  # no example reads or fills the cache of the user


def run(text, folder):
    """Run one command in a folder; what it prints is in ``stdout``."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    command = ["bash", "-c", text]
    return subprocess.run(command, cwd=folder, env=environment(), **streams, text=True, timeout=120, check=False)


def write(block, folder):
    assert block.file, f"{block.guide}:{block.line}: a block that is neither a file nor a command"
    file = folder / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.body, encoding="utf-8")


def shown(done, folder, name):
    """The lines that a command printed, as the guide of that name shows them."""
    said = done.stdout.replace(str(folder), f"/home/me/{name}").rstrip()
    return [line.rstrip() for line in said.splitlines()]


def normal(lines):
    """Lines without what changes from run to run."""
    text = "\n".join(lines).strip()
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text


def hold(command, folder, guide, place):
    """Run one command and hold its exit status and its lines against the guide."""
    done = run(command.text, folder)
    assert done.returncode == command.status, f"{place}: {command.text}\n{done.stdout}"
    expected, printed = normal(command.lines), normal(shown(done, folder, guide))
    assert printed == expected, f"{place}: {command.text}\nrefresh the guides: python {Path(__file__).name}"


ALL = [block for guide in FOLLOWED for block in blocks(guide)]
SKIPPED = [pytest.param(block, id=f"{block.guide}:{block.line}") for block in ALL if block.skipped]


@pytest.mark.slow
@pytest.mark.parametrize("guide", FOLLOWED, ids=lambda guide: guide.stem)
def test_guide_works_word_by_word(guide, tmp_path):
    ran = 0
    for block in blocks(guide):
        place = f"{block.guide}:{block.line}"
        if block.skipped or block.language == "text":
            continue
        if block.language == "console":
            for command in commands(block.body):
                hold(command, tmp_path, guide.stem, place)
                ran += 1
        else:
            write(block, tmp_path)
    assert ran >= 2


@pytest.mark.parametrize("block", SKIPPED)
def test_block_that_needs_something_from_outside(block):
    pytest.skip(f"not run: {block.skipped}")


@pytest.mark.slow
def test_the_image_shows_what_the_terminal_prints(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import write_readme_image

    drawn = write_readme_image.FILE.read_text(encoding="utf-8")
    now = write_readme_image.drawing(write_readme_image.screen())
    assert normal(write_readme_image.text_of(drawn)) == normal(write_readme_image.text_of(now))


def printed(body, folder, name):
    """A console block with what its commands print now."""
    found, status = [], 0
    for part in re.split(r"\n(?=\$ )", body.rstrip("\n")):
        command = re.match(r"\$ (?:.*\\\n)*.*", part)[0]
        if command == "$ echo $?":
            found += [command, str(status)]
            continue
        done = run(command[2:], folder)
        status = done.returncode
        found += [command, *shown(done, folder, name)]
    return "".join(f"{line}\n" for line in found)


def refresh(guide, folder):
    """Write what a guide's commands print into it."""
    text = guide.read_text(encoding="utf-8")
    for block in blocks(guide):
        if block.language == "console" and not block.skipped:
            text = text.replace(block.body, printed(block.body, folder, guide.stem), 1)
        elif not block.skipped and block.language != "text":
            write(block, folder)
    guide.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for one in FOLLOWED:
        with tempfile.TemporaryDirectory() as place:
            refresh(one, Path(place).resolve())
    subprocess.run([sys.executable, str(ROOT / "scripts" / "write_readme_image.py")], check=True)
