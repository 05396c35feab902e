"""Questions to a service, asked side by side, each paid for once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from vlgate.calling import Problem
from vlgate.errors import NoReplyError, PictureError
from vlgate.models.served_endpoint import Endpoint
from vlgate.models.served_http import ServiceError
from vlgate.models.served_place import Place
from vlgate.models.served_replies import FirstWord
from vlgate.models.served_talk import Talk, data_url
from vlgate.models.served_threads import Threads
from vlgate.types import Picture

Body = dict[str, object]
Reply = float | str | FirstWord
Outcome = Reply | Problem


@dataclass(frozen=True, slots=True)
class Question:
    """A picture with what is asked about it; ``scored`` where the probability of yes is wanted."""

    picture: Picture
    text: str
    scored: bool = False


class Questioner:
    """What asks a service; ``names`` are those of the models as which it replied."""

    def __init__(self, place: Place, endpoint: Endpoint, talk: Talk) -> None:
        self.names = {talk.answers_as} - {""}
        self._place = place
        self._endpoint = endpoint
        self._talk = talk
        # A call in which some requests have no reply is repeated without them; the others are not paid for twice.
        self._kept: dict[Question, Outcome] = {}

    def replies(self, asked: Sequence[Question], read: Callable[[Body], Outcome]) -> list[Reply]:
        """What the service replies to questions, each distinct one asked once.

        Args:
            asked: n questions.
            read: what makes an outcome of a reply's JSON object.

        Returns: n replies.
        Raises: NoReplyError for the questions of one problem, PictureError for a picture that cannot be decoded.
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

    def _ask(self, questions: Sequence[Question], read: Callable[[Body], Outcome]) -> None:
        """Ask all questions side by side, and keep what is replied, also where a picture cannot be decoded."""
        threads = Threads(self._place.concurrency)
        pictures: dict[Picture, Future[str]] = {}
        replies: dict[Question, Future[Outcome]] = {}
        broken: list[PictureError] = []
        self._kept = {}
        try:
            for question in questions:
                picture = question.picture
                if picture not in pictures:  # it is begun before the question, which therefore never waits long
                    pictures[picture] = threads.submit(partial(self._encoded, picture))
                replies[question] = threads.submit(partial(self._reply, question, pictures[picture], read))
            for question, reply in replies.items():
                try:
                    self._kept[question] = reply.result()
                except PictureError as error:
                    broken.append(error)
        except KeyboardInterrupt:
            self._endpoint.stop()
            raise
        finally:
            threads.close()
        if broken:
            raise broken[0]

    def _encoded(self, picture: Picture) -> str:
        return data_url(picture.image(), self._place)

    def _reply(self, question: Question, picture: Future[str], read: Callable[[Body], Outcome]) -> Outcome:
        body = self._talk.body(picture.result(), question.text, scored=question.scored)
        try:
            reply = self._endpoint.ask(body)
        except ServiceError as error:
            return Problem(why=str(error))
        if isinstance(name := reply.get("model"), str):
            self.names.add(name)
        return read(reply)
