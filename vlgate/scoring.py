"""From requests to predictions: each distinct request asked once, in batches that fit the memory at hand.

A model is known here by the protocols of ``vlgate.types`` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vlgate.calling import Caller, Problem
from vlgate.errors import ModelReplyError
from vlgate.types import (
    TIED,
    Answerer,
    Ask,
    Batch,
    Classifier,
    DualEncoder,
    FloatArray,
    Match,
    Matcher,
    Prediction,
    Predictor,
    Read,
    Reader,
    Request,
)
from vlgate.ways import agreement, ask_way, best_choice, completed, described, match_way, plausible, ways

DEFAULT_BATCH = 64

Replies = list[float | str | Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A model as the suite uses it: how it is called, what it is called, and what a missing picture means."""

    model: object
    name: str
    caller: Caller
    on_missing: Literal["fail", "skip"] = "fail"

    def ways(self) -> dict[str, str]:
        """How each kind of request reaches the model, in words, for the report."""
        return ways(self.model)

    def predict(self, requests: Iterable[Request]) -> dict[Request, Prediction]:
        """Ask the model each distinct request once.

        Returns: a prediction a distinct request, in the order of first appearance; one without a reply says why.
        Raises: ModelReplyError where a reply cannot be used: NaN, infinite, too few, of another type. Whatever the
            model itself raises passes through.
        """
        distinct = list(dict.fromkeys(requests))
        parts = (
            self._match([request for request in distinct if isinstance(request, Match)]),
            self._ask([request for request in distinct if isinstance(request, Ask)]),
            self._read([request for request in distinct if isinstance(request, Read)]),
        )
        for part in parts:
            if len(part) == len(distinct):  # most batches are of one kind, and in order already
                return part
        found = {request: reply for part in parts for request, reply in part.items()}
        return {request: found[request] for request in distinct}

    def _match(self, pairs: list[Match]) -> dict[Request, Prediction]:
        if not pairs:
            return {}
        replies = self._match_scores(pairs)
        accepted = self._accepted(pairs, replies)
        return {
            pair: self._prediction(pair, reply, yes) for pair, reply, yes in zip(pairs, replies, accepted, strict=True)
        }

    def _match_scores(self, pairs: list[Match]) -> Replies:
        way = match_way(self.model)
        if way == "match" and isinstance(self.model, Matcher):
            return list(self.caller.numbers(pairs, self.model.match, "match"))
        if way == "encode" and isinstance(self.model, DualEncoder):
            return self._dot_products(pairs, self.model)
        if way == "match by answer":
            questions = [described(pair) for pair in pairs]
            answers = self._ask(questions)
            return [agreement(answers[question]) for question in questions]
        if way == "match by perplexity":
            texts = [Read(text=pair.text) for pair in pairs]
            read = self._read(list(dict.fromkeys(texts)))
            return [plausible(read[text]) for text in texts]
        return [self._cannot("Match", "match(), encode_images() and encode_texts(), or answer()")] * len(pairs)

    def _dot_products(self, pairs: list[Match], model: DualEncoder) -> Replies:
        pictures = list(dict.fromkeys(pair.picture for pair in pairs))
        images = dict(zip(pictures, self.caller.rows(pictures, model.encode_images, "encode_images"), strict=True))
        seen = (pair.text for pair in pairs if not isinstance(images[pair.picture], Problem))
        texts = list(dict.fromkeys(seen))  # a text without its picture is not worth encoding
        words = dict(zip(texts, self.caller.rows(texts, model.encode_texts, "encode_texts"), strict=True))
        return [_dot(images[pair.picture], words, pair.text, self.name) for pair in pairs]

    def _accepted(self, pairs: list[Match], replies: Replies) -> list[bool | None]:
        threshold = getattr(self.model, "decision_threshold", None)
        if isinstance(self.model, Classifier):
            said = self.caller.numbers(pairs, self.model.accepts, "accepts", nan=True)
            return [self._yes_or_no(yes) for yes in said]
        if threshold is None or match_way(self.model) == "match by perplexity":
            return [None] * len(pairs)
        # A score exactly at the threshold is a no: the released VALSE code calls a tie a foil.
        return [reply > threshold if isinstance(reply, float) else None for reply in replies]

    def _yes_or_no(self, said: float | Problem) -> bool | None:
        if isinstance(said, Problem) or np.isnan(said):
            return None
        if said not in {0.0, 1.0}:
            remedy = "it must be 1.0 for yes, 0.0 for no or NaN; give a probability as the score of match()"
            raise ModelReplyError(f"the model {self.name!r} returned from accepts() {said!r}; {remedy}")
        return said == 1.0

    def _ask(self, questions: list[Ask]) -> dict[Request, Prediction]:
        if not questions:
            return {}
        return {
            question: self._prediction(question, reply)
            for question, reply in zip(questions, self._answers(questions), strict=True)
        }

    def _answers(self, questions: list[Ask]) -> Replies:
        way = ask_way(self.model)
        if way == "answer" and isinstance(self.model, Answerer):
            return list(self.caller.strings(questions, self.model.answer, "answer"))
        if way == "answer by match":
            pairs = [completed(question, choice) for question in questions for choice in question.choices]
            scores = self._match(list(dict.fromkeys(pairs)))
            return [best_choice(question, scores) for question in questions]
        return [self._cannot("Ask", "answer(), match(), or encode_images() and encode_texts()")] * len(questions)

    def _read(self, texts: list[Read]) -> dict[Request, Prediction]:
        if not texts:
            return {}
        replies: Replies
        if isinstance(self.model, Reader):
            model = self.model
            replies = list(self.caller.numbers([read.text for read in texts], model.perplexity, "perplexity"))
        else:
            replies = [self._cannot("Read", "perplexity()")] * len(texts)
        return {text: self._prediction(text, reply) for text, reply in zip(texts, replies, strict=True)}

    def _cannot(self, kind: str, needs: str) -> Problem:
        return Problem(why=f"the model {self.name!r} cannot reply to a {kind} request: it has none of {needs}")

    def _prediction(self, request: Request, reply: float | str | Problem, accepted: bool | None = None) -> Prediction:
        if isinstance(reply, float):
            return Prediction(request=request, score=reply, accepted=accepted, cut=_cut(self.model, request))
        if isinstance(reply, Problem):
            skipped = reply.skipped or (reply.missing and self.on_missing == "skip")
            return Prediction(request=request, problem=reply.why, skipped=skipped)
        answer = None if reply == TIED else reply
        return Prediction(request=request, answer=answer, cut=_cut(self.model, request))


def score(model: Predictor, batch: Batch) -> Mapping[Request, Prediction]:
    """Ask ``model`` every distinct request of ``batch`` once; see ``Scorer.predict``."""
    return model.predict(request for case in batch.cases for request in case.requests)


def _dot(
    image: FloatArray | Problem, words: Mapping[str, FloatArray | Problem], text: str, name: str
) -> float | Problem:
    if isinstance(image, Problem):
        return image
    row = words[text]
    if isinstance(row, Problem):
        return row
    if image.shape != row.shape:
        raise ModelReplyError(
            f"the model {name!r} encodes pictures as {image.shape} and texts as {row.shape}; both must be (d,)"
        )
    return float(image @ row)


def _cut(model: object, request: Request) -> bool:
    """Whether a text by which the model replied to a request is among its ``cut_texts``: it did not read the end."""
    cut: AbstractSet[str] = getattr(model, "cut_texts", frozenset())
    if not cut:
        return False
    if isinstance(request, Ask):
        return not cut.isdisjoint((request.question, *(completed(request, one).text for one in request.choices)))
    return request.text in cut or (isinstance(request, Match) and described(request).question in cut)
