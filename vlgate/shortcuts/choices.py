"""The cases of a task as choices among texts, one of which is true: what a probe that sees no image decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vlgate.health.flaws import EXCHANGED, contrasts
from vlgate.health.stratified import stratified_folds
from vlgate.health.text_classifier import IntArray
from vlgate.seeds import generator
from vlgate.types import Ask, Case, FloatArray, Match, Shape, Task

BoolArray = NDArray[np.bool_]
_COMMON = 20  # how many of the most common answers compete for a question without choices


Features = Callable[[int], FloatArray]
"""The features of all m candidates, shape (m, f), by a fold that is left out.

Those of a candidate in the fold are learnt from all other folds. Those of another candidate are learnt from the folds
other than its own and the one left out: so weights of the features that are learnt from them know nothing of the fold.
"""
Findings = tuple[Features, BoolArray | None]
"""The features of a probe, and which, shape (f,), may speak for a candidate and never against it; None for no such."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The k choices of a task, with m candidates in all.

    ``texts`` are the candidates, ``owners`` (m,) their choices in ascending order, and ``true`` (m,) marks the one of
    each choice that is right. ``questions`` are those of the choices, empty if the candidates are texts of an image.
    ``cases`` (k,) and ``folds`` (k,) are the case and the fold of each choice, ``places`` (k,) that of the right
    request in its case, and ``images`` (k,) the key of its image. Choices with a common image have a common fold.
    """

    texts: tuple[str, ...]
    owners: IntArray
    true: BoolArray
    questions: tuple[str, ...]
    cases: IntArray
    places: IntArray
    images: tuple[str, ...]
    folds: IntArray

    @property
    def starts(self) -> IntArray:
        """The position of the first candidate of each choice, shape (k,)."""
        return np.searchsorted(self.owners, np.arange(len(self.cases))).astype(np.int64)

    def whole(self) -> list[str]:
        """Return each candidate as a text of its own: an answer follows its question."""
        if not self.questions:
            return list(self.texts)
        return [f"{self.questions[owner]} {text}" for owner, text in zip(self.owners, self.texts, strict=True)]


def choices(task: Task) -> Choices:
    """Return the choices of a task: a true and a false text of an image, or the answers to a question.

    A question without choices has the most common answers of the task. A choice whose right answer is not among its
    candidates is left out: nobody can make it.
    """
    folds = stratified_folds(task.cases)
    asked = any(isinstance(request, Ask) for case in task.cases[:1] for request in case.requests)
    found = list(_answers(task.cases) if asked else _texts(task.cases, task.shape))
    sizes = [len(one.texts) for one in found]
    return Choices(
        texts=tuple(text for one in found for text in one.texts),
        owners=np.repeat(np.arange(len(found)), sizes).astype(np.int64),
        true=np.array([place == one.right for one in found for place in range(len(one.texts))], dtype=np.bool_),
        questions=tuple(one.question for one in found) if asked else (),
        cases=np.array([one.case for one in found], dtype=np.int64),
        places=np.array([one.place for one in found], dtype=np.int64),
        images=tuple(one.image for one in found),
        folds=np.array([folds[one.image] for one in found], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """A choice: its case, the place of its right request there, its image, and which of its texts is right."""

    case: int
    place: int
    image: str
    texts: tuple[str, ...]
    right: int = 0
    question: str = ""


def _texts(cases: Sequence[Case], shape: Shape) -> Iterator[_Choice]:
    for number, case in enumerate(cases):
        if shape == "choice":
            pairs = [one for one in case.requests if isinstance(one, Match)]
            yield _Choice(case=number, place=0, image=pairs[0].image.key, texts=tuple(one.text for one in pairs))
            continue
        for right, wrong in contrasts(case, shape):
            true, false = case.requests[right], case.requests[wrong]
            if isinstance(true, Match) and isinstance(false, Match):
                yield _Choice(case=number, place=right, image=true.image.key, texts=(true.text, false.text))


def _answers(cases: Sequence[Case]) -> Iterator[_Choice]:
    asked = [
        (number, place, request, _plain(str(truth)))
        for number, case in enumerate(cases)
        for place, (request, truth) in enumerate(zip(case.requests, case.truths, strict=True))
        if isinstance(request, Ask)
    ]
    ranked = sorted(Counter(truth for *_, truth in asked).items(), key=lambda item: (-item[1], item[0]))
    common = tuple(answer for answer, _ in ranked[:_COMMON])
    for number, place, request, truth in asked:
        offered = tuple(dict.fromkeys(map(_plain, request.choices))) or common
        if truth in offered:
            yield _Choice(
                case=number,
                place=place,
                image=request.image.key,
                texts=offered,
                right=offered.index(truth),
                question=request.question,
            )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def at_random(task: Task, name: str) -> Task:
    """Return a task with the same texts whose truths are drawn anew, so that no text can give them away.

    Each side of a case is true with the same probability, and so is each candidate answer of a question. ``name``
    seeds the draw.
    """
    random = generator(name)
    if choices(task).questions:
        return _answered_at_random(task, random)
    return replace(task, cases=tuple(_reordered(case, task.shape, random) for case in task.cases))


def _reordered(case: Case, shape: Shape, random: np.random.Generator) -> Case:
    """The case with what is true and what is false exchanged, or any of its texts true if they are not as many."""
    if shape in EXCHANGED:
        order = EXCHANGED[shape] if random.random() < 0.5 else tuple(range(len(case.requests)))
    else:
        order = tuple(random.permutation(len(case.requests)).tolist())
    return replace(case, requests=tuple(case.requests[place] for place in order))


def _answered_at_random(task: Task, random: np.random.Generator) -> Task:
    known = choices(task)
    truths = [list(case.truths) for case in task.cases]
    ends = [*known.starts[1:].tolist(), len(known.texts)]
    drawn = random.random(len(known.cases))
    for number, (start, end) in enumerate(zip(known.starts.tolist(), ends, strict=True)):
        truths[known.cases[number]][known.places[number]] = known.texts[start + int(drawn[number] * (end - start))]
    cases = zip(task.cases, truths, strict=True)
    return replace(task, cases=tuple(replace(case, truths=tuple(given)) for case, given in cases))
