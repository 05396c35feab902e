"""The analyses of CARETS (Jimenez et al. 2022, §6, A.5, A.6): consistency, answers, coverage between models, blind."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from vlgate.judging.answers import read_answer
from vlgate.judging.normal import normal_answer
from vlgate.record.cases import CaseTable
from vlgate.sources.published.figures import figures
from vlgate.studies.analyses.runs import Named, Run, Study, studied
from vlgate.studies.analyses.tables import Analysis, Detail, Row, correlate, correlated, measured, share, table

HEADLINE = "c_acc"
_ORDER = ("original", "perturbed")
_SILENT = "wrong, no answer"
_CHANGES = ("right, right", "right, wrong", "wrong, right", "wrong, same answer", "wrong, another answer", _SILENT)
_METRICS = ("acc", "cons", HEADLINE, *(f"acc_{name}" for name in _ORDER))
_FULL = frozenset({"8", "9", "10", "11", "12"})  # the tables with all metrics of a test


def analyse(runs: Sequence[Run], tasks: str | None = None) -> Analysis:
    study = studied(runs, "carets", HEADLINE, tasks)
    pairs = study.named()
    tables = [table("carets-gaps", _gaps(pairs)), table("carets-models", _across(study))]
    tables += [table("carets-changes", _answers(pairs)), table("carets-replies", _replies(pairs))]
    if len(runs) > 1:
        tables.append(study.coverage(("acc_original", "acc_perturbed"), "answers"))
        tables.append(study.coverage((HEADLINE,), "pairs"))
        fit = "fit shares of answers better than of pairs, of which their caption speaks"
        note = f"coverage: Tables 13 to 17 of Jimenez et al. 2022 {fit}"
    else:
        note = "coverage between models: left out; name two or more runs"
    tables.append(study.blind(("acc", "cons", HEADLINE)))
    return study.analysis(tables, [note])


def change_of(cases: CaseTable, row: int) -> str:
    first, second = (cases.case_metrics[f"acc_{name}"][row] == 1.0 for name in _ORDER)
    if first and second:
        return "right, right"
    if first or second:
        return "right, wrong" if first else "wrong, right"
    if None in cases.answers[row] or ("read" in cases.case_metrics and cases.case_metrics["read"][row] < 1.0):
        return _SILENT  # a tie, or a reply that could not be read, is the same as no other answer
    answers = [_said(answer) for answer in cases.answers[row]]
    return "wrong, same answer" if answers[0] == answers[1] else "wrong, another answer"


def _gaps(pairs: Named) -> Iterator[Row]:
    for model, task, cases in pairs:
        means = {name: float(cases.case_metrics[name].mean()) for name in _METRICS}
        gaps = cases.case_metrics["acc"] - cases.case_metrics[HEADLINE]
        yield from measured((model, task), share(gaps, cases.groups), means)


def _across(study: Study) -> Iterator[Row]:
    printed = [figure for figure in figures("carets") if figure.table in _FULL and figure.model != "human"]
    for target in dict.fromkeys(figure.target for figure in printed):
        values = {(figure.model, figure.metric): figure.value for figure in printed if figure.target == target}
        models = dict.fromkeys(model for model, _ in values)
        acc, cons = (np.array([values[model, name] for model in models]) for name in ("acc", "cons"))
        yield correlated(("the paper's models", str(target)), correlate(acc, cons))
    tasks = dict.fromkeys(task for _, task, _ in study.named())
    for task in tasks if len(study.runs) > 1 else ():
        there = [run.tasks[task].case_metrics for run in study.runs if task in run.tasks]
        acc, cons = (np.array([metrics[name].mean() for metrics in there]) for name in ("acc", "cons"))
        yield correlated(("the runs", task), correlate(acc, cons))


def _answers(pairs: Named) -> Iterator[Row]:
    for model, task, cases in pairs:
        changes = np.array([change_of(cases, row) for row in range(len(cases))])
        for change in _CHANGES if _SILENT in changes else _CHANGES[:-1]:
            yield from measured((model, task, change), share(changes == change, cases.groups))


def _replies(pairs: Named) -> Iterator[Row]:
    for model, task, cases in pairs:
        kinds = [tags.get("question_type", "") for tags in cases.tags]
        for kind in sorted({*kinds}):
            binary = [tags.get("form", "binary") == "binary" for tags in cases.tags]
            kept = [row for row, own in enumerate(kinds) if own == kind and binary[row]]
            yield from _replies_of((model, task, kind), cases.take(kept)) if kept else ()


def _replies_of(labels: tuple[str, str, str], cases: CaseTable) -> Iterator[Row]:
    for index, which in enumerate(_ORDER):
        truths = np.array([normal_answer(of_case[index]) for of_case in cases.truths])
        counter = Counter(_said(of_case[index]) for of_case in cases.answers)
        right = cases.case_metrics[f"acc_{which}"]
        other = sum(number for answer, number in counter.items() if answer not in {"yes", "no"})
        counts = {"yes": counter["yes"], "no": counter["no"], "other": other}
        more: dict[str, Detail] = {name: number / len(cases) for name, number in counts.items()}
        for truth in ("yes", "no"):
            there = truths == truth
            more[f"right if {truth}"] = float(right[there].mean()) if there.any() else None
        yield from measured((*labels, which), share(right, cases.groups), more)


def _said(answer: str | None) -> str:
    return "" if answer is None else normal_answer(read_answer(answer, ("yes", "no")) or answer)
