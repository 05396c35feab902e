"""How little it takes: the smallest change, its meaning kept, that makes the model get a case wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from vlgate.types import Batch, Predictor

if TYPE_CHECKING:
    from vlgate.shrink.search import Findings


@pytest.mark.shrink
def test_shrink(subject: Batch, model: Predictor, search: Findings) -> None:
    """A case that the model gets right is changed until it is not; what is found is a result, not a failure."""
    from vlgate.shrink.search import smallest_change  # other runs need not load it

    search.record(smallest_change(subject, model, budget=search.budget, seed=search.seed))
