"""Robustness: the smallest change that keeps the meaning of a case and makes the model get it wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vlgate.types import Batch, Predictor

if TYPE_CHECKING:
    from vlgate.probes.shrink.search import Findings


@pytest.mark.shrink
def test_shrink(subject: Batch, model: Predictor, search: Findings) -> None:
    """The smallest change after which the model gets the case wrong; finding one is a result, not a failure."""
    from vlgate.probes.shrink.search import smallest_change  # imported here, because other runs do not need it

    search.record(smallest_change(subject, model, budget=search.budget, seed=search.seed, families=search.families))
