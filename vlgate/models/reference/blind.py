"""``blind``: a text-only baseline, which measures how much of a benchmark can be solved without the images.

A text-only model scores far above chance on many benchmarks (VALSE, appendix E; VL-CheckList's attributes), so a score
up to that of this baseline is not evidence of vision. The baseline is trained on the task that it is judged on, by
cross-validation, or on further cases of the same kind: the case that it replies to is never in its training data.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlgate.asking.items import images_of_case
from vlgate.metrics.shapes import SHAPES, contrasts
from vlgate.metrics.text_learning import (
    IntArray,
    Questions,
    by_rules,
    features,
    fold_of,
    likely_answers,
    log_odds,
    rule_above,
    stratified_folds,
    tied_images,
)
from vlgate.models.reference.controls import refuse_unknown
from vlgate.types import Ask, Case, Compare, FloatArray, Match, Task, images_of

_YES_NO = ["no", "yes"]
_COMMON = 20  # how many of the most common answers compete for a question without choices


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    cases: tuple[Case, ...]  # to learn from
    judges: Callable[[str], bool] = lambda _: True  # whether they judge the image with a key, which is none of theirs


class Blind:
    """A classifier of texts, trained on further cases of the same kind or on the other folds of the same task.

    If a rule that compares the texts about an image with one another (``vlgate.metrics.text_learning``) is better
    there, and surely above chance, it replies in place of the classifier: foils that are edited captions have the
    caption in common. So the baseline is not below a model that needs no image.

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
        self._lessons = lessons

    def prepare(self, tasks: Sequence[Task]) -> None:
        self._scores.clear()
        self._answers.clear()
        for task in sorted(tasks, key=lambda task: task.id, reverse=True):
            if task.together:  # this model sees none of the images, and is asked about the first
                task = replace(task, cases=tuple(map(_about_the_first, task.cases)))  # noqa: PLW2901
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
            cases = [case for case in task.cases if any(image.key in judged for image in images_of_case(case))]
            folds = dict.fromkeys(tied_images(lesson.cases), 1) | judged
            yield replace(task, cases=(*cases, *lesson.cases)), folds, judged

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        found = [self._scores.get((pair.image.key, pair.text)) for pair in pairs]
        if None in found:
            of_text: dict[str, list[float]] = {}
            for (_, text), score in self._scores.items():
                of_text.setdefault(text, []).append(score)
            means = {text: float(np.mean(scores)) for text, scores in of_text.items()}
            found = [means.get(pair.text) if score is None else score for pair, score in zip(pairs, found, strict=True)]
        refuse_unknown(found)
        return np.array(found, dtype=np.float64)

    def answer(self, questions: Sequence[Ask]) -> list[str]:
        found = [self._answers.get(_asked(question)) for question in questions]
        if None in found:  # the most frequent answer over the images that the question is about
            counts: dict[tuple[str, tuple[str, ...]], Counter[str]] = {}
            for (_, text, choices), answer in self._answers.items():
                counts.setdefault((text, choices), Counter())[answer] += 1
            usual = {key: min(count, key=lambda answer: (-count[answer], answer)) for key, count in counts.items()}
            keys = [_asked(question)[1:] for question in questions]
            found = [usual.get(key) if answer is None else answer for key, answer in zip(keys, found, strict=True)]
        refuse_unknown(found)
        return [answer for answer in found if answer is not None]

    def compare(self, questions: Sequence[Compare]) -> list[str]:
        return self.answer([_first_asked(question) for question in questions])


def _about_the_first(case: Case) -> Case:
    asked = tuple(_first_asked(request) if isinstance(request, Compare) else request for request in case.requests)
    return replace(case, requests=asked)


def _first_asked(request: Compare) -> Ask:
    return Ask(image=request.images[0], question=request.question, choices=request.choices)


def _match_scores(task: Task, folds: dict[str, int]) -> Iterable[tuple[tuple[str, str], float]]:
    judged = [
        (request, truth, number)
        for number, case in enumerate(task.cases)
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Match)
    ]
    keys = [(request.image.key, request.text) for request, *_ in judged]
    numbers, texts = _numbered([text for _, text in keys])
    truths = np.array([truth is True for _, truth, _ in judged], dtype=np.bool_)
    places = np.array([folds[key] for key, _ in keys], dtype=np.int64)
    words = features(list(numbers))
    scores = log_odds(words, texts, truths, places)
    known, lesson = scores.copy(), places == 1
    if set(places.tolist()) == {0, 1}:  # a lesson is judged by itself, and not by what the judged cases teach
        within = np.array([fold_of(key) for key, _ in keys], dtype=np.int64)
        known[lesson] = log_odds(words, texts[lesson], truths[lesson], within[lesson])
    cases = np.array([number for *_, number in judged], dtype=np.int64)
    del words, numbers, judged  # the rules below take as much memory
    return zip(keys, _by_the_better(task, keys, cases, (scores, known), places).tolist(), strict=True)


