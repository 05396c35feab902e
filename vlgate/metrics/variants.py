"""Other definitions of some metrics, from released code or printed formulas; they are off by default."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics import answer_rules
from vlgate.metrics.measures import Measure, Values, group_measure, wins
from vlgate.metrics.score_rules import TEXT
from vlgate.types import FloatArray

# What a variant of a metric is computed from: the replies to the cases of a task, as arrays.

Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The n judged cases of one task as arrays, in the task's order; those that the shape does not have are empty.

    ``scores``, shape (n, k), are the match scores. ``answers``, shape (n, k), are the answers to the questions of each
    case as the model gave them, None for a tie between choices, and ``truths``, of the same shape, the right answers.
    ``files``, shape (n,), is the file that each case was read from, in the order in which the task reads its files.
    ``groups`` numbers the groups of the cases by metric; see ``metrics.grouped``.
    """

    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    answers: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    truths: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    files: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=str))
    groups: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


Rule = Callable[[Evidence], Mapping[str, Measure]]
"""A function from the evidence of at least one case to measures, by the names of the metrics without the variant."""


# Scores as released code compares them, in which the place of the truth decides a tie.


def first_of_two(evidence: Evidence) -> dict[str, Measure]:
    """Compute ``acc_r`` of What'sUp's pairs of captions as its released code does: the first of the highest wins.

    The true caption comes first, so a tie is right, and a model that gives all captions one score has 1.
    """
    return {"acc_r": _mean(wins(evidence.scores[:, 0], evidence.scores[:, 1], "credit"))}


def first_of_four(evidence: Evidence) -> dict[str, Measure]:
    """Compute the metrics of What'sUp's photographs as its released code does: the first of the highest scores wins.

    The true caption comes first, so a tie is right, and a model that gives all captions one score has 1.
    """
    right = wins(evidence.scores[:, 0], np.nanmax(evidence.scores[:, 1:], axis=1), "credit")
    return {TEXT: _mean(right), **_grouped(evidence, right, ("pair_all", "set_all"))}


def softmax_of_two_images(evidence: Evidence) -> dict[str, Measure]:
    """Compute ``image`` and ``macro`` of MMVP-VLM as its released code does: is the share of image 1 above one half?

    For text 1 the share must be above one half, so a tie is wrong; for text 2 it must not be, so a tie is right. A
    model that gives both images one score has 0; one whose scores tie for text 2 only is right there.
    """
    i0c0, i0c1, i1c0, i1c1 = evidence.scores.T
    right = wins(i0c0, i1c0) * wins(i1c1, i0c1, "credit")
    return {"image": _mean(right), **_grouped(evidence, right, ("macro",))}


def _grouped(evidence: Evidence, right: FloatArray, metrics: tuple[str, ...]) -> Mapping[str, Measure]:
    found = ((name, group_measure(name, right, evidence.groups[name])) for name in metrics if name in evidence.groups)
    return {name: one for name, one in found if one is not None}


def _mean(values: FloatArray) -> Values:
    return Values(values=values, rows=np.arange(len(values)))


# Answers as released code searches them for words.

_NO = frozenset(("No", "not", "no"))


def pope_says_no(answer: str | None) -> bool:
    """Return whether POPE's released code takes an answer for a no: "No", "not" or "no" stands in its first sentence.

    The first sentence ends at the first full stop, commas are dropped, and words are what stands between blanks.
    Anything else is a yes: an empty answer, "NO", "isn't", "no!", and here also a tie of the two choices.

    >>> [pope_says_no(answer) for answer in ("No, there is not.", "NO", "", "It is unclear. No.")]
    [True, False, False, False]
    """
    first = (answer or "").partition(".")[0].replace(",", "")
    return not _NO.isdisjoint(first.split(" "))


def pope(evidence: Evidence) -> dict[str, Measure]:
    """Compute POPE's metrics as its released code does: every answer without "No", "not" or "no" is a yes.

    So an answer that is neither is right for half of the questions, and a model that says nothing has an accuracy of
    1/2 and a recall of 1. The words are searched in the first sentence, with their case.
    """
    return _yes_or_no(evidence, [not pope_says_no(answer) for [answer] in evidence.answers.tolist()])


def repope_says(answer: str | None) -> bool | None:
    """Return whether RePOPE's released code takes an answer for a yes; None if it drops the answer.

    "Yes" anywhere in the answer, in any case and as a part of any word, is a yes; otherwise "no" anywhere is a no.

    >>> [repope_says(answer) for answer in ("No, but yes", "I see none.", "Cars are absent.", "It is unknown")]
    [True, False, None, False]
    """
    text = (answer or "").lower()
    return True if "yes" in text else False if "no" in text else None


