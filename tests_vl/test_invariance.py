"""Invariance: a change that keeps the meaning keeps the answer."""

import pytest

from vlgate.asking.predictor import score
from vlgate.judging.verdicts import judge
from vlgate.types import Batch, Ledger, Predictor


@pytest.mark.invariance
def test_invariance(batch: Batch, model: Predictor, ledger: Ledger) -> None:
    """Both questions of a pair mean the same, and the model gives both the same right answer."""
    ledger.record(judge(batch, score(model, batch)))
