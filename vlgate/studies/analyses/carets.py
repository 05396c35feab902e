"""The analyses of CARETS (Jimenez et al. 2022, §6, A.5, A.6): consistency, answers, coverage between models, blind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from vlgate.judging.answers import normal_answer, read_answer
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses.between_models import blind_table, coverage_table
from vlgate.studies.analyses.resampling import correlate, correlated, share
from vlgate.studies.analyses.runs import Run, chosen, chosen_of, pattern_of
from vlgate.studies.analyses.tables import Analysis, Detail, Row, Table, measured

HEADLINE = "c_acc"
_SOURCE = "Jimenez et al. 2022"
_ORDER = ("original", "perturbed")
_REPLIES = ("yes", "no", "other")
_SILENT = "wrong, no answer"
_CHANGES = ("right, right", "right, wrong", "wrong, right", "wrong, same answer", "wrong, another answer", _SILENT)
_FULL = frozenset({"8", "9", "10", "11", "12"})  # the tables with all metrics of a test


def analyse(runs: Sequence[Run], tasks: str | None = None) -> Analysis:
    """Analyse the pairs of questions of some runs.

    - ``tasks``: a pattern of task ids; None for those of CARETS, or all pairs of questions if no run has these.
    """
    pattern = pattern_of(runs, "carets", HEADLINE, tasks)
    tables = [_gaps(runs, pattern), _across(runs, pattern), _answers(runs, pattern), _replies(runs, pattern)]
    notes = []
    if len(runs) > 1:
        tables.append(coverage_table(runs, pattern, HEADLINE, ("acc_original", "acc_perturbed"), "answers"))
        tables.append(coverage_table(runs, pattern, HEADLINE, (HEADLINE,), "pairs"))
        fit = "fit shares of answers better than of pairs, of which their caption speaks"
        notes.append(f"coverage: Tables 13 to 17 of {_SOURCE} {fit}")
    else:
        notes.append("coverage between models: left out; name two or more runs")
    tables.append(blind_table(runs, pattern, HEADLINE, ("acc", "cons", HEADLINE)))
    return Analysis(
        name="carets", tasks=pattern, runs=tuple(run.name for run in runs), tables=tuple(tables), notes=tuple(notes)
    )


def change_of(cases: CaseTable, row: int) -> str:
    """Name what happens to the verdict and the answer of a pair, from its original to its perturbed question."""
    first, second = (cases.case_metrics[f"acc_{name}"][row] == 1.0 for name in _ORDER)
    if first and second:
        return "right, right"
    if first or second:
        return "right, wrong" if first else "wrong, right"
    if None in cases.answers[row] or ("read" in cases.case_metrics and cases.case_metrics["read"][row] < 1.0):
        return _SILENT  # a tie, or a reply that could not be read, is the same as no other answer
    answers = [_said(answer) for answer in cases.answers[row]]
    return "wrong, same answer" if answers[0] == answers[1] else "wrong, another answer"


def _gaps(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    names = ("acc", "cons", HEADLINE, *(f"acc_{name}" for name in _ORDER))
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        more = {name: float(cases.case_metrics[name].mean()) for name in names}
        rows += measured(
            (run.name, task), share(cases.case_metrics["acc"] - cases.case_metrics[HEADLINE], cases.groups), more
        )
    return Table(
        title="Consistency and accuracy",
        about=f"share of right answers less the share of the n pairs with two right answers ({_SOURCE}, R1)",
        labels=("model", "task"),
        value="acc - c_acc",
        rows=tuple(rows),
        more=names,
    )


def _across(runs: Sequence[Run], pattern: str) -> Table:
    """The correlation of consistency with accuracy over models, for each test of the paper, and over the runs."""
    rows: list[Row] = []
    printed = [one for one in figures("carets") if one.table in _FULL and one.model != "human"]
    for target in dict.fromkeys(one.target for one in printed):
        values = {(one.model, one.metric): one.value for one in printed if one.target == target}
        models = dict.fromkeys(model for model, _ in values)
        acc, cons = (np.array([values[model, name] for model in models]) for name in ("acc", "cons"))
        rows.append(correlated(("the paper's models", str(target)), correlate(acc, cons)))
    tasks = dict.fromkeys(task for run in runs for task in chosen(run, pattern, HEADLINE))
    for task in tasks if len(runs) > 1 else ():
        there = [run.tasks[task].case_metrics for run in runs if task in run.tasks]
        acc, cons = (np.array([facts[name].mean() for facts in there]) for name in ("acc", "cons"))
        rows.append(correlated(("the runs", task), correlate(acc, cons)))
    return Table(
        title="Consistency against accuracy, over models",
        about=f"correlation of acc with cons over n models ({_SOURCE}, R2, Tables 8 to 12, without people)",
        labels=("models", "task"),
        value="correlation",
        rows=tuple(rows),
        more=("p",),
    )


def _answers(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        changes = np.array([change_of(cases, row) for row in range(len(cases))])
        for change in _CHANGES if _SILENT in changes else _CHANGES[:-1]:
            rows += measured((run.name, task, change), share(changes == change, cases.groups))
    return Table(
        title="From the original to the perturbed question",
        about="share of the n pairs by what the model has right: the original answer, the perturbed one",
        labels=("model", "task", "original, perturbed"),
        value="share",
        rows=tuple(rows),
    )


def _replies(runs: Sequence[Run], pattern: str) -> Table:
    rows: list[Row] = []
    for run, task, cases in chosen_of(runs, pattern, HEADLINE):
        for kind in sorted({tags.get("question_type", "") for tags in cases.tags}):
            kept = [
                row
                for row, tags in enumerate(cases.tags)
                if tags.get("question_type", "") == kind and tags.get("form", "binary") == "binary"
            ]
            rows += _replies_of((run.name, task, kind), cases.take(kept)) if kept else []
    return Table(
        title="Replies to questions of yes or no",
        about=f"share of the n questions that the model answers right, and of each reply ({_SOURCE}, Table 3)",
        labels=("model", "task", "question", "of the pair"),
        value="right",
        rows=tuple(rows),
        more=(*_REPLIES, "right if yes", "right if no"),
    )


def _replies_of(labels: tuple[str, str, str], cases: CaseTable) -> list[Row]:
    rows: list[Row] = []
    for place, which in enumerate(_ORDER):
        truths = np.array([normal_answer(truths[place]) for truths in cases.truths])
        counts = Counter(_reply(answers[place]) for answers in cases.answers)
        right = cases.case_metrics[f"acc_{which}"]
        more: dict[str, Detail] = {name: counts[name] / len(cases) for name in _REPLIES}
        for truth in ("yes", "no"):
            there = truths == truth
            more[f"right if {truth}"] = float(right[there].mean()) if there.any() else None
        rows += measured((*labels, which), share(right, cases.groups), more)
    return rows


def _reply(answer: str | None) -> str:
    said = _said(answer)
    return said if said in {"yes", "no"} else "other"


def _said(answer: str | None) -> str:
    """The choice of a question of yes or no that an answer names, or the answer itself."""
    return "" if answer is None else normal_answer(read_answer(answer, ("yes", "no")) or answer)