def repope(evidence: Evidence) -> dict[str, Measure]:
    """Compute RePOPE's metrics as its released code does: "yes", or else "no", anywhere in an answer counts.

    An answer with neither is in no count, so a model that answers only what it is sure of can have 1 everywhere.
    Source: ``src/eval_utils.py`` of https://github.com/YanNeu/RePOPE.
    """
    return _yes_or_no(evidence, [repope_says(answer) for [answer] in evidence.answers.tolist()])


def _yes_or_no(evidence: Evidence, said: Sequence[bool | None]) -> dict[str, Measure]:
    rows = np.array([row for row, one in enumerate(said) if one is not None], dtype=np.intp)
    if not rows.size:
        return {}
    yes = np.array([float(said[row] or False) for row in rows])
    truths = np.array([truth == "yes" for [truth] in evidence.truths[rows].tolist()], dtype=np.bool_)
    facts = answer_rules.single_case_metrics(yes, truths, np.ones(rows.size, dtype=np.bool_))
    found: dict[str, Measure] = {name: Values(values=facts[name], rows=rows) for name in ("accuracy", "yes_share")}
    others = answer_rules.single_statistics(yes, truths, np.full(rows.size, np.nan))
    return found | {name: replace(one, rows=rows[one.rows]) for name, one in others.items()}


def first_word(answer: str | None, words: Sequence[str]) -> str | None:
    """Return which word stands first in an answer, as a whole word in any case; None if none does.

    >>> first_word("The image shows a dog, so B.", ("a", "b"))
    'a'
    """
    found = {word: re.search(rf"\b{word}\b", answer or "", re.IGNORECASE) for word in words}
    places = {word: match.start() for word, match in found.items() if match}
    return min(places, key=places.__getitem__) if places else None


def naturalbench_yes_no(evidence: Evidence) -> dict[str, Measure]:
    """Compute NaturalBench's metrics as its released code does: the first "yes" or "no" of an answer counts.

    "Yes and no" is a yes, and "There is no way to tell" a no. An answer with neither is wrong. The truths are yes, no,
    no, yes, whatever the file says.
    """
    return _crossed(evidence, ("yes", "no"))


def naturalbench_choice(evidence: Evidence) -> dict[str, Measure]:
    """Compute NaturalBench's metrics as its released code does: the first "a" or "b" of an answer counts.

    The article of "This is a dog" is read as option A. An answer with neither letter is wrong. The truths are A, B, B,
    A, whatever the file says.
    """
    return _crossed(evidence, ("a", "b"))


def _crossed(evidence: Evidence, words: tuple[str, str]) -> dict[str, Measure]:
    first, second = words
    said = [[first_word(answer, words) for answer in row] for row in evidence.answers.tolist()]
    right = np.array(
        [[one == truth for one, truth in zip(row, (first, second, second, first), strict=True)] for row in said]
    )
    facts = answer_rules.question_quad_case_metrics(right, np.ones_like(right))
    rows = np.arange(len(right))
    return {
        name: Values(values=facts[name], rows=rows) for name in answer_rules.QUESTION_QUAD_METRICS if name != "read"
    }


# Other definitions of some metrics, from released code or printed formulas; they are off by default.
#
# Published figures use these definitions, so ``--protocol`` can ask for them. The name of such a metric says where its
# definition comes from, as in ``cons@carets_release``, so that it cannot be mistaken for the metric itself.

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """How a variant defines some metrics of a task: their names, the rule, and a phrase that says how it differs."""

    metrics: tuple[str, ...]
    rule: Rule
    differs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Another definition of some metrics.

    ``about`` describes it in a report. ``definitions`` maps patterns of task ids to definitions; the first pattern that
    matches a task applies.
    """

    about: str
    definitions: Mapping[str, Definition]

    def definition(self, task: str) -> Definition | None:
        """Return the definition for a task, given by its id; None if the variant does not apply to it."""
        return next((one for pattern, one in self.definitions.items() if fnmatchcase(task, pattern)), None)


def names(variants: Collection[str], task: str) -> tuple[str, ...]:
    """Return the names of the metrics that some variants give for a task, in the order of ``VARIANTS``.

    Names that are not variants are ignored: ``--protocol`` also takes ways to read a benchmark, and checks all names.

    >>> names(["carets_release"], "carets/order-inv")
    ('cons@carets_release', 'c_acc@carets_release')
    """
    applying = _applying(variants, task)
    return tuple(f"{metric}@{name}" for name, definition in applying.items() for metric in definition.metrics)


def how_it_differs(metric: str, task: str) -> str:
    """Return how a metric of a variant, ``<metric>@<variant>``, differs from the metric; empty if there is none.

    >>> how_it_differs("top1_text@release", "whatsup/a")
    'a tie is right, so one score for everything is always right'
    """
    name, _, variant = metric.partition("@")
    found = _applying([variant], task).get(variant)
    return found.differs if found is not None and name in found.metrics else ""


def definitions(metrics: Iterable[str], task: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return those metrics of a task that are of variants, by the variant and by how it differs.

    >>> list(definitions(["image", "image@release", "macro@release"], "mmvp/vlm").values())
    [('image@release', 'macro@release')]
    """
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for metric in metrics:
        if said := how_it_differs(metric, task):
            key = (metric.partition("@")[2], said)
            found[key] = (*found.get(key, ()), metric)
    return found


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
    for name, definition in _applying(variants, task).items():
        found |= {f"{metric}@{name}": measure for metric, measure in definition.rule(evidence).items()}
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


