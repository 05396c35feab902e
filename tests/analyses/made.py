"""Judged cases and runs to analyse, from a few numbers."""

import json

import numpy as np
import pyarrow as pa

from vlgate.metrics import score_rules
from vlgate.metrics.shapes import SHAPES
from vlgate.record.cases import CaseTable
from vlgate.studies.analyses.runs import Run


def cases(scores=None, *, texts=None, truths=None, images=None, answers=None, tags=None, facts=None):
    """Cases with any of their columns; the others are empty, and each case has an image of its own."""
    n = len(next(given for given in (scores, answers, *(facts or {}).values()) if given is not None))
    k = len((scores if scores is not None else answers or [[0, 0]])[0])
    lists = pa.list_(pa.string())
    columns = {
        "case": pa.array([f"c{row}" for row in range(n)]),
        "state": pa.array(["judged"] * n),
        "images": pa.array([[f"{name}.jpg"] * k for name in (images or range(n))], lists),
        "texts": pa.array([list(row) for row in texts or [["a text"] * k] * n], lists),
        "truths": pa.array([list(row) for row in truths or [["true"] * k] * n], lists),
        "scores": pa.array(np.full((n, k), np.nan if scores is None else scores, dtype=float).tolist()),
        "answers": pa.array([list(row) for row in answers or [[None] * k] * n], lists),
        "tags": pa.array([json.dumps(row) for row in tags or [{}] * n]),
        **{name: pa.array(np.array(values, dtype=np.float64)) for name, values in (facts or {}).items()},
    }
    return CaseTable(shape="pair", rows=pa.table(columns))


def judged_quads(scores, **columns):
    return cases(scores, facts=score_rules.quad_case_metrics(np.array(scores, dtype=np.float64)), **columns)


def judged_pairs(scores, accepted=None, **columns):
    given = np.array(scores, dtype=np.float64)
    yes = np.full(given.shape, np.nan) if accepted is None else np.array(accepted, dtype=np.float64)
    metrics = score_rules.pair_case_metrics(given, yes)
    facts = {name: values for name, values in metrics.items() if not np.isnan(values).all()}
    return cases(scores, facts=facts, **columns)


def judged_sets(scores, shape="active_passive_set", **columns):
    given = np.array(scores, dtype=np.float64)
    return cases(scores, facts=score_rules.set_case_metrics(given, SHAPES[shape].metrics), **columns)


def answered(pairs, truths, *, differ=False, **columns):
    """Pairs of questions: the answers, the truths, and whether the answers should differ."""
    right = np.array([[one == true for one, true in zip(*both)] for both in zip(pairs, truths)])  # noqa: B905
    facts = {
        "acc": right.mean(axis=1),
        "cons": [(first != second) == differ for first, second in pairs],
        "c_acc": right.all(axis=1),
        "acc_original": right[:, 0],
        "acc_perturbed": right[:, 1],
    }
    return cases(None, answers=pairs, truths=truths, facts=facts, **columns)


def run(name="model", *, adapter="", metrics=None, **tasks):
    """A run of tasks by id, with ``/`` written as ``__``."""
    named = {task.replace("__", "/"): found for task, found in tasks.items()}
    figures = {"model": {"adapters": {"Match": adapter}}, "tasks": {task: {"metrics": metrics or {}} for task in named}}
    return Run(name=name, figures=figures, tasks=named)


def rows(analysis, title):
    (table,) = (table for table in analysis.tables if table.title == title)
    return {row.labels: row for row in table.rows}
