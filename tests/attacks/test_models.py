"""No bad model ends with status 0, and no good one with another."""

from dataclasses import replace

import pytest

from attacks.catalogue import models
from attacks.ways import Way

QUICK = Way(name="quick", about="many cases in one test", args=("--items=batch",))
REFUSED = {1, 2, 4}
"""A test or a gate failed, the run was interrupted, or there is no model: never an error of pytest itself."""


def of(**kind):
    """The models of a kind; all but the first of each module are slow."""
    names = [model.name for model in models() if all(getattr(model, key) == value for key, value in kind.items())]
    first = {name.partition(":")[0]: name for name in reversed(names)}.values()
    marks = {name: () if name in first else (pytest.mark.slow,) for name in names}
    return pytest.mark.parametrize("model", [pytest.param(name, marks=marks[name]) for name in names])


@of(good=True, alone=False)
def test_a_good_model_passes(inside, model):
    ended = inside(model, QUICK)
    assert ended.status == 0, ended.output


@of(good=False, alone=False)
def test_a_bad_model_does_not_pass(inside, model):
    ended = inside(model, QUICK)
    assert ended.status in REFUSED, ended.output
    assert "INTERNALERROR" not in ended.output


@of(good=True, alone=True)
def test_a_good_model_that_changes_its_process_passes(alone, model):
    ended = alone(model, QUICK)
    assert ended.status == 0, ended.output


@of(good=False, alone=True, hangs=False)
def test_a_bad_model_that_changes_or_ends_its_process_does_not_pass(alone, model):
    ended = alone(model, QUICK)
    assert ended.status not in {0, None}, ended.output


@of(hangs=True)
def test_a_model_that_never_returns_does_not_pass(alone, model):
    ended = alone(model, replace(QUICK, args=(*QUICK.args, "--call-timeout=1")))
    assert ended.status not in {0, None}, ended.output


def test_there_are_enough_models_and_each_says_what_it_does():
    assert len([model for model in models() if not model.good]) >= 60
    assert len([model for model in models() if model.good]) >= 10
    assert [model.name for model in models() if not model.about.endswith(".")] == []
