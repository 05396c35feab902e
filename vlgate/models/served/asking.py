"""Questions to a service, asked in parallel; each distinct question is sent, and paid for, once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from vlgate.errors import ImageError, NoReplyError
from vlgate.inference.batching import Problem
from vlgate.models.served.chat import Dialect, FirstWord, data_url, name_of
from vlgate.models.served.http import Endpoint, ServiceError
from vlgate.models.served.place import Place
from vlgate.types import LazyImage

Body = dict[str, object]
Reply = float | str | FirstWord
Outcome = Reply | Problem
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Question:
    """An image and a question about it, or None and a text alone; ``scored`` asks for the probability of yes.

    ``others`` are the further images of a question about several, in their order.
    """

    image: LazyImage | None
    text: str
    scored: bool = False
    others: tuple[LazyImage, ...] = ()


class Questioner:
    """Asks a service; ``names`` are the names of the models that replied."""

    def __init__(self, place: Place, endpoint: Endpoint, dialect: Dialect) -> None:
        self.names = {dialect.answers_as} - {""}
        self._place = place
        self._endpoint = endpoint
        self._dialect = dialect
        # A call is repeated without the requests that have no reply. The other replies are kept: they cost money.
        self._kept: dict[Question, Outcome] = {}

    def replies(self, asked: Sequence[Question], read: Callable[[Body], Outcome]) -> list[Reply]:
        """Return the service's replies to questions; each distinct question is sent once.

        Args:
            asked: n questions.
            read: makes an outcome of a reply's JSON object.

        Returns: n replies.
        Raises: NoReplyError for the questions that share one problem; ImageError if an image cannot be decoded.
        """
        distinct = list(dict.fromkeys(asked))
        if not self._kept.keys() >= set(distinct):
            self._ask(distinct, read)
        found = [self._kept[question] for question in asked]
        problem = next((reply for reply in found if isinstance(reply, Problem)), None)
        if problem is None:
            self._kept = {}
            return [reply for reply in found if not isinstance(reply, Problem)]
        self._kept = {question: reply for question, reply in self._kept.items() if reply != problem}
        raise NoReplyError([place for place, reply in enumerate(found) if reply == problem], problem.why)

    def refuses_two(self) -> str:
        """Ask about two images in one request; return why the service gives no reply, or nothing if it gives one."""
        from PIL import Image

        url = data_url(Image.new("RGB", (64, 64), "white"), self._place)
        text = "Are both images white? Answer yes or no."
        try:
            self._endpoint.ask(self._dialect.body(url, text, others=(url,)))
        except ServiceError as error:
            return str(error)
        return ""

    def _ask(self, questions: Sequence[Question], read: Callable[[Body], Outcome]) -> None:
        """Ask all questions in parallel, and keep the replies even if an image cannot be decoded."""
        threads = DaemonThreads(self._place.concurrency)
        images: dict[LazyImage | None, Future[str]] = {}
        replies: dict[Question, Future[Outcome]] = {}
        broken: list[ImageError] = []
        self._kept = {}
        try:
            for question in questions:
                shown = (question.image, *question.others)
                for image in shown:  # submitted first, so that its questions do not wait for it long
                    if image not in images:
                        images[image] = threads.submit(partial(self._encoded, image))
                urls = [images[image] for image in shown]
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

    def _encoded(self, image: LazyImage | None) -> str:
        return "" if image is None else data_url(image.load(), self._place)

    def _reply(self, question: Question, images: Sequence[Future[str]], read: Callable[[Body], Outcome]) -> Outcome:
        first, *others = (image.result() for image in images)
        body = self._dialect.body(first, question.text, scored=question.scored, others=others)
        try:
            reply = self._endpoint.ask(body)
        except ServiceError as error:
            return Problem(why=str(error))
        self.names.update({name_of(reply)} - {""})
        return read(reply)


class DaemonThreads:
    """At most ``most`` daemon threads, which start jobs in the order in which they are submitted.

    Python waits for the threads of ``concurrent.futures`` at exit. A request that hangs would delay the exit by its
    timeout and all its retries; daemon threads do not.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._started = 0
        self._waiting: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()

    def submit(self, job: Callable[[], Result]) -> Future[Result]:
        """Queue a job; the future holds what it returns or raises."""
        future: Future[Result] = Future()
        self._waiting.put((future, job))
        if self._started < self._most:
            self._started += 1
            Thread(target=self._work, daemon=True).start()
        return future

    def close(self) -> None:
        """Drop the jobs that have not started; the threads end after those that have."""
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
