"""``cases.parquet`` and ``predictions.parquet``: one row per case, and one row per reply, of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.comparing.cases import image_of, text_of, truth_of
from vlgate.report.whole_file import whole_file
from vlgate.run.results import RunResult
from vlgate.types import TIED, Ask, Match, Prediction, Read, Request, Verdict


def write_cases(file: Path, run: RunResult) -> None:
    """Write one row per case: the requests, the replies, the verdict and the sentence that says why.

    Columns: task, case, state, right, one nullable number per fact of any task, images, texts, truths, scores, answers
    (lists with one entry per request), tags (JSON), origin, why.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    verdicts = [verdict for result in run.results for verdict in result.verdicts]
    shared = {id(verdict.facts): verdict.facts for verdict in verdicts}  # few, because cases share equal facts
    facts = sorted({fact for one in shared.values() for fact in one})
    requests = [request for verdict in verdicts for request in verdict.case.requests]
    replies = [reply for verdict in verdicts for reply in verdict.predictions]
    tags = {id(verdict.case.tags): verdict.case.tags for verdict in verdicts}
    written = {key: json.dumps(dict(tag), sort_keys=True) for key, tag in tags.items()}
    ends = np.cumsum([0, *(len(verdict.case.requests) for verdict in verdicts)], dtype=np.int32)

    def _lists(values: list[Any], kind: Any) -> Any:
        return pa.ListArray.from_arrays(pa.array(ends), pa.array(values, kind))

    columns = {
        "task": pa.array([result.task.id for result in run.results for _ in result.verdicts], pa.string()),
        "case": pa.array([verdict.case.id for verdict in verdicts], pa.string()),
        "state": pa.array([verdict.state for verdict in verdicts], pa.string()),
        "right": pa.array([_right(verdict) for verdict in verdicts], pa.bool_()),
        **{fact: pa.array([verdict.facts.get(fact) for verdict in verdicts], pa.float64()) for fact in facts},
        "images": _lists([image_of(request) for request in requests], pa.string()),
        "texts": _lists([text_of(request) for request in requests], pa.string()),
        "truths": _lists([truth_of(truth) for v in verdicts for truth in v.case.truths], pa.string()),
        "scores": _lists([reply.score for reply in replies], pa.float64()),
        "answers": _lists([reply.answer for reply in replies], pa.string()),
        "tags": pa.array([written[id(verdict.case.tags)] for verdict in verdicts], pa.string()),
        "origin": pa.array([verdict.case.origin for verdict in verdicts], pa.string()),
        "why": pa.array([verdict.why for verdict in verdicts], pa.string()),
    }
    with whole_file(file) as part:
        write_table(pa.table(columns), part, use_dictionary=["task", "state", "truths.list.element", "tags"])


def write_predictions(file: Path, run: RunResult) -> None:
    """Write one row per distinct request, in the columns that ``replay:FILE`` reads.

    Columns: image, text, score, match, question, answer, perplexity, problem; null if they do not apply.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    replies = _distinct(run)
    asked = [reply.request for reply in replies]
    columns = {
        "image": pa.array([image_of(request) for request in asked], pa.string()),
        "text": pa.array([None if isinstance(r, Ask) else r.text for r in asked], pa.string()),
        "score": pa.array([p.score if isinstance(p.request, Match) else None for p in replies], pa.float64()),
        "match": pa.array([p.accepted for p in replies], pa.bool_()),
        "question": pa.array([r.question if isinstance(r, Ask) else None for r in asked], pa.string()),
        "answer": pa.array([_answer(p) for p in replies], pa.string()),
        "perplexity": pa.array([p.score if isinstance(p.request, Read) else None for p in replies], pa.float64()),
        "problem": pa.array([p.problem for p in replies], pa.string()),
    }
    with whole_file(file) as part:
        write_table(pa.table(columns), part, use_dictionary=["image", "answer", "problem"])


def _distinct(run: RunResult) -> list[Prediction]:
    found: dict[Request, Prediction] = {}
    for result in run.results:
        for verdict in result.verdicts:
            for reply in verdict.predictions:
                found.setdefault(reply.request, reply)
    return list(found.values())


def _answer(reply: Prediction) -> str | None:
    """The answer; a tie becomes ``TIED``, which a replay reads as a tie again."""
    tied = isinstance(reply.request, Ask) and reply.answer is None and reply.problem is None
    return TIED if tied else reply.answer


def _right(verdict: Verdict) -> bool | None:
    return verdict.right if verdict.state == "judged" else None
