"""What the scores of every matcher must show."""

import random

import numpy as np
import pytest


def turns(one, other):
    """The number of pairs of requests that two scores order differently."""
    return int((np.sign(one[:, None] - one) != np.sign(other[:, None] - other)).sum()) // 2


def steady(match, requests, **tolerance):
    """Assert that neither the batch nor its order changes a score, and return the scores."""
    together = match(requests)
    assert np.ptp(together) > 0.01  # otherwise the rest would show nothing
    assert np.concatenate([match([request]) for request in requests]) == pytest.approx(together, **tolerance)
    order = random.Random(0).sample(range(len(requests)), len(requests))
    assert match([requests[place] for place in order]) == pytest.approx(together[order], **tolerance)
    return together
