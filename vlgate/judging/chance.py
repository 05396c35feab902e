"""The value of each metric of a task that guessing is expected to reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from math import prod
from statistics import fmean
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.answers import normal_choice
from vlgate.judging.shapes import right_answers
from vlgate.metrics import score_rules
from vlgate.metrics.measures import GROUPED, group_codes
from vlgate.metrics.names import CHANCE, HEADLINE
from vlgate.types import Ask, Capability, Case, Compare, FloatArray, Shape


def chance(shape: Shape, capability: Capability, cases: Sequence[Case]) -> dict[str, float]:
    """Return the chance level of the metrics of some cases, by name.

    For scores it is the expected value if they are in random order and none tie, for questions that of a choice drawn
    uniformly and independently among those of each question. If cases are asked with their images together, each
    question is asked in two orders: a model that draws one choice and keeps to it in both reaches more (1/4 in
    ``image`` for 1/16), and one that always names the same position 0.

    Args:
        shape: the shape of the cases.
        capability: whether two answers should be equal (``invariance``) or differ.
        cases: the cases.

    Returns: values in 0..1; metrics whose chance level is unknown are absent, as are those of questions if one has no
        choices.

    >>> chance("pair", "foil", ())["acc_r"]
    0.5
    """
    if cases and any(isinstance(one, Compare) for one in cases[0].requests):
        return _together(shape, cases)
    found = _of_cases(shape, capability, cases)
    levels = _levels(shape, cases, found.get(HEADLINE[shape]))
    if levels is None:
        return found
    return found | _grouped(cases, levels)


def _grouped(cases: Sequence[Case], levels: FloatArray) -> dict[str, float]:
    """The chance of the metrics over groups of cases, from the chance that each case is right."""
    groups = group_codes([case.tags for case in cases])
    return {metric: _of_groups(metric, levels, codes) for metric, codes in groups.items() if (codes >= 0).any()}


def _together(shape: Shape, cases: Sequence[Case]) -> dict[str, float]:
    """The chance of cases that are asked with their images together: both replies of each pair are drawn."""
    drawn = [_drawn_twice(case) for case in cases]
    known = [one for one in drawn if one is not None]
    if len(known) < len(drawn):
        return {}
    found = _PAIRED[shape](np.array(known, dtype=np.float64).T)
    if shape == "twin_questions":
        prior = np.array([_prior(case) ** 2 for case in cases])
        found |= {"prior_rate": prior, "other_rate": 1 - found["acc_counterfactual"] - prior}
    levels = found[HEADLINE[shape]]
    return {name: float(values.mean()) for name, values in found.items()} | _grouped(cases, levels)


def _drawn_twice(case: Case) -> list[float] | None:
    """The probability that both replies of each pair of requests are right; None without choices."""
    choices = [_choices(asked.choices) if isinstance(asked, Ask | Compare) else frozenset() for asked in case.requests]
    if not all(choices):
        return None
    right = [(truth in offered) / len(offered) for truth, offered in zip(right_answers(case), choices, strict=True)]
    return [first * second for first, second in zip(right[::2], right[1::2], strict=True)]


def _of_quads(p: FloatArray) -> dict[str, FloatArray]:
    return {"text": p[0] * p[1], "image": p[2] * p[3], "group": p.prod(axis=0)}


def _of_twins(p: FloatArray) -> dict[str, FloatArray]:
    return {"acc": p.mean(axis=0), "c_acc": p[0] * p[1], "acc_normal": p[0], "acc_counterfactual": p[1]}


def _of_crossings(p: FloatArray) -> dict[str, FloatArray]:
    first, second, third, fourth = p
    return {
        "g_acc": p.prod(axis=0),
        "q_acc": (first * third + second * fourth) / 2,
        "i_acc": (first * second + third * fourth) / 2,
        "q_image_acc": p.mean(axis=0),
    }


_PAIRED: Mapping[Shape, Callable[[FloatArray], dict[str, FloatArray]]] = MappingProxyType(
    {
        "quad": _of_quads,
        "image_quad": _of_quads,
        "twin_captions": lambda p: {**_of_quads(p), "acc_normal": p[0], "acc_counterfactual": p[1], "prior_rate": p[1]},
        "image_choice": lambda p: {score_rules.IMAGE: p[0]},
        "question_quad": _of_crossings,
        "twin_questions": _of_twins,
    }
)
"""The chance of the metrics of cases that are asked together, from that of each pair of replies, shape (k, n)."""


def _of_cases(shape: Shape, capability: Capability, cases: Sequence[Case]) -> dict[str, float]:
    if shape in _FROM_CASES and cases:
        return _FROM_CASES[shape](cases)
    if shape not in {"questions", "twin_questions"}:
        return dict(CHANCE[shape])
    pairs = [_drawn(case, capability) for case in cases]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return {}
    first, second, agree = np.mean(known, axis=0).tolist()
    both = float(np.mean([pair[0] * pair[1] for pair in known]))
    if shape == "twin_questions":
        prior = float(np.mean(list(map(_prior, cases))))
        found = {"acc": (first + second) / 2, "c_acc": both, "acc_normal": first, "acc_counterfactual": second}
        return {**found, "prior_rate": prior, "other_rate": 1 - second - prior}
    return {
        "acc": (first + second) / 2,
        "cons": agree,
        "c_acc": both,
        "acc_original": first,
        "acc_perturbed": second,
    }


def _levels(shape: Shape, cases: Sequence[Case], overall: float | None) -> FloatArray | None:
    """The chance that each case is right, shape (n,); None if it is unknown."""
    if overall is None or not cases:
        return None
    if shape in {"choice", "image_choice"}:
        return np.array([1 / len(case.requests) for case in cases], dtype=np.float64)
    if shape in {"questions", "twin_questions"}:
        drawn = (_drawn(case, "invariance") or (0.0, 0.0) for case in cases)
        return np.array([first * second for first, second, *_ in drawn], dtype=np.float64)
    if shape == "question_quad":
        sizes = [[len(_choices(one.choices)) for one in case.requests if isinstance(one, Ask)] for case in cases]
        return np.array([1 / prod(one) for one in sizes], dtype=np.float64)
    return np.full(len(cases), overall)


def _of_groups(metric: str, levels: FloatArray, codes: NDArray[np.int64]) -> float:
    """The chance of a metric over groups whose cases are guessed independently."""
    grouped: dict[int, list[float]] = {}
    for code, level in zip(codes.tolist(), levels.tolist(), strict=True):
        if code >= 0:
            grouped.setdefault(code, []).append(level)
    of_group = prod if GROUPED[metric] == "all" else fmean
    return fmean(map(of_group, grouped.values()))


def _of_choices(name: str, cases: Sequence[Case]) -> dict[str, float]:
    """The chance of choices by scores in random order."""
    return {name: fmean(1 / len(case.requests) for case in cases)}


def _of_single(cases: Sequence[Case]) -> dict[str, float]:
    """The chance of a coin, by how many truths are yes."""
    share = sum(case.truths[0] in (True, "yes") for case in cases) / len(cases)
    return dict(CHANCE["single"]) | {"precision": share, "f1": share / (share + 1 / 2)}


def _of_crossed(cases: Sequence[Case]) -> dict[str, float]:
    """The chance of answers drawn among the choices of each question."""
    choices = [[len(_choices(one.choices)) if isinstance(one, Ask) else 0 for one in case.requests] for case in cases]
    if not all(map(all, choices)):
        return {}
    found = _of_crossings(1 / np.array(choices, dtype=np.float64).T)
    return {name: float(values.mean()) for name, values in found.items()}


_FROM_CASES: Mapping[Shape, Callable[[Sequence[Case]], dict[str, float]]] = MappingProxyType(
    {
        "choice": partial(_of_choices, score_rules.TEXT),
        "image_choice": partial(_of_choices, score_rules.IMAGE),
        "single": _of_single,
        "question_quad": _of_crossed,
    },
)


def _drawn(case: Case, capability: Capability) -> tuple[float, float, float] | None:
    """The probabilities that each answer is right, and that both relate as they should; None without choices."""
    choices = [_choices(asked.choices) if isinstance(asked, Ask) else frozenset() for asked in case.requests]
    if not all(choices):
        return None
    first, second = (
        (truth in offered) / len(offered) for truth, offered in zip(right_answers(case), choices, strict=True)
    )
    equal = len(choices[0] & choices[1]) / (len(choices[0]) * len(choices[1]))
    return first, second, equal if capability == "invariance" else 1 - equal


def _prior(case: Case) -> float:
    """The probability that an answer about the second image is the right one about the first."""
    last = case.requests[-1]
    offered = _choices(last.choices) if isinstance(last, Ask | Compare) else frozenset()
    return (right_answers(case)[0] in offered) / len(offered)


@lru_cache(maxsize=4096)
def _choices(offered: tuple[str, ...]) -> frozenset[str]:
    return frozenset(normal_choice(choice, offered) for choice in offered)