_ONE_SCORE = "a tie is right, so one score for everything is always right"
_NOT_YES = "every answer without 'No', 'not' or 'no' in its first sentence is a yes, even an empty one"
_POPE = ("accuracy", "precision", "recall", "f1", "yes_share")
_CROSSED = ("g_acc", "q_acc", "i_acc", "q_image_acc")
_LAST_FILE = "over the last file only, with exact texts"

_CARETS = {
    "carets/ontological-inv": Definition(
        metrics=("cons", "c_acc"),
        rule=carets_ontological,
        differs=f"{_LAST_FILE}; a pair whose first answer is wrong is consistent",
    ),
    "carets/*-inv": Definition(metrics=("cons", "c_acc"), rule=carets_invariance, differs=_LAST_FILE),
    "carets/*-dir": Definition(
        metrics=("cons", "c_acc"),
        rule=carets_directional,
        differs=f"{_LAST_FILE}; the second answer need only differ from the first",
    ),
}
_RELEASE = {
    "mmvp/vlm": Definition(
        metrics=("image", "macro"),
        rule=softmax_of_two_images,
        differs="a tie of the first text is wrong, and one of the second text right",
    ),
    "naturalbench/yes-no": Definition(
        metrics=_CROSSED, rule=naturalbench_yes_no, differs="the first 'yes' or 'no' of an answer counts"
    ),
    "naturalbench/multiple-choice": Definition(
        metrics=_CROSSED,
        rule=naturalbench_choice,
        differs="the first 'a' or 'b' of an answer counts, so the article 'a' is option A",
    ),
    "pope/repope-*": Definition(
        metrics=_POPE,
        rule=repope,
        differs="'yes' anywhere in an answer is a yes, or else 'no' anywhere a no, and all other answers are left out",
    ),
    "pope/*": Definition(metrics=_POPE, rule=pope, differs=_NOT_YES),
    "whatsup/[ab]": Definition(metrics=("top1_text", "pair_all", "set_all"), rule=first_of_four, differs=_ONE_SCORE),
    "whatsup/*": Definition(metrics=("acc_r",), rule=first_of_two, differs=_ONE_SCORE),
}

VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        "carets_release": Variant(
            about="cons and c_acc as in the released code of CARETS: the last file of each test only, exact texts, "
            "looser checks; groups the files as carets_default_yml does",
            definitions=_CARETS,
        ),
        "valse_paper_ties": Variant(
            about="acc_r by the formula of VALSE's appendix B: ties are right, the divisor counts captions and foils",
            definitions={
                "valse/*": Definition(
                    metrics=("acc_r",),
                    rule=valse_paper,
                    differs="a tie is right, and the divisor counts captions and foils",
                )
            },
        ),
        "bla_volta": Variant(
            about="ranks as in BLA's released code for the VOLTA models: of two tied sentences, the later is above",
            definitions={
                "bla/*": Definition(
                    metrics=("sen_acc", "set_acc", "set_error"),
                    rule=bla_volta,
                    differs="of two tied sentences, the later one has the better rank",
                )
            },
        ),
        "release": Variant(
            about="the scores of MMVP-VLM, NaturalBench, POPE, RePOPE and What'sUp as their released code computes "
            "them, with its way to count ties and to read answers",
            definitions=_RELEASE,
        ),
        "pope_release": Variant(
            about="the scores of POPE and RePOPE as evaluate.py of POPE computes them: an answer without a no is a yes",
            definitions={"pope/*": _RELEASE["pope/*"]},
        ),
    },
)
"""The variants, by the names that ``--protocol`` accepts."""


def _applying(variants: Collection[str], task: str) -> dict[str, Definition]:
    found = ((name, variant.definition(task)) for name, variant in VARIANTS.items() if name in variants)
    return {name: definition for name, definition in found if definition is not None}


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
