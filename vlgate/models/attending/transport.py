"""Optimal transport between two sets of features, by which ViLT aligns words with patches."""

from __future__ import annotations

import numpy as np

from vlgate.types import FloatArray

ROUNDS = 1000
STEP = 0.1
"""Rounds and step with which ViLT's authors draw heat maps (``demo.py`` of github.com/dandelin/ViLT)."""


def cosine_cost(words: FloatArray, patches: FloatArray) -> FloatArray:
    """Return 1 minus the cosine of each word, shape (m, d), with each patch, shape (n, d), as an array (m, n)."""
    one = words / np.linalg.norm(words, axis=1, keepdims=True).clip(1e-12)
    two = patches / np.linalg.norm(patches, axis=1, keepdims=True).clip(1e-12)
    cost: FloatArray = 1 - one @ two.T
    return cost


def transport(cost: FloatArray, rounds: int = ROUNDS, step: float = STEP) -> FloatArray:
    """Return a plan that moves equal weights on the rows to equal weights on the columns at little cost.

    Inexact proximal point iterations (Xie et al., UAI 2020), which approach the cheapest plan as the rounds grow.

    Args:
        cost: the cost of moving from each row to each column, shape (m, n).
        rounds: the number of iterations.
        step: how far each iteration keeps to the plan before it; a smaller one is faster and less stable.

    Returns: the plan, shape (m, n): its rows sum to 1/m and its columns to about 1/n.

    >>> transport(np.array([[0.0, 1.0], [1.0, 0.0]])).round(3).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    m, n = cost.shape
    kernel = np.exp(-cost / step)
    plan = np.full((m, n), 1 / (m * n))
    scale = np.full(n, 1 / n)
    for _ in range(rounds):
        moved = kernel * plan
        rows = 1 / (m * (moved @ scale))
        scale = 1 / (n * (moved.T @ rows))
        plan = rows[:, None] * moved * scale
    found: FloatArray = plan / (m * plan.sum(axis=1, keepdims=True))
    return found
