"""Compositionality: the same words in another order describe another image."""

import pytest

from vlgate.asking.predictor import score
from vlgate.judging.verdicts import judge
from vlgate.types import Batch, Ledger, Predictor


@pytest.mark.compositional
def test_compositional(batch: Batch, model: Predictor, ledger: Ledger) -> None:
    """Each of two captions of the same words fits its own image better than the other's."""
    ledger.record(judge(batch, score(model, batch)))
