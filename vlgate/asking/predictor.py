"""From requests to predictions: each distinct request is asked once, in batches that fit into memory.

This module uses models through the protocols of ``vlgate.types`` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from vlgate.asking import adapters
from vlgate.asking.batching import Asking, Call, Caller, Problem, chain, truncated_texts
from vlgate.asking.dedupe import Arranged, arranged, asked_the_same, keys_of
from vlgate.errors import ModelReplyError, NotRememberedError
from vlgate.judging.judged import Replies
from vlgate.metrics.compute import numbers
from vlgate.seeds import generator
from vlgate.types import (
    TIED,
    Ask,
    Batch,
    Case,
    Classifier,
    Compare,
    Comparer,
    FloatArray,
    LanguageModel,
    Match,
    Prediction,
    Predictor,
    Read,
    Request,
    text_of,
)

if TYPE_CHECKING:
    from vlgate.asking.reply_cache import ReplyCache

Said = list[float | str | Problem]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPredictor:
    """A model with its name, the steps to it, and what a missing image means."""

    # ``caller`` makes the batches; ``cache``, if there is one, takes the replies that are known. ``seed`` decides the
    # order in which the requests of a call reach the model; None keeps the order of the call. ``together`` says whether
    # the run asks about several images at once.

    model: object
    name: str
    caller: Caller
    cache: ReplyCache | None = None
    on_missing: Literal["fail", "skip"] = "fail"
    seed: int | None = None
    together: bool = False

    def bare(self) -> ModelPredictor:
        if self.cache is not None:
            self.cache.ready()
        return replace(self, cache=None)

    def uncounted(self) -> ModelPredictor:
        """The same predictor, with the same memory; what it asks is not counted as asked for the run."""
        return replace(self, cache=self.cache and self.cache.uncounted)

    def one_at_a_time(self) -> ModelPredictor:
        """The same predictor with calls of one request; a dual encoder still encodes each image and text once."""
        return replace(self, caller=replace(self.caller, size=1))

    def adapters(self) -> dict[str, str]:
        return adapters.adapters(self.model, together=self.together)

    def close(self) -> None:
        if self.cache is not None:
            self.cache.close()

    def predict(self, requests: Iterable[Request]) -> Mapping[Request, Prediction]:
        """Ask the model each distinct request once."""
        # Returns: one prediction per distinct request, in the order of first appearance; a prediction without a reply
        # says why there is none. Raises: ModelReplyError if a reply cannot be used: NaN, infinite, too few, of another
        # type. Exceptions of the model itself pass through.
        distinct: list[Any] = list(dict.fromkeys(requests))
        kinds = set(map(type, distinct))
        asks: dict[type, Callable[[list[Any]], Mapping[Request, Prediction]]] = {
            Match: self._match,
            Ask: self._ask,
            Read: self._read,
            Compare: self._compare,
        }
        if len(kinds) == 1:  # as in most batches
            return asks[kinds.pop()](distinct)
        replies: dict[Request, Prediction] = {}
        for kind, ask in asks.items():
            if of_kind := [request for request in distinct if type(request) is kind]:
                replies.update(ask(of_kind))
        return {request: replies[request] for request in distinct}

    def through_chain(self, arrangement: Arranged | None = None) -> Asking:
        # It returns before the model is asked, so that few frames lie between a test and its model.
        steps = (arrangement, self.cache)
        return chain(self.caller, *(step for step in steps if step is not None))

    def _match(self, pairs: list[Match]) -> Mapping[Request, Prediction]:
        how = adapters.match_adapter(self.model)
        ask = self._requests_chain(pairs) if how == "match" or isinstance(self.model, Classifier) else None
        if how == "match" and ask is not None:
            replies: Said = ask(self._call("match"), pairs)
        else:
            replies = self._adapted_scores(pairs, how)
        if isinstance(self.model, Classifier) and ask is not None:
            said = ask(replace(self._call("accepts"), nan=True), pairs)
            for yes in said:
                if yes not in (0.0, 1.0) and not isinstance(yes, Problem) and not np.isnan(yes):
                    remedy = "it must be 1.0 for yes, 0.0 for no or NaN; give a probability as the score of match()"
                    raise ModelReplyError(f"the model {self.name!r} returned {yes!r} from accepts(); {remedy}")
            return self._predictions(pairs, replies, [yes == 1.0 if yes in (0.0, 1.0) else None for yes in said])
        threshold = threshold_of(self.model, self.name)
        if how == "match by answer":  # each score is the model's own yes or no
            threshold = 0.5
        if threshold is None or how == "match by perplexity":
            return self._predictions(pairs, replies)
        # A score exactly at the threshold is a no: the released VALSE code calls a tie a foil.
        accepted = [bool(reply > threshold) if isinstance(reply, float) else None for reply in replies]
        return self._predictions(pairs, replies, accepted)

    def _adapted_scores(self, pairs: list[Match], how: str | None) -> Said:
        if how == "encode":
            images = list(dict.fromkeys(pair.image for pair in pairs))
            text_keys = self._text_keys(map(text_of, pairs))
            compared = asked_the_same(pairs, keys_of(pairs, text_keys))
            of_images = arranged(images, [None] * len(images), self.seed, compared=compared)
            image_rows = self.through_chain(of_images)(self._call("encode_images", "rows"), images)
            rows_of_images = dict(zip(images, image_rows, strict=True))
            # a text is not encoded if none of its images could be
            shown = (pair.text for pair in pairs if not isinstance(rows_of_images[pair.image], Problem))
            texts = list(dict.fromkeys(shown))
            of_texts = self._texts_chain(texts, text_keys)
            rows_of_texts = dict(zip(texts, of_texts(self._call("encode_texts", "rows"), texts), strict=True))
            return [_dot(rows_of_images[pair.image], rows_of_texts, pair.text, self.name) for pair in pairs]
        if how == "match by answer":
            questions = [adapters.described(pair) for pair in pairs]
            answers = self._ask(questions)
            return [adapters.agreement(answers[question]) for question in questions]
        if how == "match by perplexity":
            reads = [Read(text=pair.text) for pair in pairs]
            read = self._read(list(dict.fromkeys(reads)))
            return [adapters.plausible(read[text]) for text in reads]
        return [self._cannot("Match", "match(), encode_images() and encode_texts(), or answer()")] * len(pairs)

    def _ask(self, questions: list[Ask]) -> Mapping[Request, Prediction]:
        how = adapters.ask_adapter(self.model)
        if how == "answer":
            replies: Said = self._requests_chain(questions)(self._call("answer", "strings"), questions)
        elif how == "answer by match":
            pairs = [adapters.completed(question, choice) for question in questions for choice in question.choices]
            scores = self._match(list(dict.fromkeys(pairs))) if pairs else {}
            replies = [adapters.best_choice(question, scores) for question in questions]
        else:
            replies = [self._cannot("Ask", "answer(), match(), or encode_images() and encode_texts()")] * len(questions)
        return self._predictions(questions, replies)

    def _compare(self, questions: list[Compare]) -> Mapping[Request, Prediction]:
        replies: Said = [self._cannot("Compare", adapters.COMPARES)] * len(questions)
        if isinstance(self.model, Comparer):
            replies = self._requests_chain(questions)(self._call("compare", "strings"), questions)
        return self._predictions(questions, replies)

    def _read(self, reads: list[Read]) -> Mapping[Request, Prediction]:
        replies: Said = [self._cannot("Read", "perplexity()")] * len(reads)
        if isinstance(self.model, LanguageModel):
            texts = [read.text for read in reads]
            replies = self._texts_chain(texts, self._text_keys(texts))(self._call("perplexity"), texts)
        return self._predictions(reads, replies)

    def _call(self, called: str, kind: Literal["numbers", "rows", "strings"] = "numbers") -> Call:
        return Call(called=called, method=getattr(self.model, called), kind=kind)

    def _requests_chain(self, requests: list[Any]) -> Asking:
        text_keys = self._text_keys(map(text_of, requests))
        keys = keys_of(requests, text_keys)
        compared = asked_the_same(requests, keys)
        return self.through_chain(arranged(requests, keys, self.seed, compared=compared, dedupe=bool(text_keys)))

    def _texts_chain(self, texts: list[str], text_keys: Mapping[str, Any]) -> Asking:
        keys = [text_keys.get(text, text) for text in texts]
        return self.through_chain(arranged(texts, keys, self.seed, dedupe=bool(text_keys)))

    def _text_keys(self, texts: Iterable[str]) -> Mapping[str, Any]:
        if self.cache is not None:
            return self.cache.text_keys(self.caller, self.model, texts)
        return self.caller.text_keys(self.model, texts)

    def _cannot(self, kind: str, needs: str) -> Problem:
        return Problem(why=f"the model {self.name!r} cannot reply to a {kind} request: it has none of {needs}")

    def _predictions(
        self, requests: Sequence[Request], said: Said, accepted: Sequence[bool | None] | None = None
    ) -> Replies:
        truncated, neither = truncated_texts(self.model), self.caller.neither(self.model, requests)
        if self.cache is not None:
            truncated = truncated | self.cache.cut if self.cache.cut else truncated
            neither = neither | self.cache.unsure.intersection(requests) if self.cache.unsure else neither
        problems = {index: reply for index, reply in enumerate(said) if isinstance(reply, Problem)}
        texts = [reply if isinstance(reply, str) and reply != TIED else None for reply in said]
        answered = [index for index in range(len(said)) if index not in problems] if truncated or neither else []
        skips = self.on_missing == "skip"
        if accepted is None:
            accepts = np.broadcast_to(np.nan, len(said))
        else:
            accepts = numbers(accepted)
            accepts[list(problems)] = np.nan
        return Replies(
            requests=requests,
            scores=numbers([reply if isinstance(reply, float) else None for reply in said]),
            accepted=accepts,
            answers=texts if texts.count(None) < len(texts) else (),
            problems={
                place: (problem.why, problem.skipped or (problem.missing and skips))
                for place, problem in problems.items()
            },
            cut={place for place in answered if truncated and _cut(truncated, requests[place])},
            neither={place for place in answered if requests[place] in neither},
        )


def threshold_of(model: object, name: str) -> float | None:
    threshold: Any = getattr(model, "decision_threshold", None)
    if threshold is not None and not (isinstance(threshold, Real) and math.isfinite(threshold)):
        why = f"decision_threshold={threshold!r}: expected a finite number or None; make it a finite number"
        raise ModelReplyError(f"the model {name!r}: {why}")
    return cast("float | None", threshold)


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


def _cut(truncated: AbstractSet[str], request: Request) -> bool:
    if isinstance(request, Compare):
        return request.question in truncated
    if isinstance(request, Ask):
        pairs = (adapters.completed(request, choice).text for choice in request.choices)
        return not truncated.isdisjoint((request.question, *pairs))
    described = adapters.described(request).question if isinstance(request, Match) else request.text
    return not truncated.isdisjoint((request.text, described))


SHARE = 50  # one case in so many is asked, which makes the run 2 % longer
MOST = 64  # cases; the rate of a model varies more between machines than between larger samples
LEAST = 4  # cases; a run of fewer than SHARE * LEAST is measured only if it asks more than its cases
_WARMING = 2  # cases that are asked before the clock starts: the first call compiles, and fills caches
_OF_A_BATCH = 8  # neighbours share images, which a model may encode once


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    cases: int
    seconds: float

    def seconds_for(self, cases: int, workers: int = 1) -> float:
        """The time that as many cases will take.

        >>> Pace(cases=50, seconds=2.0).seconds_for(1000, workers=4)
        10.0
        """
        return self.seconds * cases / self.cases / workers


def pace(
    predictor: ModelPredictor, batches: Sequence[Batch], name: str, *, together: bool = True, short: bool = False
) -> Pace | None:
    """Ask a model, not the memory of its replies, a sample of a run's cases, and measure the time."""
    # With ``together`` the cases share calls of the model. With ``short`` a short run is measured, too, because its
    # controls ask much more than its cases. ``name`` seeds the sample. None if the run takes no time to speak of, if
    # the cache has replies to the whole sample, or if the model raised, which the run will show.
    total = sum(len(batch.positions) for batch in batches)
    if total < (LEAST + _WARMING if short else SHARE * LEAST):
        return None
    n = min(MOST, max(LEAST, total // SHARE)) + _WARMING
    cases: list[Case] = []
    for place in generator(name).permutation(len(batches)).tolist():
        if len(cases) < n:
            batch = batches[place]
            cases += [batch.task.cases[position] for position in batch.positions[:_OF_A_BATCH]]
    cases = cases[:n]
    warming, timed = cases[:_WARMING], cases[_WARMING:]
    calls = [timed] if together else [[case] for case in timed]
    try:
        if predictor.cache is not None:
            with suppress(NotRememberedError):
                _ask(replace(predictor, cache=predictor.cache.recalling), cases)
                return None  # the run will hardly ask the model
        predictor = predictor.bare()
        _ask(predictor, warming)
        start = perf_counter()
        for some in calls:
            _ask(predictor, some)
        return Pace(cases=len(timed), seconds=perf_counter() - start)
    except (Exception, SystemExit):  # noqa: BLE001  # a foreign model may raise anything; the tests will show it
        return None


def _ask(predictor: ModelPredictor, cases: Sequence[Case]) -> None:
    predictor.predict(request for case in cases for request in case.requests)
