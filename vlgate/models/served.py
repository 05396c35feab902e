"""``openai:http://localhost:8000/v1#NAME``: a model behind a chat-completions endpoint, on this machine or elsewhere.

A match is asked as a question, and its score is the probability that the first word of the answer is yes (VQAScore,
Lin et al. 2024, section 3); from a service that tells no probabilities it is 1 for yes and 0 for no, and ``note`` says
so. The questions are those of ``vlm``, so that a model can be compared with itself. A reply that is cut, refused, empty
or neither yes nor no is no reply: nothing is guessed from it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vlgate.models.served_asking import Question, Questioner, Reply
from vlgate.models.served_endpoint import Endpoint
from vlgate.models.served_pace import Pace
from vlgate.models.served_place import Place, key_of, parse
from vlgate.models.served_replies import FirstWord, first_word, said, yes_or_no
from vlgate.models.served_talk import Talk, settle
from vlgate.models.vlm_prompts import VQASCORE, choice_question
from vlgate.types import Ask, FloatArray, Match


class Served:
    """A served model.

    ``decision_threshold`` is that of the probability of yes. ``note`` says how the service was asked, and as which
    models it replied: what it serves under a name may change, which no fingerprint can know.
    """

    decision_threshold = 0.5

    def __init__(self, place: Place, endpoint: Endpoint, talk: Talk) -> None:
        """Take a place, and how its service wants to be talked to."""
        pictures, asked = f"{place.form} {place.size}", f"{talk.fields!r} {talk.logprobs}"
        self.fingerprint = f"{place.url} {place.name} {talk.answers_as} {pictures} {asked}"
        self._place = place
        self._talk = talk
        self._questioner = Questioner(place, endpoint, talk)
        self._scores = self._absent = self._weak = 0

    def __repr__(self) -> str:
        """The model by its name and place."""
        return f"Served({self._place.name!r} at {self._place.url!r})"

    @property
    def note(self) -> str:
        """What a reader of the results must know."""
        parts = [*self._talk.remarks, *self._of_scores()]
        if self._place.form != "png":
            parts.append("pictures are sent as JPEG")
        if self._place.size:
            parts.append(f"pictures are made smaller than {self._place.size + 1} pixels a side")
        names = self._questioner.names
        if names - {self._place.name}:
            parts.append(f"the service replies as {', '.join(sorted(names))}")
        return "; ".join(parts)

    def _of_scores(self) -> list[str]:
        if not self._talk.logprobs:
            return []
        parts = [f'the score of a match is the probability of "Yes" to {VQASCORE!r} (VQAScore, Lin et al. 2024)']
        if self._absent:
            why = "yes was not among the likeliest first words that the service tells"
            parts.append(f"{self._absent} of {self._scores} scores are 0 because {why}")
        if self._weak:
            why = "yes and no together have less than half the probability of the first word"
            parts.append(f"in {self._weak} of {self._scores} replies {why}; try logprobs=0")
        return parts

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return the probability of yes, shape (n,), or 1.0 and 0.0 for yes and no.

        Where yes is not among the likeliest first words but no is, it is less than can be told, and 0.0; ``note``
        says how often.

        Raises: NoReplyError for the pairs whose reply is cut, refused, empty, or neither yes nor no.
        """
        scored, read = self._talk.logprobs, first_word if self._talk.logprobs else yes_or_no
        asked = [Question(pair.picture, _on_one_line(VQASCORE.format(pair.text)), scored) for pair in pairs]
        return np.array([self._score(reply) for reply in self._questioner.replies(asked, read)], dtype=np.float64)

    def _score(self, reply: Reply) -> float:
        if not isinstance(reply, FirstWord):
            return float(reply)
        yes, no = reply.yes or 0.0, reply.no or 0.0
        self._scores += 1
        self._absent += reply.yes is None
        self._weak += yes + no < 0.5  # what is likelier is another answer
        return yes

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Return the answers as they were given, in free text.

        Raises: NoReplyError for the questions whose reply is cut, refused or empty.
        """
        asked = [Question(question.picture, _on_one_line(choice_question(question))) for question in questions]
        return [str(reply) for reply in self._questioner.replies(asked, said)]


def _on_one_line(text: str) -> str:
    """A prompt as ``vlm`` writes it, so that stray blanks of a caption reach both or neither."""
    return " ".join(text.split())


def check(weights: str, folder: Path) -> None:
    """Say whether a service is named in a way that can be asked, and its key is there; asks no network.

    Raises: ModelLoadError.
    """
    _ = folder
    key_of(parse(weights))


def build(weights: str) -> Served:
    """Ask a service one question about a white picture, which tells how it wants to be asked, and that it can be.

    Args:
        weights: ``URL#MODEL?option=value&...``; see ``served_place.Place`` for the options.

    Raises: ModelLoadError where it cannot be reached, does not know the model, or takes no pictures.
    """
    place = parse(weights)
    endpoint = Endpoint(place, key_of(place), Pace(place.rpm / workers()))
    return Served(place, endpoint, settle(place, endpoint))


def workers() -> int:
    """How many processes share the limit of requests a minute: pytest-xdist says it to each of its workers."""
    said = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")
    return max(1, int(said)) if said.isdecimal() else 1
