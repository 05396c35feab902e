"""The pages of docs/reference are what the code says, and how its docstrings become Markdown."""

import doctest
import importlib
import re
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
    assert re.findall("^## --(.*)$", page, re.MULTILINE) == [setting.name for setting in SETTINGS.values()]


IN_WORDS = "baseline disputes require-gates suite data limit thresholds results shard controls controls-limit".split()
IN_WORDS += ["protocol", "log-to", "cache"]
PLAIN = [setting for setting in SETTINGS.values() if setting.name not in IN_WORDS]


@pytest.mark.parametrize("setting", PLAIN, ids=lambda setting: setting.name)
def test_an_option_with_its_documented_default_changes_nothing(setting, pytester):
    fixed = ["--results=out", "--thresholds=gates.toml"]
    left_out = read(pytester.parseconfig(*fixed))
    spelled = f"--no-{setting.name}" if setting.flag else f"--{setting.name}={setting.default}"
    given = read(pytester.parseconfig(*fixed, spelled))
    assert given == left_out


@pytest.fixture
def markdown(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return importlib.import_module("reference.markdown")


def documented(first, *, second: int = 2, **others: str) -> None:
    """Do ``first`` with *stars*, <tags> and a_name.

    A list:

    - ``one``: 1 | 2;
    - two.

    Args:
        first: what it is, over
            two lines.
        second: a number.

    Returns: ``None``, always;
        and no more.
    Raises: ValueError if it cannot.

    >>> 1 + 1
    2

    >>> [1]
    [1]
    """


EXPECTED = r"""
Do `first` with \*stars\*, &lt;tags> and a\_name.

A list:

- `one`: 1 | 2;
- two.

**Args**

- `first`: what it is, over two lines.
- `second`: a number.

**Returns** `None`, always; and no more.

**Raises** ValueError if it cannot.

```pycon
>>> 1 + 1
2
```

```pycon
>>> [1]
[1]
```
"""


def test_a_docstring_in_googles_style_is_markdown(markdown):
    assert markdown.prose(documented) == EXPECTED.strip()


def test_a_description_ends_before_arguments_results_errors_and_examples(markdown):
    assert markdown.description(documented) == EXPECTED.partition("**Args**")[0].strip()


def test_a_signature_is_as_in_the_source(markdown):
    assert markdown.signature(documented) == "documented(first, *, second: int = 2, **others: str) -> None"


def test_a_long_signature_has_an_argument_per_line(markdown):
    lines = markdown.signature(documented, name="d" * 60).splitlines()
    assert lines[1:] == ["    first,", "    *,", "    second: int = 2,", "    **others: str,", ") -> None"]


def test_a_bar_in_a_cell_does_not_end_it(markdown):
    assert markdown.table(["a"], [["x|y"]]).splitlines()[-1] == r"| x\|y |"


@pytest.mark.parametrize("name", ["reference.markdown", "site_links"])
def test_the_examples_of_the_scripts_run(name, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    ended = doctest.testmod(importlib.import_module(name))
    assert ended.attempted
    assert not ended.failed
    assert Path(sys.modules[name].__file__).is_relative_to(ROOT / "scripts")
