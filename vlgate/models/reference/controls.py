"""Control models that every capability is tested with: oracle, constant and random. They decode no image."""

import hashlib
from collections.abc import Sequence

import numpy as np

from vlgate.errors import NoReplyError
from vlgate.perturb.images.graded import shows_nothing
from vlgate.types import TIED, Ask, Compare, FloatArray, Match, Task, images_of

_UNKNOWN = 0.5


class Oracle:
    # Of an image that shows nothing it knows nothing: all texts tie, and no question has an answer.

    decision_threshold = 0.5
    image_names = True

    def __init__(self) -> None:
        self._true: dict[tuple[str, str], bool] = {}
        self._answers: dict[tuple[tuple[str, ...], str, tuple[str, ...]], str] = {}

    def prepare(self, tasks: Sequence[Task]) -> None:
        self._true.clear()
        self._answers.clear()
        for task in tasks:
            for case in task.cases:
                for request, truth in zip(case.requests, case.truths, strict=True):
                    if isinstance(request, Match):
                        key = (request.image.key, request.text)
                        self._true[key] = bool(truth) or self._true.get(key, False)
                    elif isinstance(request, Ask | Compare):
                        self._answers.setdefault(_asked(request), str(truth))

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        keys = [(pair.image.key, pair.text) for pair in pairs]
        found = [_UNKNOWN if shows_nothing(image) else self._true.get((image, text)) for image, text in keys]
        refuse_unknown(found)
        return np.array(found, dtype=np.float64)

    def answer(self, questions: Sequence[Ask | Compare]) -> list[str]:
        found = [
            TIED
            if any(shows_nothing(image.key) for image in images_of(question))
            else self._answers.get(_asked(question))
            for question in questions
        ]
        refuse_unknown(found)
        return [answer for answer in found if answer is not None]

    compare = answer


class Constant:
    decision_threshold = 0.5

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        return np.zeros(len(pairs))

    def answer(self, questions: Sequence[Ask | Compare]) -> list[str]:
        offered = [question.choices or ("yes",) for question in questions]
        return [next((choice for choice in choices if choice.casefold() == "yes"), choices[0]) for choices in offered]

    compare = answer

    def perplexity(self, texts: Sequence[str]) -> FloatArray:
        return np.ones(len(texts))


class Random:
    decision_threshold = 0.5
    image_names = True

    def __init__(self, seed: int = 0) -> None:
        self._seed = str(seed)

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        return np.array([self._uniform(pair.image.key, pair.text) for pair in pairs], dtype=np.float64)

    def answer(self, questions: Sequence[Ask | Compare]) -> list[str]:
        answers = []
        for question in questions:
            about = (*(image.key for image in images_of(question)), question.question)
            draws = [(self._uniform(*about, choice), choice) for choice in question.choices or ("no", "yes")]
            answers.append(min(draws)[1])
        return answers

    compare = answer  # the images in another order are another question

    def _uniform(self, *parts: str) -> float:
        encoded = "\0".join((self._seed, *parts)).encode()
        whole = int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest(), "big")
        return (whole >> 11) / 2.0**53  # the 53 bits that a float64 below 1 can hold


def _asked(question: Ask | Compare) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    return tuple(image.key for image in images_of(question)), question.question, question.choices


def refuse_unknown(replies: Sequence[object]) -> None:
    missing = [index for index, reply in enumerate(replies) if reply is None]
    if missing:
        why = f"{len(missing)} of {len(replies)} requests are in none of the tasks that the model was prepared with"
        raise NoReplyError(missing, why)
