"""From requests to predictions: each distinct request asked once, in batches that fit the memory at hand.

A model is known here by the protocols of ``vlgate.types`` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal

import numpy as np

from vlgate.answers import normal_answer
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

DEFAULT_BATCH = 64

Replies = list[float | str | Problem]
_WAYS = {
    "match": "match(): scores pairs together",
    "encode": "encode_images() and encode_texts(): the score is the dot product",
    "answer": "answer()",
    "perplexity": "perplexity()",
    "match by answer": 'adapter: the score is 1 where answer() to "Does TEXT describe the picture?" is yes, else 0',
    "match by perplexity": "adapter: a text's score is minus its perplexity; the picture is not looked at",
    "answer by match": "adapter: the choice whose 'QUESTION CHOICE' scores highest; an exact tie is no answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A model as the suite uses it: how it is called, what it is called, and what a missing picture means."""

    model: object
    name: str
    caller: Caller
    on_missing: Literal["fail", "skip"] = "fail"

    def ways(self) -> dict[str, str]:
        """How each kind of request reaches the model, in words, for the report."""
        found = {"Match": _match_way(self.model), "Ask": _ask_way(self.model), "Read": _read_way(self.model)}
        return {kind: _WAYS[way] for kind, way in found.items() if way is not None}

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
        way = _match_way(self.model)
        if way == "match" and isinstance(self.model, Matcher):
            return list(self.caller.numbers(pairs, self.model.match, "match"))
        if way == "encode" and isinstance(self.model, DualEncoder):
            return self._dot_products(pairs, self.model)
        if way == "match by answer":
            questions = [_described(pair) for pair in pairs]
            answers = self._ask(questions)
            return [_yes(answers[question]) for question in questions]
        if way == "match by perplexity":
            texts = [Read(text=pair.text) for pair in pairs]
            read = self._read(list(dict.fromkeys(texts)))
            return [_plausible(read[text]) for text in texts]
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
        if threshold is None or _match_way(self.model) == "match by perplexity":
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
        way = _ask_way(self.model)
        if way == "answer" and isinstance(self.model, Answerer):
            return list(self.caller.strings(questions, self.model.answer, "answer"))
        if way == "answer by match":
            pairs = [_completed(question, choice) for question in questions for choice in question.choices]
            scores = self._match(list(dict.fromkeys(pairs)))
            return [_best_choice(question, scores) for question in questions]
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


def _match_way(model: object) -> str | None:
    if isinstance(model, Matcher):
        return "match"
    if isinstance(model, DualEncoder):
        return "encode"
    if isinstance(model, Answerer):
        return "match by answer"
    return "match by perplexity" if isinstance(model, Reader) else None


def _ask_way(model: object) -> str | None:
    if isinstance(model, Answerer):
        return "answer"
    return "answer by match" if isinstance(model, Matcher | DualEncoder | Reader) else None


def _read_way(model: object) -> str | None:
    return "perplexity" if isinstance(model, Reader) else None


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
        return not cut.isdisjoint((request.question, *(_completed(request, one).text for one in request.choices)))
    return request.text in cut or (isinstance(request, Match) and _described(request).question in cut)


def _described(pair: Match) -> Ask:
    question = f'Does "{pair.text}" describe the picture?'
    return Ask(picture=pair.picture, question=question, choices=("yes", "no"))


def _yes(answer: Prediction) -> float | Problem:
    if answer.problem is not None:
        return Problem(why=answer.problem, skipped=answer.skipped)
    return float(normal_answer(answer.answer or "") == "yes")


def _plausible(read: Prediction) -> float | Problem:
    if read.score is None:
        return Problem(why=read.problem or "no perplexity", skipped=read.skipped)
    return -read.score


def _completed(question: Ask, choice: str) -> Match:
    return Match(picture=question.picture, text=f"{question.question} {choice}")


def _best_choice(question: Ask, scores: dict[Request, Prediction]) -> str | Problem:
    if not question.choices:
        return Problem(why="a model that only matches cannot answer a question without choices")
    found = [scores[_completed(question, choice)] for choice in question.choices]
    for reply in found:
        if reply.score is None:
            return Problem(why=reply.problem or "no score", skipped=reply.skipped)
    best = max(reply.score for reply in found if reply.score is not None)
    winners = [choice for choice, reply in zip(question.choices, found, strict=True) if reply.score == best]
    return winners[0] if len(winners) == 1 else TIED
