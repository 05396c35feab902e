"""Other definitions of some metrics, from released code or printed formulas; they are off by default."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vlgate.metrics import answer_rules
from vlgate.metrics.measures import Measure, group_measure, mean_of, wins
from vlgate.metrics.score_rules import TEXT
from vlgate.types import FloatArray

Texts = NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The n judged cases of one task as arrays, in the task's order; those that the shape does not have are empty."""

    # ``scores``, shape (n, k), are the match scores. ``answers``, shape (n, k), are the answers to the questions of
    # each case as the model gave them, None for a tie between choices, and ``truths``, of the same shape, the right
    # answers. ``files``, shape (n,), is the file that each case was read from, in the order in which the task reads its
    # files. ``groups`` numbers the groups of the cases by metric; see ``measures.group_codes``.

    scores: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    answers: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    truths: Texts = field(default_factory=lambda: np.empty((0, 2), dtype=object))
    files: NDArray[np.str_] = field(default_factory=lambda: np.empty(0, dtype=str))
    groups: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


Rule = Callable[[Evidence], Mapping[str, Measure]]
"""A function from the evidence of at least one case to measures, by the names of the metrics without the variant."""


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


def _mean(values: FloatArray) -> Measure:
    return mean_of(values, np.arange(len(values)))


def pope(evidence: Evidence) -> dict[str, Measure]:
    """Compute POPE's metrics as its released code does: every answer without "No", "not" or "no" is a yes.

    So an answer that is neither is right for half of the questions, and a model that says nothing has an accuracy of
    1/2 and a recall of 1. The words are searched in the first sentence, with their case.
    """
    # The first sentence ends at the first full stop, commas are dropped, and words are what stands between blanks.
    # Anything else is a yes: an empty answer, "NO", "isn't", "no!", and here also a tie of the two choices.
    first = [(answer or "").partition(".")[0].replace(",", "") for [answer] in evidence.answers.tolist()]
    return _yes_or_no(evidence, [{"No", "not", "no"}.isdisjoint(sentence.split(" ")) for sentence in first])


def repope(evidence: Evidence) -> dict[str, Measure]:
    """Compute RePOPE's metrics as its released code does: "yes", or else "no", anywhere in an answer counts.

    An answer with neither is in no count, so a model that answers only what it is sure of can have 1 everywhere.
    Source: ``src/eval_utils.py`` of https://github.com/YanNeu/RePOPE.
    """
    texts = [(answer or "").lower() for [answer] in evidence.answers.tolist()]  # also "yes" or "no" in other words
    return _yes_or_no(evidence, [True if "yes" in text else False if "no" in text else None for text in texts])


def _yes_or_no(evidence: Evidence, said: Sequence[bool | None]) -> dict[str, Measure]:
    rows = np.array([row for row, one in enumerate(said) if one is not None], dtype=np.intp)
    if not rows.size:
        return {}
    yes = np.array([float(said[row] or False) for row in rows])
    truths = np.array([truth == "yes" for [truth] in evidence.truths[rows].tolist()], dtype=np.bool_)
    facts = answer_rules.single_case_metrics(yes, truths, np.ones(rows.size, dtype=np.bool_))
    found: dict[str, Measure] = {name: mean_of(facts[name], rows) for name in ("accuracy", "yes_share")}
    others = answer_rules.single_statistics(yes, truths, np.full(rows.size, np.nan))
    return found | {name: replace(other, rows=rows[other.rows]) for name, other in others.items()}


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
    whole_word = re.compile(rf"\b(?:{first}|{second})\b", re.IGNORECASE)
    answers = [[whole_word.search(answer or "") for answer in row] for row in evidence.answers.tolist()]
    said = [[word[0].lower() if word else None for word in row] for row in answers]
    right = np.array([[one == truth for one, truth in zip(row, [*words, second, first], strict=True)] for row in said])
    facts = answer_rules.question_quad_case_metrics(right, np.ones_like(right))
    return {name: _mean(facts[name]) for name in answer_rules.QUESTION_QUAD_METRICS if name != "read"}


