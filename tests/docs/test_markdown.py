"""Docstrings and signatures as Markdown."""

import doctest
import importlib
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def markdown(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
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
    monkeypatch.syspath_prepend(SCRIPTS)
    ended = doctest.testmod(importlib.import_module(name))
    assert ended.attempted
    assert not ended.failed
    assert Path(sys.modules[name].__file__).is_relative_to(SCRIPTS)
