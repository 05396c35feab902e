"""The pages of docs/reference are what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

from vlgate.plugin.parse_options import read
from vlgate.record.options import SETTINGS

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "write_reference.py"


@pytest.mark.slow
def test_the_reference_pages_are_what_the_code_says():
    done = subprocess.run([sys.executable, SCRIPT, "--check"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}run `make docs` and commit docs/reference"


def test_every_option_has_a_section():
    page = (ROOT / "docs" / "reference" / "options.md").read_text(encoding="utf-8")
    assert [line.removeprefix("## --") for line in page.splitlines() if line.startswith("## --")] == [
        setting.name for setting in SETTINGS.values()
    ]


IN_WORDS = {
    "baseline",
    "disputes",
    "require-gates",
    "suite",
    "data",
    "limit",
    "thresholds",
    "results",
    "shard",
    "controls",
    "controls-limit",
    "protocol",
    "log-to",
    "cache",
}


PLAIN = [setting for setting in SETTINGS.values() if setting.name not in IN_WORDS]


@pytest.mark.parametrize("setting", PLAIN, ids=lambda setting: setting.name)
def test_an_option_with_its_documented_default_changes_nothing(setting, pytester):
    fixed = ["--results=out", "--thresholds=gates.toml"]
    left_out = read(pytester.parseconfig(*fixed))
    spelled = f"--no-{setting.name}" if setting.flag else f"--{setting.name}={setting.default}"
    given = read(pytester.parseconfig(*fixed, spelled))
    assert given == left_out
