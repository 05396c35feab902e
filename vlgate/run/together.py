"""``--ask=together``: the same cases, asked with all images of a case in one prompt.

Each question is asked twice, with the candidates in two orders, and the two requests follow each other:

- ``quad``, ``image_quad``, ``twin_captions``: the text of image 0 and of image 1, each a choice between both texts, and
  the image of text 0 and of text 1, each a choice between both images; in eight requests;
- ``image_choice``: the image of the text, a choice among all, in a random order, and in that order rotated by half;
- ``question_quad``, ``twin_questions``: each question about an image, beside the other image of the case.

The ids, tags, shapes and metrics of the tasks stay. ``vlgate.judging.verdicts`` says what the replies come to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from vlgate.errors import OptionError
from vlgate.metrics.clusters import ordinal
from vlgate.metrics.shapes import SHAPES
from vlgate.seeds import generator
from vlgate.types import Ask, Case, Compare, LazyImage, Request, Task, images_of, text_of

TEXT = 'Which of the two texts describes the image, the first or the second? The first text: "{}" The second text: "{}"'
IMAGE = 'Which of the {} images does this text describe? "{}"'
QUESTION = "About the {} image: {}"
_WORDS = tuple(map(ordinal, range(2)))
_NUMBERS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NAMED = 6  # tasks in the note

_Asked = tuple[Request, str]
"""A request, and its right answer."""


def asked_together(tasks: Sequence[Task], seed: int) -> tuple[tuple[Task, ...], str]:
    changed = [task.id for task in tasks if SHAPES[task.shape].together]
    if not changed:
        raise OptionError(
            "--ask=together: no case of these tasks has several images; name a task of other cases with --suite, such "
            "as winoground/all, or leave --ask out"
        )
    more = f" and {len(changed) - _NAMED} more tasks" if len(changed) > _NAMED else ""
    note = (
        f"asked with their images together (--ask=together): {', '.join(changed[:_NAMED])}{more}; a choice counts only "
        "if the model makes it in both orders of the candidates, and the texts are not examined for flaws and shortcuts"
    )
    made = []
    for task in tasks:
        cases, together = list(task.cases), SHAPES[task.shape].together
        if together is not None:
            for index, case in enumerate(cases):
                requests, truths = zip(*_WAYS[together.asked](case, f"{seed}:together:{task.id}"), strict=True)
                cases[index] = replace(case, requests=requests, truths=truths)
        made.append(replace(task, cases=tuple(cases)) if together else task)
    return tuple(made), note


def _quad(case: Case, _: str) -> Iterator[_Asked]:
    images, texts = _images(case), (text_of(case.requests[0]), text_of(case.requests[-1]))
    for own, image in enumerate(images):
        for order in ((0, 1), (1, 0)):
            question = TEXT.format(*(texts[place] for place in order))
            yield Ask(image=image, question=question, choices=_WORDS), _WORDS[order.index(own)]
    for own, text in enumerate(texts):
        for order in ((0, 1), (1, 0)):
            yield _which(text, [images[place] for place in order]), _WORDS[order.index(own)]


def _image_choice(case: Case, name: str) -> Iterator[_Asked]:
    images = [image for request in case.requests for image in images_of(request)]
    order = generator(f"{name}:{case.id}").permutation(len(images)).tolist()
    half = len(order) // 2
    for places in (order, order[half:] + order[:half]):
        shown = [images[place] for place in places]
        yield _which(text_of(case.requests[0]), shown), ordinal(places.index(0))


def _which(text: str, images: Sequence[LazyImage]) -> Compare:
    many = _NUMBERS[len(images) - 2] if len(images) - 2 < len(_NUMBERS) else str(len(images))
    choices = tuple(map(ordinal, range(len(images))))
    return Compare(images=tuple(images), question=IMAGE.format(many, text), choices=choices)


def _questions(case: Case, _: str) -> Iterator[_Asked]:
    images = _images(case)
    for request, truth in zip(case.requests, case.truths, strict=True):
        [own] = images_of(request)
        other = images[1] if own == images[0] else images[0]
        choices = request.choices if isinstance(request, Ask) else ()
        for shown in ((own, other), (other, own)):
            question = QUESTION.format(_WORDS[shown.index(own)], text_of(request))
            yield Compare(images=shown, question=question, choices=choices), str(truth)


def _images(case: Case) -> tuple[LazyImage, ...]:
    return (*images_of(case.requests[0]), *images_of(case.requests[-1]))


_WAYS: Mapping[str, Callable[[Case, str], Iterator[_Asked]]] = MappingProxyType(
    {"quad": _quad, "image_choice": _image_choice, "questions": _questions}
)
