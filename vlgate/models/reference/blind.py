"""``blind``: a text-only baseline, which measures how much of a benchmark can be solved without the images.

A text-only model scores far above chance on many benchmarks (VALSE, appendix E; VL-CheckList's attributes), so a score
up to that of this baseline is not evidence of vision. The baseline is trained on the task that it is judged on, by
cross-validation, or on further cases of the same kind: the case that it replies to is never in its training data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlgate.errors import NoReplyError
from vlgate.health.grouping import tied_images
from vlgate.health.stratified import stratified_folds
from vlgate.health.text_classifier import IntArray, Questions, features, likely_answers, log_odds
from vlgate.types import Ask, Case, Compare, FloatArray, Match, Request, Task, images_of

_COMMON = 20  # how many of the most common answers compete for a question without choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Cases to learn from, and whether what is learnt judges the image with a key; it is not among these cases."""

    cases: tuple[Case, ...]
    judges: Callable[[str], bool] = lambda _: True


class Blind:
    """A classifier of texts, trained on further cases of the same kind or on the other folds of the same task.

    Folds are stratified by what distinguishes the true from the false texts, so that a balanced task is not below
    chance. Images of one case (the two of a 2x2, or an original and its blurred copy) share a fold; otherwise each text
    would be learnt with its truth reversed. A request that is in several tasks gets the reply of the task whose id
    comes first. A text about another image has the mean of its scores, and a question the most frequent of its answers,
    because the model sees no image. The score is 0.0 if the other folds contain nothing to learn from. Equally likely
    texts tie, and a text of a 2x2 ties with itself.
    """

    decision_threshold = 0.0
    image_names = True

    def __init__(self) -> None:
        self._scores: dict[tuple[str, str], float] = {}
        self._answers: dict[tuple[str, str, tuple[str, ...]], str] = {}
        self._lessons: Mapping[str, Sequence[Lesson]] = {}

    def study(self, lessons: Mapping[str, Sequence[Lesson]]) -> None:
        """Take further cases by task id; ``prepare`` trains on them instead of on the other folds of the task."""
        self._lessons = lessons

    def prepare(self, tasks: Sequence[Task]) -> None:
        """Learn each task of a run separately; the order of tasks and of cases makes no difference."""
        self._scores.clear()
        self._answers.clear()
        for task in sorted(map(_of_one_image, tasks), key=lambda task: task.id, reverse=True):
            for learnt, folds, judged in self._parts(task):
                self._scores.update(item for item in _match_scores(learnt, folds) if item[0][0] in judged)
                self._answers.update(item for item in _answers(learnt, folds) if item[0][0] in judged)

    def _parts(self, task: Task) -> Iterator[tuple[Task, dict[str, int], Collection[str]]]:
        """The cases to learn from, the fold per image key, and the keys of the images that are judged by them."""
        if task.id not in self._lessons:
            folds = stratified_folds(task.cases)
            yield task, folds, folds
            return
        groups = tied_images(task.cases)
        for lesson in self._lessons[task.id]:
            judged = {key: 0 for key, group in groups.items() if lesson.judges(group)}
            cases = tuple(case for case in task.cases if judged.keys() & _keys(case))
            yield (
                replace(task, cases=(*cases, *lesson.cases)),
                dict.fromkeys(tied_images(lesson.cases), 1) | judged,
                judged,
            )

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return log odds of shape (n,): positive if the text is more likely true than false.

        Raises: NoReplyError for texts that are in none of the prepared tasks.
        """
        found = [self._scores.get((pair.image.key, pair.text)) for pair in pairs]
        if None in found:
            means = _means(self._scores)
            found = [means.get(pair.text) if score is None else score for pair, score in zip(pairs, found, strict=True)]
        _complain(found)
        return np.array(found, dtype=np.float64)

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        """Return the most likely choice per question; of equally likely choices, the first in the alphabet.

        Raises: NoReplyError for questions that are in none of the prepared tasks.
        """
        found = [self._answers.get(_asked(question)) for question in questions]
        if None in found:
            usual = _usual(self._answers)
            keys = [_asked(question)[1:] for question in questions]
            found = [usual.get(key) if answer is None else answer for key, answer in zip(keys, found, strict=True)]
        _complain(found)
        return [answer for answer in found if answer is not None]

    def compare(self, questions: Sequence[Compare]) -> list[str]:
        """Return the most likely choice per question, as ``answer`` does; no image is looked at."""
        return self.answer([Ask(image=one.images[0], question=one.question, choices=one.choices) for one in questions])


def _of_one_image(task: Task) -> Task:
    """The same task, with questions about the first of several images: this model sees none of them."""
    if not task.together:
        return task
    cases = [replace(case, requests=tuple(map(_of_first, case.requests))) for case in task.cases]
    return replace(task, cases=tuple(cases))


def _of_first(request: Request) -> Request:
    if not isinstance(request, Compare):
        return request
    return Ask(image=request.images[0], question=request.question, choices=request.choices)


def _means(scores: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """The mean score of each text over the images that it is about."""
    found: dict[str, list[float]] = {}
    for (_, text), score in scores.items():
        found.setdefault(text, []).append(score)
    return {text: float(np.mean(some)) for text, some in found.items()}


def _usual(answers: Mapping[tuple[str, str, tuple[str, ...]], str]) -> dict[tuple[str, tuple[str, ...]], str]:
    """The most frequent answer to each question over the images that it is about; of several the first."""
    found: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
    for (_, question, choices), answer in answers.items():
        found.setdefault((question, choices), Counter())[answer] += 1
    return {asked: min(some, key=lambda answer: (-some[answer], answer)) for asked, some in found.items()}


def _keys(case: Case) -> set[str]:
    return {image.key for request in case.requests for image in images_of(request)}


def _match_scores(task: Task, folds: dict[str, int]) -> Iterable[tuple[tuple[str, str], float]]:
    judged = [
        (request, truth)
        for case in task.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Match)
    ]
    keys = [(request.image.key, request.text) for request, _ in judged]
    numbers, texts = _numbered([text for _, text in keys])
    truths = np.array([truth is True for _, truth in judged], dtype=np.bool_)
    places = np.array([folds[key] for key, _ in keys], dtype=np.int64)
    return zip(keys, log_odds(features(list(numbers)), texts, truths, places).tolist(), strict=True)


def _answers(task: Task, folds: dict[str, int]) -> Iterable[tuple[tuple[str, str, tuple[str, ...]], str]]:
    judged = [
        (request, str(truth))
        for case in task.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Ask)
    ]
    if not judged:
        return ()
    common = _most_common([truth for _, truth in judged])
    choices = [sorted(set(request.choices)) or common for request, _ in judged]
    labels = sorted({truth for _, truth in judged}.union(*choices))
    label = {name: number for number, name in enumerate(labels)}
    numbers, texts = _numbered([request.question for request, _ in judged])
    asked = Questions(
        texts=texts,
        answers=np.array([label[truth] for _, truth in judged]),
        folds=np.array([folds[request.image.key] for request, _ in judged]),
        candidates=np.array([label[choice] for some in choices for choice in some]),
        owners=np.repeat(np.arange(len(choices)), [len(some) for some in choices]),
    )
    best = likely_answers(features(list(numbers)), asked).tolist()
    return ((_asked(request), labels[winner]) for (request, _), winner in zip(judged, best, strict=True))


def _most_common(answers: Sequence[str]) -> list[str]:
    ranked = sorted(Counter(answers).items(), key=lambda item: (-item[1], item[0]))
    return sorted(answer for answer, _ in ranked[:_COMMON])


def _numbered(texts: Sequence[str]) -> tuple[dict[str, int], IntArray]:
    """Return the distinct texts, numbered, and the number of each text, shape (n,)."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return numbers, np.fromiter(map(numbers.__getitem__, texts), dtype=np.int64, count=len(texts))


def _asked(question: Ask) -> tuple[str, str, tuple[str, ...]]:
    return question.image.key, question.question, tuple(sorted(set(question.choices)))


def _complain(found: Sequence[object]) -> None:
    missing = [place for place, reply in enumerate(found) if reply is None]
    if missing:
        why = f"{len(missing)} of {len(found)} requests are in none of the tasks that the model was prepared with"
        raise NoReplyError(missing, why)
