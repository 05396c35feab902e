"""The canaries name each fault that is planted around the trained models, and nothing about the intact ones."""

from pathlib import Path

import pytest
from transformers.image_utils import (
    IMAGENET_DEFAULT_MEAN,
    IMAGENET_DEFAULT_STD,
    OPENAI_CLIP_MEAN,
    OPENAI_CLIP_STD,
)

from tests.controls.delivery.planted import PLANTED, planted, wrong_mean
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.models.loading.registry import load
from vlgate.probes.controls.delivery import diagnose

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def loaded():
    models = {}
    return lambda name: models.setdefault(name, load(name, folder=Path()).model)


def findings(model):
    return diagnose(ModelPredictor(model=model, name="tried", caller=Caller(name="tried", size=64))).findings


@pytest.mark.parametrize("name", ["tiny-lxmert", "tiny-clip"])
@pytest.mark.parametrize("bug", ["none", *PLANTED, "wrong mean"])
def test_a_planted_bug_is_named_and_no_other(loaded, name, bug):
    with planted(loaded(name), bug) as model:
        assert [finding.bug for finding in findings(model)] == ([] if bug == "none" else [bug])


@pytest.mark.parametrize(
    ("mean", "deviation"),
    [(OPENAI_CLIP_MEAN, OPENAI_CLIP_STD), (IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD)],
    ids=["clip", "imagenet"],
)
def test_a_mean_of_another_model_is_said(loaded, mean, deviation):
    with wrong_mean(loaded("tiny-clip"), mean, deviation):
        [finding] = findings(loaded("tiny-clip"))
    assert finding.bug == "wrong mean"
    assert "in place of 0.5" in finding.why
