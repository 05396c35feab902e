"""Directional expectation: a change that reverses the meaning changes the answer."""

import pytest

from vlgate.asking.predictor import score
from vlgate.judging.verdicts import judge
from vlgate.types import Batch, Ledger, Predictor


@pytest.mark.directional
def test_directional(batch: Batch, model: Predictor, ledger: Ledger) -> None:
    """The perturbed question means the opposite, and the model gives both right answers."""
    ledger.record(judge(batch, score(model, batch)))
