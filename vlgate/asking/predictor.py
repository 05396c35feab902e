"""From requests to predictions: each distinct request is asked once, in batches that fit into memory.

This module uses models through the protocols of ``vlgate.types`` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from numbers import Real
from typing import Any, Literal, cast

import numpy as np

from vlgate.asking.adapters import (
    COMPARES,
    adapters,
    agreement,
    ask_adapter,
    best_choice,
    completed,
    described,
    match_adapter,
    plausible,
)
from vlgate.asking.batching import Caller, Problem
from vlgate.asking.cached_caller import CachedCaller
from vlgate.asking.dedupe import Arranged, Pair, SeenPixels, arranged, asked_once, asked_the_same, keys_of
from vlgate.asking.items import in_hashed_order
from vlgate.errors import ModelReplyError
from vlgate.judging.judged import Replies, numbers
from vlgate.types import (
    TIED,
    Answerer,
    Ask,
    Batch,
    Classifier,
    Compare,
    Comparer,
    DualEncoder,
    FloatArray,
    LanguageModel,
    Match,
    Matcher,
    Prediction,
    Predictor,
    Read,
    Request,
    text_of,
)

Said = list[float | str | Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPredictor:
    """A model with its name, the caller that makes its batches, and what a missing image means.

    ``seed`` decides the order in which the requests of a call reach the model; None keeps the order of the call.
    ``together`` says whether the run asks about several images at once.
    """

    model: object
    name: str
    caller: Caller | CachedCaller
    on_missing: Literal["fail", "skip"] = "fail"
    seed: int | None = None
    together: bool = False

    def bare(self) -> ModelPredictor:
        """Return the same predictor without a memory: every request reaches the model."""
        if isinstance(self.caller, CachedCaller):
            self.caller.ready()
        return replace(self, caller=self.caller.bare)

    def uncounted(self) -> ModelPredictor:
        """Return the same predictor, with the same memory; what it asks is not counted as asked for the run."""
        caller = self.caller
        return replace(self, caller=caller.uncounted if isinstance(caller, CachedCaller) else caller)

    def adapters(self) -> dict[str, str]:
        """Describe for the report how each kind of request reaches the model."""
        return adapters(self.model, together=self.together)

    def predict(self, requests: Iterable[Request]) -> Mapping[Request, Prediction]:
        """Ask the model each distinct request once.

        Returns: one prediction per distinct request, in the order of first appearance; a prediction without a reply
            says why there is none.
        Raises: ModelReplyError if a reply cannot be used: NaN, infinite, too few, of another type. Exceptions of the
            model itself pass through.
        """
        distinct = list(dict.fromkeys(requests))
        parts = (
            self._match([request for request in distinct if isinstance(request, Match)]),
            self._ask([request for request in distinct if isinstance(request, Ask)]),
            self._read([request for request in distinct if isinstance(request, Read)]),
            self._compare([request for request in distinct if isinstance(request, Compare)]),
        )
        for part in parts:
            if len(part) == len(distinct):  # most batches hold one kind of request, and are in order already
                return part
        found = {request: reply for part in parts for request, reply in part.items()}
        return {request: found[request] for request in distinct}

    def _match(self, pairs: list[Match]) -> Mapping[Request, Prediction]:
        if not pairs:
            return {}
        once = cache(lambda: self._arranged(pairs))
        replies = self._match_scores(pairs, once)
        return self._predictions(pairs, replies, self._accepted(replies, once))

    def _match_scores(self, pairs: list[Match], once: Callable[[], Arranged[Match]]) -> Said:
        adapter = match_adapter(self.model)
        if adapter == "match" and isinstance(self.model, Matcher):
            match = self.model.match
            return list(once().ask(lambda some: self.caller.numbers(some, match, "match")))
        if adapter == "encode" and isinstance(self.model, DualEncoder):
            return self._dot_products(pairs, self.model)
        if adapter == "match by answer":
            questions = [described(pair) for pair in pairs]
            answers = self._ask(questions)
            return [agreement(answers[question]) for question in questions]
        if adapter == "match by perplexity":
            texts = [Read(text=pair.text) for pair in pairs]
            read = self._read(list(dict.fromkeys(texts)))
            return [plausible(read[text]) for text in texts]
        return [self._cannot("Match", "match(), encode_images() and encode_texts(), or answer()")] * len(pairs)

    def _dot_products(self, pairs: list[Match], model: DualEncoder) -> Said:
        images = list(dict.fromkeys(pair.image for pair in pairs))
        pixels = SeenPixels()
        keys = self.caller.text_keys(model, map(text_of, pairs))
        compared = asked_the_same(pairs, keys_of(pairs, keys))
        rows = in_hashed_order(
            [pixels.watched(image) if image in compared else image for image in images],
            self.seed,
            lambda some: self.caller.rows(some, model.encode_images, "encode_images"),
        )
        seen = dict(zip(images, pixels.levelled(((image,) for image in images), rows), strict=True))
        shown = (pair.text for pair in pairs if not isinstance(seen[pair.image], Problem))
        texts = list(dict.fromkeys(shown))  # a text is not encoded if none of its images could be
        rows = asked_once(
            texts,
            [keys.get(text, text) for text in texts],
            lambda some: in_hashed_order(
                some, self.seed, lambda part: self.caller.rows(part, model.encode_texts, "encode_texts")
            ),
        )
        words = dict(zip(texts, rows, strict=True))
        return [_dot(seen[pair.image], words, pair.text, self.name) for pair in pairs]

    def _accepted(self, replies: Said, once: Callable[[], Arranged[Match]]) -> list[bool | None]:
        if isinstance(self.model, Classifier):
            accepts = self.model.accepts
            said = once().ask(lambda some: self.caller.numbers(some, accepts, "accepts", nan=True))
            self._check_said(said)
            return [yes == 1.0 if yes in (0.0, 1.0) else None for yes in said]
        threshold = threshold_of(self.model, self.name)
        adapter = match_adapter(self.model)
        if adapter == "match by answer":  # each score is the model's own yes or no
            threshold = 0.5
        if threshold is None or adapter == "match by perplexity":
            return [None] * len(replies)
        # A score exactly at the threshold is a no: the released VALSE code calls a tie a foil.
        return [bool(reply > threshold) if isinstance(reply, float) else None for reply in replies]

    def _check_said(self, said: Sequence[float | Problem]) -> None:
        for yes in said:
            if yes not in (0.0, 1.0) and not isinstance(yes, Problem) and not np.isnan(yes):
                remedy = "it must be 1.0 for yes, 0.0 for no or NaN; give a probability as the score of match()"
                raise ModelReplyError(f"the model {self.name!r} returned {yes!r} from accepts(); {remedy}")

    def _ask(self, questions: list[Ask]) -> Mapping[Request, Prediction]:
        if not questions:
            return {}
        return self._predictions(questions, self._answers(questions))

    def _answers(self, questions: list[Ask]) -> Said:
        adapter = ask_adapter(self.model)
        if adapter == "answer" and isinstance(self.model, Answerer):
            answer = self.model.answer
            return list(self._arranged(questions).ask(lambda some: self.caller.strings(some, answer, "answer")))
        if adapter == "answer by match":
            pairs = [completed(question, choice) for question in questions for choice in question.choices]
            scores = self._match(list(dict.fromkeys(pairs)))
            return [best_choice(question, scores) for question in questions]
        return [self._cannot("Ask", "answer(), match(), or encode_images() and encode_texts()")] * len(questions)

    def _compare(self, questions: list[Compare]) -> Mapping[Request, Prediction]:
        if not questions:
            return {}
        replies: Said = [self._cannot("Compare", COMPARES)] * len(questions)
        if isinstance(self.model, Comparer):
            compare = self.model.compare
            replies = list(self._arranged(questions).ask(lambda some: self.caller.strings(some, compare, "compare")))
        return self._predictions(questions, replies)

    def _arranged(self, requests: list[Pair]) -> Arranged[Pair]:
        return arranged(requests, self.caller.text_keys(self.model, map(text_of, requests)), self.seed)

    def _read(self, texts: list[Read]) -> Mapping[Request, Prediction]:
        if not texts:
            return {}
        replies: Said
        if isinstance(self.model, LanguageModel):
            perplexity = self.model.perplexity
            asked = [read.text for read in texts]
            keys = self.caller.text_keys(self.model, asked)
            replies = list(
                asked_once(
                    asked,
                    [keys.get(text, text) for text in asked],
                    lambda some: in_hashed_order(
                        some, self.seed, lambda part: self.caller.numbers(part, perplexity, "perplexity")
                    ),
                )
            )
        else:
            replies = [self._cannot("Read", "perplexity()")] * len(texts)
        return self._predictions(texts, replies)

    def _cannot(self, kind: str, needs: str) -> Problem:
        return Problem(why=f"the model {self.name!r} cannot reply to a {kind} request: it has none of {needs}")

    def _predictions(
        self, requests: Sequence[Request], said: Said, accepted: Sequence[bool | None] | None = None
    ) -> Replies:
        cut, neither = self.caller.cut_texts(self.model), self.caller.neither(self.model, requests)
        problems = {place: reply for place, reply in enumerate(said) if isinstance(reply, Problem)}
        texts = [reply if isinstance(reply, str) and reply != TIED else None for reply in said]
        return Replies(
            requests=requests,
            scores=numbers([reply if isinstance(reply, float) else None for reply in said]),
            accepted=_without(numbers(accepted or [None] * len(said)), problems),
            answers=texts if texts.count(None) < len(texts) else (),
            problems={place: (reply.why, self._skipped(reply)) for place, reply in problems.items()},
            cut={place for place, one in enumerate(requests) if cut and place not in problems and _cut(cut, one)},
            neither={
                place for place, one in enumerate(requests) if neither and place not in problems and one in neither
            },
        )

    def _skipped(self, problem: Problem) -> bool:
        return problem.skipped or (problem.missing and self.on_missing == "skip")


def threshold_of(model: object, name: str) -> float | None:
    """Return the ``decision_threshold`` of a model, which may change while it is asked; None for none.

    Raises: ModelReplyError if it is not a finite number.
    """
    threshold: Any = getattr(model, "decision_threshold", None)
    if threshold is not None and not (isinstance(threshold, Real) and math.isfinite(threshold)):
        raise ModelReplyError(
            f"the model {name!r}: decision_threshold={threshold!r}: expected a finite number or None; "
            "make it a finite number"
        )
    known: float | None = None if threshold is None else cast("float", threshold)
    return known


def _without(column: FloatArray, problems: Collection[int]) -> FloatArray:
    """The column with NaN at the places that have a problem."""
    column[list(problems)] = np.nan
    return column


def score(model: Predictor, batch: Batch) -> Mapping[Request, Prediction]:
    """Ask ``model`` every distinct request of ``batch`` once; see ``ModelPredictor.predict``."""
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
            f"the model {name!r} encodes images in shape {image.shape} and texts in shape {row.shape}; "
            "return features of the same length d from both"
        )
    return float(image @ row)


def _cut(cut: AbstractSet[str], request: Request) -> bool:
    """Whether a text of a request is among the texts that the model did not read to the end."""
    if isinstance(request, Compare):
        return request.question in cut
    if isinstance(request, Ask):
        return not cut.isdisjoint((request.question, *(completed(request, one).text for one in request.choices)))
    return request.text in cut or (isinstance(request, Match) and described(request).question in cut)
