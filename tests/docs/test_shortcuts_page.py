"""The page of what text alone solves: its text is that of the code, and a row of it is what the probes reach now."""

import re
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared/data"


@pytest.fixture(scope="module")
def script(scripts):
    return scripts("write_shortcuts")


@pytest.fixture(scope="module")
def text(script):
    return script.PAGE.read_text(encoding="utf-8")


def test_the_page_is_what_the_code_says(script, text):
    found = re.search(r"parts of the benchmarks: (.*?)\. Of a task\n", text, re.DOTALL)[1]
    probes, table, examples = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    assert probes in script.PAGE_TEXT
    not_run = "".join(re.findall(r"^- `.*not run: .*\n", text, re.MULTILINE))
    swaps = re.search(r"has (\d+ of \d+ solved cases)", text)[1]
    parts = {"counts": found, "table": table, "not_run": not_run, "swaps": swaps, "examples": examples}
    expected = script.PAGE_TEXT.format(limit=script.LIMIT, **{name: part.rstrip("\n") for name, part in parts.items()})
    assert text == expected, "run: python scripts/write_shortcuts.py --data DIR"
    assert table.startswith(f"| {' | '.join(script.HEADS)} |\n")


@pytest.mark.skipif(not DATA.is_dir(), reason="needs ../shared/data")
def test_a_row_is_what_the_probes_reach_now(script, text):
    [task] = script.tasks_of((DATA,), ("sugarcrepe/swap_obj",))
    now = script.row(task, script.shortcuts(task), 0.0).rpartition(" | ")[0]
    assert f"\n{now} | " in text
