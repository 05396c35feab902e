"""Every example in a docstring runs, and prints what it says."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"vlgate": "vlgate", "perturb": "vlgate.perturb", "fixtures": "vlgate.fixtures"}


def with_examples():
    """The modules whose text holds an example, by the names under which they are imported."""
    for folder, prefix in FOLDERS.items():
        for file in sorted((ROOT / folder).rglob("*.py")):
            parts = file.relative_to(ROOT / folder).with_suffix("").parts
            twice = folder == "vlgate" and parts[0] in {"perturb", "fixtures"}  # links to the other two folders
            if not twice and ">>>" in file.read_text(encoding="utf-8"):
                yield ".".join([prefix, *(part for part in parts if part != "__init__")])


MODULES = list(with_examples())


def test_examples_are_found():
    assert len(MODULES) > 20


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name):
    ended = doctest.testmod(importlib.import_module(name))
    assert ended.attempted
    assert not ended.failed
