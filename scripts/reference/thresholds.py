"""The page of ``thresholds.toml``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from reference.markdown import code, description, inline, table
from vlgate.errors import ThresholdsError
from vlgate.gates.decide import decide, expand
from vlgate.gates.records import KEYS, Key
from vlgate.gates.thresholds import read_thresholds
from vlgate.types import Shape

INTRODUCTION = """\
# thresholds.toml

The gates of a run. Without `--thresholds` it is `thresholds.toml` in the folder where pytest starts, or else the one
in pytest's rootdir. If there is none, a run without a data folder has the one that vlgate ships, and a run with data
has no gates. A key in `[gate]` wins over the same key in `[defaults]`. Every key, task and metric is checked before the
model is loaded.

```toml
schema = 1

[defaults]
confidence = 0.95
require = ["valse/*"]

[gate."valse/existence".acc_r]
min = 0.60
why = "the last release reached 0.66"

[limit."winoground/all".group]
max = 0.25
why = "known: it ignores the order of words"
```
"""
_GATE = '[gate."valse/existence".acc_r]\n'
FAULTS = (
    "[defaults]\n",
    "schema = 1\n[default]\nmin_cases = 30\n",
    'schema = 1\n[gate."valse/existance".acc_r]\nmin = 0.6\n',
    'schema = 1\n[gate."valse/existence".group]\nmin = 0.6\n',
    f"schema = 1\n{_GATE}minimum = 0.6\n",
    f"schema = 1\n{_GATE}min = 60\n",
    f"schema = 1\n{_GATE}min = 0.8\nmax = 0.6\n",
    f'schema = 1\n{_GATE}why = "as published"\n',
    'schema = 1\n[limit."valse/existence".acc_r]\nmin = 0.6\n',
    f'schema = 1\n{_GATE}min = 0.6\nbasis = "upper"\n',
    f"schema = 1\n{_GATE}min = 0.6\nconfidence = 95\n",
    f"schema = 1\n{_GATE}min = 0.6\nmin_cases = 0\n",
    'schema = 1\n[defaults]\nrequire = "valse/*"\n',
    'schema = 1\n[gate."valse/*".acc_r]\nmin = 0.5\n[gate."*/existence".acc_r]\nmin = 0.6\n',
    "schema = 1\n[checks]\ndeterminism = { allow = true }\n",
)
"""Thresholds files with one fault each; the page shows their error messages."""
_TASKS: dict[str, Shape] = {"valse/existence": "pair", "winoground/all": "quad"}


def page() -> str:
    """The keys, the rules, and the errors."""
    keys = table(("key", "stands in", "value", "default", "meaning"), list(map(_row, KEYS)))
    errors = "\n".join(map(_error, FAULTS))
    parts = [
        ("Keys", keys),
        ("Which gate holds for a task", description(expand)),
        ("How a gate decides", description(decide)),
        ("Errors", f"A file with a fault ends pytest with exit status 4 before anything runs.\n\n{errors}"),
    ]
    return "\n".join([INTRODUCTION, *(f"## {name}\n\n{text}\n" for name, text in parts)])


def _row(key: Key) -> tuple[str, ...]:
    places = ", ".join(code(section) if section.startswith("[") else section for section in key.sections)
    default = "none" if key.default is None else code(_toml(key.default))
    return code(key.name), places, inline(key.holds), default, inline(key.about)


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _error(fault: str) -> str:
    return f"```toml\n{fault}```\n\n```text\n{_message(fault)}\n```\n"


def _message(fault: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "thresholds.toml")
        file.write_text(fault, encoding="utf-8")
        try:
            read_thresholds(file, _TASKS)
        except ThresholdsError as error:
            return str(error).replace(f"{folder}{os.sep}", "")
    raise AssertionError(f"this thresholds file has no fault: {fault!r}")
