"""What the scores of every matcher must show."""

import numpy as np


def turns(one, other):
    """The number of pairs of requests that two scores order differently."""
    return int((np.sign(one[:, None] - one) != np.sign(other[:, None] - other)).sum()) // 2