def _by_the_better(
    task: Task,
    keys: Sequence[tuple[str, str]],
    cases: IntArray,
    learnt: tuple[FloatArray, FloatArray],
    places: IntArray,
) -> FloatArray:
    """Scores of shape (n,), in each fold by the rule that is better in the other folds than the classifier, if any."""
    # A rule compares a text with the other texts of its case, or of its image. ``learnt`` are the scores of the
    # classifier, and those by which it is compared with the rules.
    scores, compared = learnt
    pairs = _contrasts(task, cases)
    if not len(pairs):
        return scores
    texts, images = [text for _, text in keys], [image for image, _ in keys]
    rules = np.concatenate([by_rules(texts, groups) for groups in (cases.tolist(), images)], axis=1)
    rules = _mean_of_equal(rules, keys)
    of_case = cases[pairs[:, 0]]
    starts = np.unique(of_case, return_index=True)[1]
    # whether all pairs of each case are in order, shape (cases, columns); ties are not
    won = (values[pairs[:, 0]] > values[pairs[:, 1]] for values in (rules, compared[:, None]))
    wins, known = (np.logical_and.reduceat(orders, starts, axis=0).astype(np.float64) for orders in won)
    guess = None if task.shape == "single" else SHAPES[task.shape].chance.get(SHAPES[task.shape].headline)
    chances = 1 / (np.diff([*starts, len(pairs)]) + 1) if guess is None else np.full(len(wins), guess)
    folds = places[pairs[starts, 0]]
    result = scores.copy()
    for fold in np.unique(places).tolist():
        others = folds != fold
        rule = rule_above(wins[others], chances[others], known[others, 0])
        if rule is not None:
            result[places == fold] = rules[places == fold, rule]
    return result


def _contrasts(task: Task, cases: IntArray) -> IntArray:
    """The places of a true and a false request whose order makes a case right, shape (n, 2)."""
    # A true statement is compared with the false ones about its image, which are cases of their own.
    if not all(isinstance(request, Match) for case in task.cases for request in case.requests):
        return np.zeros((0, 2), dtype=np.int64)
    if task.shape == "single":
        of_image: dict[str, list[int]] = {}
        images = [images_of(case.requests[0])[0].key for case in task.cases]
        for index, (case, image) in enumerate(zip(task.cases, images, strict=True)):
            if case.truths[0] is not True:
                of_image.setdefault(image, []).append(index)
        held = (index for index, case in enumerate(task.cases) if case.truths[0] is True)
        found = [(place, other) for place in held for other in of_image.get(images[place], ())]
        return np.array(found, dtype=np.int64).reshape(-1, 2)
    starts = np.searchsorted(cases, np.arange(len(task.cases)))
    found = []
    for start, case in zip(starts.tolist(), task.cases, strict=True):
        of_images = [(0, other) for other in range(1, len(case.requests))]
        for one, other in of_images if task.shape == "image_choice" else contrasts(case, task.shape):
            true, false = (one, other) if case.truths[one] is True else (other, one)
            if case.truths[true] is True and case.truths[false] is not True:
                found.append((start + true, start + false))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _mean_of_equal(values: FloatArray, keys: Sequence[tuple[str, str]]) -> FloatArray:
    """The mean of the rows with equal keys: the model has one score for a text about an image."""
    known = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    rows = np.array([known[key] for key in keys], dtype=np.int64)
    sums = np.zeros((len(known), values.shape[1]))
    np.add.at(sums, rows, values)
    sums /= np.bincount(rows)[:, None]
    return sums[rows]


def _answers(task: Task, folds: dict[str, int]) -> Iterable[tuple[tuple[str, str, tuple[str, ...]], str]]:
    judged = [
        (request, str(truth))
        for case in task.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Ask)
    ]
    if not judged:
        return ()
    ranked = sorted(Counter(truth for _, truth in judged).items(), key=lambda item: (-item[1], item[0]))
    common = sorted(answer for answer, _ in ranked[:_COMMON])
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
    best = [labels[winner] for winner in likely_answers(features(list(numbers)), asked).tolist()]
    better = _better_answers(judged, best, asked.folds)
    return ((_asked(request), answer) for (request, _), answer in zip(judged, better, strict=True))


def _better_answers(judged: Sequence[tuple[Ask, str]], best: Sequence[str], folds: IntArray) -> Sequence[str]:
    offered = [sorted(set(request.choices)) for request, _ in judged]
    compared = [number for number, choices in enumerate(offered) if len(choices) > 1 and choices != _YES_NO]
    if not compared:
        return best
    by_rule = dict(zip(compared, _chosen([offered[number] for number in compared]), strict=True))
    wins = np.array([[answer == judged[number][1] for answer in by_rule[number]] for number in compared], np.float64)
    guess = np.array([1 / len(offered[number]) for number in compared])
    tied = np.array([[answer is None for answer in by_rule[number]] for number in compared])
    wins = np.where(tied, guess[:, None], wins)
    known = np.array([best[number] == judged[number][1] for number in compared], np.float64)
    own, result = folds[compared], list(best)
    for fold in np.unique(own).tolist():
        rule = rule_above(wins[own != fold], guess[own != fold], known[own != fold])
        if rule is not None:
            for number in (number for number in compared if folds[number] == fold):
                result[number] = by_rule[number][rule] or best[number]
    return result


def _chosen(offered: Sequence[Sequence[str]]) -> Iterator[list[str | None]]:
    """The choice of each question that each rule prefers; None if several are alike to it."""
    owners = np.repeat(np.arange(len(offered)), list(map(len, offered)))
    values = by_rules([choice for choices in offered for choice in choices], owners.tolist())
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    best = values >= np.maximum.reduceat(values, starts)[owners] - 1e-12
    alike = np.add.reduceat(best.astype(np.int64), starts)
    for choices, start, counts in zip(offered, starts.tolist(), alike.tolist(), strict=True):
        places = best[start : start + len(choices)].argmax(axis=0).tolist()
        yield [choices[place] if count == 1 else None for place, count in zip(places, counts, strict=True)]


def _numbered(texts: Sequence[str]) -> tuple[dict[str, int], IntArray]:
    numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return numbers, np.fromiter(map(numbers.__getitem__, texts), dtype=np.int64, count=len(texts))


def _asked(question: Ask) -> tuple[str, str, tuple[str, ...]]:
    return question.image.key, question.question, tuple(sorted(set(question.choices)))
