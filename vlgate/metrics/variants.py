"""Other definitions of some metrics, from released code or printed formulas; they are off by default.

Published figures use these definitions, so ``--protocol`` can ask for them. The name of such a metric says where its
definition comes from, as in ``cons@carets_release``, so that it cannot be mistaken for the metric itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics.measures import Measure, Values, wins
from vlgate.types import FloatArray

BoolArray = NDArray[np.bool_]
Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The n judged cases of one task as arrays, in the task's order; those that the shape does not have are empty.

    ``scores``, shape (n, k), are the match scores. ``answers``, shape (n, 2), are the answers to the original and to
    the perturbed question as the model gave them, None for a tie between choices, and ``truths``, of the same shape,
    the right answers. ``files``, shape (n,), is the file that each case was read from, in the order in which the task
    reads its files.
    """

    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    answers: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    truths: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    files: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=str))


Rule = Callable[[Evidence], Mapping[str, Measure]]
"""A function from the evidence of at least one case to measures, by the names of the metrics without the variant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Another definition of some metrics.

    ``about`` describes it in a report. ``rules`` maps patterns of task ids to rules; the first pattern that matches a
    task applies. Every rule gives all of ``metrics``.
    """

    about: str
    metrics: tuple[str, ...]
    rules: Mapping[str, Rule]

    def rule(self, task: str) -> Rule | None:
        """Return the rule for a task, given by its id; None if the variant does not apply to it."""
        return next((rule for pattern, rule in self.rules.items() if fnmatchcase(task, pattern)), None)


def names(variants: Collection[str], task: str) -> tuple[str, ...]:
    """Return the names of the metrics that some variants give for a task, in the order of ``VARIANTS``.

    Names that are not variants are ignored: ``--protocol`` also takes ways to read a benchmark, and checks all names.

    >>> names(["carets_release"], "carets/order-inv")
    ('cons@carets_release', 'c_acc@carets_release')
    """
    applying = _applying(variants, task)
    return tuple(f"{metric}@{name}" for name, variant in applying.items() for metric in variant.metrics)


def measures(variants: Collection[str], task: str, evidence: Evidence) -> dict[str, Measure]:
    """Compute the metrics that some variants give for the cases of a task, as ``<metric>@<variant>``.

    Args:
        variants: the names of the variants; other names are ignored.
        task: the id of the task.
        evidence: of at least one judged case.

    Returns: one measure per metric; empty if no variant applies to the task. The ``rows`` of a measure are the cases
        that it counts, which can be a part of them.
    Raises: ValueError if a score is NaN.
    """
    found: dict[str, Measure] = {}
    for name, variant in _applying(variants, task).items():
        if rule := variant.rule(task):
            found |= {f"{metric}@{name}": measure for metric, measure in rule(evidence).items()}
    return found


def carets_invariance(evidence: Evidence) -> dict[str, Measure]:
    """Compute ``cons`` and ``c_acc`` of an invariance test as CARETS' released code does: over its last file only.

    The released code compares texts exactly: "Yes." is neither right nor consistent with "yes".
    """
    right = _right(evidence)
    return _of_last_file(evidence, _said_twice(evidence, same=True), right[:, 0] & right[:, 1])


def carets_ontological(evidence: Evidence) -> dict[str, Measure]:
    """Compute both metrics of the ontological test as CARETS' released code does.

    It also counts every pair whose first answer is wrong as consistent.
    """
    right = _right(evidence)
    return _of_last_file(evidence, _said_twice(evidence, same=True) | ~right[:, 0], right[:, 0] & right[:, 1])


def carets_directional(evidence: Evidence) -> dict[str, Measure]:
    """Compute both metrics of a directional test as CARETS' released code does.

    Its ``c_acc`` does not compare the second answer with the truth: it counts a pair if the first answer is right and
    the second answer is a different one. If all answers are "yes" or "no", this equals the paper's ``c_acc``.
    """
    consistent = _said_twice(evidence, same=False)
    return _of_last_file(evidence, consistent, _right(evidence)[:, 0] & consistent)


def valse_paper(evidence: Evidence) -> dict[str, Measure]:
    """Compute VALSE's ``acc_r`` by the formula of its appendix B: a tie is right, and the divisor is ``|C| + |F|``.

    With one foil per caption the value is at most 1/2. The paper's tables and code use the strict share of pairs.
    """
    values = wins(evidence.scores[:, 0], evidence.scores[:, 1], "credit") / 2
    return {"acc_r": Values(values=values, rows=np.arange(len(values)))}


def bla_volta(evidence: Evidence) -> dict[str, Measure]:
    """Compute BLA's metrics from ranks as the released code for the VOLTA models does, by ``argsort`` of the scores.

    If sentences tie, the later one has the better rank, and the false sentences come last. So a model with one score
    for all sentences has a set error of 1, and a sentence accuracy and set accuracy of 0. The scores have shape (n, 4),
    for true_1, true_2, false_1 and false_2.
    """
    if bool(np.isnan(evidence.scores).any()):
        raise ValueError("a score is NaN: expected numbers; leave out the cases without a score, which are unscored")
    order = np.argsort(evidence.scores, axis=1, kind="stable")
    upper = np.argsort(order, axis=1, kind="stable") >= 2
    found = {
        "sen_acc": (upper == [True, True, False, False]).mean(axis=1),
        "set_acc": upper[:, :2].all(axis=1),
        "set_error": upper[:, 2:].all(axis=1),
    }
    rows = np.arange(len(upper))
    return {name: Values(values=values.astype(np.float64), rows=rows) for name, values in found.items()}


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "carets_release": Variant(
            about="cons and c_acc as in the released code of CARETS: the last file of each test only, exact texts, "
            "looser checks; groups the files as carets_default_yml does",
            metrics=("cons", "c_acc"),
            rules={
                "carets/ontological-inv": carets_ontological,
                "carets/*-inv": carets_invariance,
                "carets/*-dir": carets_directional,
            },
        ),
        "valse_paper_ties": Variant(
            about="acc_r by the formula of VALSE's appendix B: ties are right, the divisor counts captions and foils",
            metrics=("acc_r",),
            rules={"valse/*": valse_paper},
        ),
        "bla_volta": Variant(
            about="ranks as in BLA's released code for the VOLTA models: of two tied sentences, the later is above",
            metrics=("sen_acc", "set_acc", "set_error"),
            rules={"bla/*": bla_volta},
        ),
    },
)
"""The variants, by the names that ``--protocol`` accepts."""


def _applying(variants: Collection[str], task: str) -> dict[str, Variant]:
    return {name: VARIANTS[name] for name in VARIANTS if name in variants and VARIANTS[name].rule(task)}


def _right(evidence: Evidence) -> BoolArray:
    return np.asarray(evidence.answers == evidence.truths, dtype=np.bool_)


def _said_twice(evidence: Evidence, *, same: bool) -> BoolArray:
    """Whether both answers are the same text, or different texts; a tie is neither."""
    first, second = evidence.answers.T
    given = np.array([None not in row for row in evidence.answers.tolist()], dtype=np.bool_)
    return np.asarray((first == second) == same, dtype=np.bool_) & given


def _of_last_file(evidence: Evidence, consistent: BoolArray, both: BoolArray) -> dict[str, Measure]:
    rows = np.flatnonzero(evidence.files == evidence.files[-1])
    return {
        "cons": Values(values=consistent[rows].astype(np.float64), rows=rows),
        "c_acc": Values(values=both[rows].astype(np.float64), rows=rows),
    }
