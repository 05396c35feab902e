"""``cases.parquet`` and ``predictions.parquet``: every case and every reply of a run, one row each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from vlgate.results import RunResult
from vlgate.types import TIED, Ask, Match, Prediction, Read, Request, Verdict


def write_cases(file: Path, result: RunResult) -> None:
    """Write a row a case: what was asked, what was replied, the verdict and the sentence why.

    Columns: table, case, state, right, a nullable boolean a fact of any table, images, texts, truths, scores,
    answers (lists, one entry a request), tags (JSON), origin, why.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    rows = [(table.table.id, verdict) for table in result.tables for verdict in table.verdicts]
    verdicts = [verdict for _, verdict in rows]
    facts = sorted({fact for verdict in verdicts for fact in verdict.facts})
    requests = [request for verdict in verdicts for request in verdict.case.requests]
    replies = [reply for verdict in verdicts for reply in verdict.predictions]
    tags = {id(verdict.case.tags): verdict.case.tags for verdict in verdicts}
    written = {key: json.dumps(dict(tag), sort_keys=True) for key, tag in tags.items()}
    ends = np.cumsum([0, *(len(verdict.case.requests) for verdict in verdicts)], dtype=np.int32)

    def _lists(values: list[Any], kind: Any) -> Any:
        return pa.ListArray.from_arrays(pa.array(ends), pa.array(values, kind))

    columns = {
        "table": pa.array([table for table, _ in rows], pa.string()),
        "case": pa.array([verdict.case.id for verdict in verdicts], pa.string()),
        "state": pa.array([verdict.state for verdict in verdicts], pa.string()),
        "right": pa.array([_right(verdict) for verdict in verdicts], pa.bool_()),
        **{fact: pa.array([verdict.facts.get(fact) for verdict in verdicts], pa.bool_()) for fact in facts},
        "images": _lists([image_of(request) for request in requests], pa.string()),
        "texts": _lists([text_of(request) for request in requests], pa.string()),
        "truths": _lists([_truth(truth) for v in verdicts for truth in v.case.truths], pa.string()),
        "scores": _lists([reply.score for reply in replies], pa.float64()),
        "answers": _lists([reply.answer for reply in replies], pa.string()),
        "tags": pa.array([written[id(verdict.case.tags)] for verdict in verdicts], pa.string()),
        "origin": pa.array([verdict.case.origin for verdict in verdicts], pa.string()),
        "why": pa.array([verdict.why for verdict in verdicts], pa.string()),
    }
    write_table(pa.table(columns), file, use_dictionary=["table", "state", "truths.list.element", "tags"])


def write_predictions(file: Path, result: RunResult) -> None:
    """Write a row a distinct request, in the columns that ``replay:FILE`` reads.

    Columns: image, text, score, match, question, answer, perplexity, problem; null where they do not apply.
    """
    import pyarrow as pa
    from pyarrow.parquet import write_table

    replies = _distinct(result)
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
    write_table(pa.table(columns), file, use_dictionary=["image", "answer", "problem"])


def image_of(request: Request) -> str | None:
    """The key of the picture that a request is about, where there is one."""
    return None if isinstance(request, Read) else request.picture.key


def text_of(request: Request) -> str:
    """The words that a request puts to the model."""
    return request.question if isinstance(request, Ask) else request.text


def _distinct(result: RunResult) -> list[Prediction]:
    found: dict[Request, Prediction] = {}
    for table in result.tables:
        for verdict in table.verdicts:
            for reply in verdict.predictions:
                found.setdefault(reply.request, reply)
    return list(found.values())


def _answer(reply: Prediction) -> str | None:
    """What was answered; a tie as the word by which a replay knows it."""
    tied = isinstance(reply.request, Ask) and reply.answer is None and reply.problem is None
    return TIED if tied else reply.answer


def _right(verdict: Verdict) -> bool | None:
    return verdict.right if verdict.state == "judged" else None


def _truth(truth: bool | str) -> str:
    return truth if isinstance(truth, str) else str(truth).lower()
