"""``openai:http://localhost:8000/v1#NAME``: a chat-completions endpoint, asked in parallel, each question once."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import numpy as np

from vlgate.asking.batching import Problem
from vlgate.errors import ImageError, ModelLoadError, NoReplyError
from vlgate.models.generative.prompts import VQASCORE, choice_question
from vlgate.models.served.chat import Dialect, FirstWord, data_url, first_word, name_of, negotiate, text_of, yes_or_no
from vlgate.models.served.http import Endpoint, Pace, Place, ServiceError, key_of, parse
from vlgate.types import Ask, Compare, FloatArray, LazyImage, Match, images_of

Body = dict[str, object]
Reply = float | str | FirstWord
Outcome = Reply | Problem
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    images: tuple[LazyImage, ...]
    text: str
    scored: bool = False  # whether it asks for the probability of yes


class DaemonThreads:
    # They start jobs in the order in which they are submitted. Python waits for the threads of ``concurrent.futures``
    # at exit. A request that hangs would delay the exit by its timeout and all its retries; daemon threads do not.

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        future: Future[Result] = Future()
        self._waiting.put((future, job))
        if self._started < self._most:
            self._started += 1
            Thread(target=self._work, daemon=True).start()
        return future

    def close(self) -> None:
        try:
            while True:
                self._waiting.get_nowait()
        except Empty:
            for _ in range(self._started):
                self._waiting.put(None)

    def _work(self) -> None:
        while (entry := self._waiting.get()) is not None:
            future, job = entry
            try:
                future.set_result(job())
            except BaseException as error:  # noqa: BLE001  # future.result() raises it again
                future.set_exception(error)


class Served:
    # The score of a match is the probability that the first word of the answer is yes (VQAScore, Lin et al. 2024,
    # section 3); from a service without log-probabilities it is 1 for yes and 0 for no.
    decision_threshold = 0.5
    cached_if_named = True  # a service may change the model behind a name, and a fingerprint cannot tell

    def __init__(self, place: Place, endpoint: Endpoint, dialect: Dialect) -> None:
        images, asked = f"{place.form} {place.size}", f"{dialect.fields!r} {dialect.logprobs}"
        self.fingerprint = f"{place.url} {place.name} {dialect.answers_as} {images} {asked}"
        self._place = place
        self._dialect = dialect
        self._endpoint = endpoint
        self._names = {dialect.answers_as} - {""}
        # A call is repeated without the requests that have no reply. The other replies are kept: they cost money.
        self._kept: dict[Question, Outcome] = {}
        self._scores = self._absent = self._weak = 0
        self.neither: set[Match] = set()  # whose answer probably begins with neither yes nor no
        self._text_of = partial(text_of, max_tokens=place.max_tokens)
        self._yes_or_no = partial(yes_or_no, max_tokens=place.max_tokens)

    def __repr__(self) -> str:
        return f"Served({self._place.name!r} at {self._place.url!r})"

    @property
    def note(self) -> str:
        parts = list(self._dialect.remarks)
        if self._dialect.logprobs:
            parts.append(
                f'the score of a match is the probability of "Yes" to {VQASCORE!r} (VQAScore, Lin et al. 2024)'
            )
        if self._absent:
            why = "yes was not among the likeliest first words that the service lists"
            parts.append(f"{self._absent} of {self._scores} scores are 0 because {why}")
        if self._weak:
            why = "yes and no together have less than half the probability of the first word"
            parts.append(f"in {self._weak} of {self._scores} replies {why}; try logprobs=0")
        if self._place.form != "png":
            parts.append("images are sent as JPEG")
        if self._place.size:
            parts.append(f"images are scaled down to at most {self._place.size} pixels per side")
        if self._names - {self._place.name}:
            parts.append(f"the service replies as {', '.join(sorted(self._names))}")
        return "; ".join(parts)

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        scored, read = self._dialect.logprobs, first_word if self._dialect.logprobs else self._yes_or_no
        asked = [Question((pair.image,), _on_one_line(VQASCORE.format(pair.text)), scored) for pair in pairs]
        scores = []
        for pair, reply in zip(pairs, self._replies(asked, read), strict=True):
            if isinstance(reply, FirstWord):
                scores.append(reply.yes or 0.0)
                self._scores += 1
                self._absent += reply.yes is None
                if reply.weak:
                    self._weak += 1
                    self.neither.add(pair)
            else:
                scores.append(float(reply))
        return np.array(scores, dtype=np.float64)

    def answer(self, questions: Sequence[Ask | Compare]) -> list[str]:
        return self._written(questions, map(images_of, questions))

    compare = answer

    def answer_without_image(self, questions: Sequence[Ask]) -> list[str]:
        return self._written(questions, repeat(()))

    def _written(self, questions: Sequence[Ask | Compare], images: Iterable[tuple[LazyImage, ...]]) -> list[str]:
        texts = map(_on_one_line, map(choice_question, questions))
        asked = [Question(shown, text) for shown, text in zip(images, texts, strict=False)]
        return [str(reply) for reply in self._replies(asked, self._text_of)]

    def check_compare(self) -> None:
        from PIL import Image

        url = data_url(Image.new("RGB", (64, 64), "white"), self._place)
        try:
            self._endpoint.ask(self._dialect.body([url, url], "Are both images white? Answer yes or no."))
        except ServiceError as error:
            raise ModelLoadError(
                f"openai: {self._place.name!r} at {self._place.url} does not take two images in one request "
                f"({error}); allow more (vLLM: --limit-mm-per-prompt), or leave out --ask=together"
            ) from None

    def _replies(self, asked: Sequence[Question], read: Callable[[Body], Outcome]) -> list[Reply]:
        distinct = list(dict.fromkeys(asked))
        if not self._kept.keys() >= set(distinct):
            self._ask(distinct, read)
        found = [self._kept[question] for question in asked]
        problem = next((reply for reply in found if isinstance(reply, Problem)), None)
        if problem is None:
            self._kept = {}
            return [reply for reply in found if not isinstance(reply, Problem)]
        self._kept = {question: reply for question, reply in self._kept.items() if reply != problem}
        raise NoReplyError([index for index, reply in enumerate(found) if reply == problem], problem.why)

    def _ask(self, questions: Sequence[Question], read: Callable[[Body], Outcome]) -> None:
        def encoded(image: LazyImage) -> str:
            return data_url(image.load(), self._place)

        threads = DaemonThreads(self._place.concurrency)
        images: dict[LazyImage, Future[str]] = {}
        replies: dict[Question, Future[Outcome]] = {}
        broken: list[ImageError] = []
        self._kept = {}
        try:
            for question in questions:
                for image in question.images:  # submitted first, so that its questions do not wait for it long
                    if image not in images:
                        images[image] = threads.submit(partial(encoded, image))
                urls = [images[image] for image in question.images]
                replies[question] = threads.submit(partial(self._reply, question, urls, read))
            for question, reply in replies.items():
                try:
                    self._kept[question] = reply.result()
                except ImageError as error:
                    broken.append(error)
        except KeyboardInterrupt:
            self._endpoint.stop()
            raise
        finally:
            threads.close()
        if broken:
            raise broken[0]

    def _reply(self, question: Question, images: Sequence[Future[str]], read: Callable[[Body], Outcome]) -> Outcome:
        body = self._dialect.body([image.result() for image in images], question.text, scored=question.scored)
        try:
            reply = self._endpoint.ask(body)
        except ServiceError as error:
            return Problem(why=str(error))
        self._names.update({name_of(reply)} - {""})
        return read(reply)


def _on_one_line(text: str) -> str:
    """A prompt without stray blanks, as ``vlm`` writes it: both kinds of model read the same text."""
    return " ".join(text.split())


def check(weights: str, _: Path) -> None:
    key_of(parse(weights))


def build(weights: str) -> Served:
    place = parse(weights)
    endpoint = Endpoint(place, key_of(place), Pace(place.rpm / workers()))
    return Served(place, endpoint, negotiate(place, endpoint))


def workers() -> int:
    """How many processes share the limit of requests per minute, as pytest-xdist tells each of its workers."""
    count = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return max(1, int(count)) if count.isdecimal() else 1
