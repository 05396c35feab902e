"""Foils: one wrong word makes a caption false."""

import pytest

from vlgate.asking.predictor import score
from vlgate.judging.verdicts import judge
from vlgate.types import Batch, Ledger, Predictor


@pytest.mark.foil
def test_foil(batch: Batch, model: Predictor, ledger: Ledger) -> None:
    """The true text fits the image better than its foil."""
    ledger.record(judge(batch, score(model, batch)))