# Published figures use these definitions, so ``--protocol`` can ask for them. The name of such a metric says where its
# definition comes from, as in ``cons@carets_release``, so that it cannot be mistaken for the metric itself.

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    metrics: tuple[str, ...]
    rule: Rule
    differs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    # ``about`` describes it in a report. ``definitions`` maps patterns of task ids to definitions; the first pattern
    # that matches a task applies.

    about: str
    definitions: Mapping[str, Definition]


def names(variants: Collection[str], task: str) -> tuple[str, ...]:
    """Return the names of the metrics that some variants give for a task, in the order of ``VARIANTS``."""
    # Names that are not variants are ignored: ``--protocol`` also takes ways to read a benchmark, and checks all names.
    applying = _applying(variants, task)
    return tuple(f"{metric}@{name}" for name, definition in applying.items() for metric in definition.metrics)


def how_it_differs(metric: str, task: str) -> str:
    name, _, variant = metric.partition("@")
    found = _applying([variant], task).get(variant)
    return found.differs if found is not None and name in found.metrics else ""


def definitions(metrics: Iterable[str], task: str) -> dict[tuple[str, str], tuple[str, ...]]:
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for metric in metrics:
        if said := how_it_differs(metric, task):
            key = (metric.partition("@")[2], said)
            found[key] = (*found.get(key, ()), metric)
    return found


def measures(variants: Collection[str], task: str, evidence: Evidence) -> dict[str, Measure]:
    """Compute the metrics that some variants give for the judged cases of a task, as ``<metric>@<variant>``."""
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
    return {"acc_r": _mean(wins(evidence.scores[:, 0], evidence.scores[:, 1], "credit") / 2)}


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
    return {
        "sen_acc": _mean((upper == [True, True, False, False]).mean(axis=1)),
        "set_acc": _mean(np.asarray(upper[:, :2].all(axis=1), dtype=np.float64)),
        "set_error": _mean(np.asarray(upper[:, 2:].all(axis=1), dtype=np.float64)),
    }


_RULES: tuple[Rule, ...] = (
    *(first_of_two, first_of_four, softmax_of_two_images, pope, repope, naturalbench_yes_no, naturalbench_choice),
    *(carets_invariance, carets_ontological, carets_directional, valse_paper, bla_volta),
)


def _definition(metrics: list[str], rule: str, differs: str) -> Definition:
    return Definition(metrics=tuple(metrics), rule={one.__name__: one for one in _RULES}[rule], differs=differs)


_TABLE = tomllib.loads(Path(__file__).with_name("variants.toml").read_text(encoding="utf-8"))
VARIANTS: Mapping[str, Variant] = {
    name: Variant(about=row["about"], definitions={task: _definition(**of) for task, of in row["definitions"].items()})
    for name, row in _TABLE.items()
}


def _applying(variants: Collection[str], task: str) -> dict[str, Definition]:
    return {
        name: next(definition for pattern, definition in variant.definitions.items() if fnmatchcase(task, pattern))
        for name, variant in VARIANTS.items()
        if name in variants and any(fnmatchcase(task, pattern) for pattern in variant.definitions)
    }


def _right(evidence: Evidence) -> BoolArray:
    return np.asarray(evidence.answers == evidence.truths, dtype=np.bool_)


def _said_twice(evidence: Evidence, *, same: bool) -> BoolArray:
    first, second = evidence.answers.T
    given = np.array([None not in row for row in evidence.answers.tolist()], dtype=np.bool_)
    return np.asarray((first == second) == same, dtype=np.bool_) & given


def _of_last_file(evidence: Evidence, consistent: BoolArray, both: BoolArray) -> dict[str, Measure]:
    rows = np.flatnonzero(evidence.files == evidence.files[-1])
    named = (("cons", consistent), ("c_acc", both))
    return {name: mean_of(held[rows].astype(np.float64), rows) for name, held in named}
