"""The cases of a task as columns: what was asked, and how it was judged."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from vlgate.metrics.clusters import BETWEEN, case_clusters
from vlgate.types import FloatArray, Request, Verdict, images_of, text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCases:
    """The judged cases of a task, in one row each.

    Attributes:
        ids: the ids of the cases, shape (n,).
        asked: a digest of the images, texts and truths of each case.
        images: the name of the cluster of each case; see ``metrics.clusters.recorded_clusters``.
        facts: what each case contributes to the metrics, by name, shape (n,); NaN if the case does not have it.
        answers: the answers of each case, one per request.
        unjudged: the ids of the other cases.
    """

    ids: tuple[str, ...]
    asked: tuple[str, ...]
    images: tuple[str, ...]
    facts: Mapping[str, FloatArray]
    answers: tuple[tuple[str | None, ...], ...]
    unjudged: tuple[str, ...]


def judged_cases(verdicts: Sequence[Verdict]) -> JudgedCases:
    """Put the verdicts of a task into columns."""
    judged = [verdict for verdict in verdicts if verdict.state == "judged"]
    names = dict.fromkeys(fact for verdict in judged for fact in verdict.facts)
    return JudgedCases(
        ids=tuple(verdict.case.id for verdict in judged),
        asked=tuple(asked_of(verdict.case.requests, verdict.case.truths) for verdict in judged),
        images=case_clusters([verdict.case for verdict in judged]),
        facts={name: np.array([verdict.facts.get(name, np.nan) for verdict in judged]) for name in names},
        answers=tuple(tuple(reply.answer for reply in verdict.predictions) for verdict in judged),
        unjudged=tuple(verdict.case.id for verdict in verdicts if verdict.state != "judged"),
    )


def asked_of(requests: Sequence[Request], truths: Sequence[bool | str]) -> str:
    """Return the digest of a case from its requests and truths; see ``digest_of``."""
    return digest_of(
        [image_of(request) for request in requests],
        [text_of(request) for request in requests],
        [truth_of(truth) for truth in truths],
    )


def digest_of(images: Sequence[str | None], texts: Sequence[str], truths: Sequence[str]) -> str:
    """Return a digest (16 hexadecimal digits) of what a case asks.

    >>> digest_of(["a.jpg"], ["a cup"], ["true"]) == digest_of(["a.jpg"], ["a cup"], ["false"])
    False
    """
    told = json.dumps([list(images), list(texts), list(truths)], ensure_ascii=True)
    return blake2b(told.encode("ascii"), digest_size=8).hexdigest()


def image_of(request: Request) -> str | None:
    """Return the key of the image of a request; of several images their keys, joined by ``BETWEEN``; None without one.

    >>> from vlgate.types import Compare, LazyImage
    >>> image_of(Compare(images=(LazyImage(key="a.jpg", load=None), LazyImage(key="b.jpg", load=None)), question=""))
    'a.jpg | b.jpg'
    """
    return BETWEEN.join(image.key for image in images_of(request)) if images_of(request) else None


def truth_of(truth: bool | str) -> str:
    """Return a truth as ``cases.parquet`` has it: ``true`` or ``false`` for a text, the right answer for a question."""
    return truth if isinstance(truth, str) else "true" if truth else "false"
