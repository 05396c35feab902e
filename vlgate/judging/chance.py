"""The value of each metric of a task that guessing is expected to reach."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from math import prod
from statistics import fmean

import numpy as np

from vlgate.judging.normal import normal_choice
from vlgate.judging.verdicts import choices_of, right_answers
from vlgate.metrics.measures import GROUPED, group_codes
from vlgate.metrics.shape_rules import YES, Odds
from vlgate.metrics.shapes import SHAPES
from vlgate.types import Capability, Case, Compare, FloatArray, Shape


def chance(shape: Shape, capability: Capability, cases: Sequence[Case]) -> dict[str, float]:
    """Return the chance level of the metrics of some cases, by name; those of unknown chance are absent."""
    # For scores it is the expected value if they are in random order and none tie, for questions that of a choice drawn
    # uniformly and independently among those of each question. If cases are asked with their images together, each
    # question is asked in two orders: a model that draws one choice and keeps to it in both reaches more (1/4 in
    # ``image`` for 1/16), and one that always names the same position 0.
    spec = SHAPES[shape]
    if not cases:
        return dict(spec.chance)
    if spec.together and any(isinstance(request, Compare) for request in cases[0].requests):
        odds = _odds(cases, capability, orders=2)
        if not odds.right.size:
            return {}
        by_case = spec.together.guess(odds)
        means = {name: float(values.mean()) for name, values in by_case.items()}
        return means | _grouped(cases, by_case[spec.headline])
    if spec.guess is None:
        found, odds = spec.chance, Odds(sizes=())
    else:
        odds = _odds(cases, capability, orders=1)
        found = spec.guess(odds)
    overall = found.get(spec.headline)
    if overall is None:
        return dict(found)
    right = spec.guessed_right(odds) if spec.guessed_right else np.full(len(cases), overall)
    return dict(found) | _grouped(cases, right)


def _odds(cases: Sequence[Case], capability: Capability, orders: int) -> Odds:
    odds = Odds(
        sizes=[len(case.requests) for case in cases],
        yes=sum(right_answers(case)[0] == YES for case in cases) / len(cases),
    )
    offered = [[_normal(choices_of(request)) for request in case.requests] for case in cases]
    if not all(map(all, offered)):
        return odds
    right = [
        [(truth in choices) / len(choices) for truth, choices in zip(right_answers(case), row, strict=True)]
        for case, row in zip(cases, offered, strict=True)
    ]
    agree = [len(row[0] & row[-1]) / (len(row[0]) * len(row[-1])) for row in offered]
    pairs = [[prod(row[start : start + orders]) for start in range(0, len(row), orders)] for row in right]
    prior = [(right_answers(case)[0] in row[-1]) / len(row[-1]) for case, row in zip(cases, offered, strict=True)]
    return replace(
        odds,
        offered=np.array([list(map(len, row)) for row in offered], dtype=np.float64).T,
        right=np.array(pairs, dtype=np.float64).T,
        agree=np.array([equal if capability == "invariance" else 1 - equal for equal in agree], dtype=np.float64),
        prior=np.array(prior, dtype=np.float64),
    )


def _grouped(cases: Sequence[Case], right: FloatArray) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric, codes in group_codes([case.tags for case in cases]).items():
        grouped: dict[int, list[float]] = {}
        for code, level in zip(codes.tolist(), right.tolist(), strict=True):
            grouped.setdefault(code, []).append(level)
        grouped.pop(-1, None)
        of_group = prod if GROUPED[metric] == "all" else fmean
        found |= {metric: fmean(map(of_group, grouped.values()))} if grouped else {}
    return found


@lru_cache(maxsize=4096)
def _normal(offered: tuple[str, ...]) -> frozenset[str]:
    return frozenset(normal_choice(choice, offered) for choice in offered)
