"""Another case's image in the place of a case's own: a derangement of the cases by seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vlgate import types
from vlgate.metrics.clusters import photograph
from vlgate.seeds import generator
from vlgate.types import Case, LazyImage, Task

_TRIED = 64  # cases; a task in which so many share an image or a true text with a case has no other one to show


def images_of(case: Case) -> tuple[LazyImage, ...]:
    """Return the different images of a case, in the order of its requests."""
    return tuple(dict.fromkeys(image for one in case.requests for image in types.images_of(one)))


def others_of(task: Task, cases: Sequence[Case], seed: int) -> dict[str, Mapping[LazyImage, LazyImage]]:
    """Choose for each case the images of another case of its task.

    The cases of the task are put in a random order, and each is shown the images of the next one that shares neither an
    image nor a true text nor a question with its answer. So a case never sees its own image, a part of it or a
    perturbed copy, and what is true of it is not known to be true of what it sees. It may still be true by chance.

    Args:
        task: the task, from all of whose cases the images are taken.
        cases: the cases to choose for.
        seed: the seed of the run.

    Returns: by the id of the case, the other image of each of its images; cases without one are absent.
    """
    order = generator(f"{seed}:look:{task.id}").permutation(len(task.cases)).tolist()
    places = {task.cases[number].id: place for place, number in enumerate(order)}
    found: dict[str, Mapping[LazyImage, LazyImage]] = {}
    for case in cases:
        following = (order[(places[case.id] + step) % len(order)] for step in range(1, min(_TRIED, len(order))))
        own, true = _bases(case), _true(case)
        other = next(
            (
                task.cases[number]
                for number in following
                if own.isdisjoint(_bases(task.cases[number])) and true.isdisjoint(_true(task.cases[number]))
            ),
            None,
        )
        if other is not None:
            shown = images_of(other)
            found[case.id] = {image: shown[place % len(shown)] for place, image in enumerate(images_of(case))}
    return found


def _bases(case: Case) -> set[str]:
    """The names of the images of a case without their perturbations."""
    return {photograph(image.key) for image in images_of(case)}


def _true(case: Case) -> set[tuple[str, str]]:
    """The true texts of a case, and its questions with their answers."""
    pairs = zip(case.requests, case.truths, strict=True)
    return {(types.text_of(request), str(truth)) for request, truth in pairs if truth is not False}
