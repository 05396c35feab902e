"""The value of each metric of a task that guessing is expected to reach."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from vlgate.judging.answers import normal_answer
from vlgate.metrics.names import CHANCE
from vlgate.types import Ask, Capability, Case, Shape


def chance(shape: Shape, capability: Capability, cases: Sequence[Case]) -> dict[str, float]:
    """Return the chance level of the metrics of some cases, by name.

    For scores it is the expected value if they are in random order and none tie, for questions that of a choice drawn
    uniformly and independently among those of each question.

    Args:
        shape: the shape of the cases.
        capability: whether two answers should be equal (``invariance``) or differ.
        cases: the cases.

    Returns: values in 0..1; metrics whose chance level is unknown are absent, as are those of questions if one has no
        choices.

    >>> chance("pair", "foil", ())["acc_r"]
    0.5
    """
    if shape != "questions":
        return dict(CHANCE[shape])
    pairs = [_drawn(case, capability) for case in cases]
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return {}
    first, second, agree = np.mean(known, axis=0).tolist()
    both = float(np.mean([pair[0] * pair[1] for pair in known]))
    return {
        "acc": (first + second) / 2,
        "cons": agree,
        "c_acc": both,
        "acc_original": first,
        "acc_perturbed": second,
    }


def _drawn(case: Case, capability: Capability) -> tuple[float, float, float] | None:
    """The probabilities that each answer is right, and that both relate as they should; None without choices."""
    choices = [_choices(asked.choices) if isinstance(asked, Ask) else frozenset() for asked in case.requests]
    if not all(choices):
        return None
    first, second = (
        (_normal(str(truth)) in offered) / len(offered) for truth, offered in zip(case.truths, choices, strict=True)
    )
    equal = len(choices[0] & choices[1]) / (len(choices[0]) * len(choices[1]))
    return first, second, equal if capability == "invariance" else 1 - equal


_normal = lru_cache(maxsize=4096)(normal_answer)


@lru_cache(maxsize=4096)
def _choices(offered: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(_normal, offered))
