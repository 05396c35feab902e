"""What single functions say of plain words: calls in the lines of ``examples.tsv``."""

import importlib
from pathlib import Path

import pytest
from builders import table

from vlgate.perturb.ontology import default_ontology


@pytest.mark.parametrize(("module", "call", "value"), table(Path(__file__).with_name("examples.tsv")))
def test_an_example(module, call, value):
    names = vars(importlib.import_module(f"vlgate.perturb.{module}"))
    assert repr(eval(call, {**names, "ontology": default_ontology()})) == value
