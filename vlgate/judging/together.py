"""Cases that are asked with their images together: what two replies in two orders say, and the sentence about it.

The requests of such a case are pairs of the same question with the candidates in two orders; see
``vlgate.run.together``. The pair says something only if both replies mean the same image, text or answer. A model that
always names the same position says nothing, and is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.answers import normal_choice
from vlgate.judging.read_case import ReadCase, Unread, right_answers, why_unread
from vlgate.metrics import choice, question_quad, questions, winoground
from vlgate.metrics.compute import UNDECIDED
from vlgate.metrics.measures import of_ties
from vlgate.types import Batch, FloatArray, Shape

_QUAD = ("the text of image 1", "the text of image 2", "the image of text 1", "the image of text 2")
_CROSSED = tuple(f"question {question} about image {image}" for image in (1, 2) for question in (1, 2))
_ASKED: Mapping[Shape, tuple[str, ...]] = MappingProxyType(
    {
        "quad": _QUAD,
        "image_quad": _QUAD,
        "twin_captions": _QUAD,
        "image_choice": ("the image of the text",),
        "question_quad": _CROSSED,
        "twin_questions": ("the normal image", "the counterfactual image"),
    }
)
"""What the pairs of requests of a case ask for, by shape."""
_COUNTERFACTUAL = 1  # the pair of a twin shape that decides about the prior
SHAPES = frozenset(_ASKED)
"""The shapes of the cases that can be asked with their images together."""


class _Pair(NamedTuple):
    """Two replies to a question in two orders, their truths, and the choices of both."""

    replies: tuple[Any, Any]
    truths: tuple[str, str]
    choices: tuple[str, ...]


def _pairs(one: ReadCase) -> list[_Pair]:
    """Each two replies of a case that belong together."""
    truths = right_answers(one.case)
    choices = [getattr(request, "choices", ()) for request in one.case.requests]
    return [
        _Pair((said, again), (truth, other), tuple(normal_choice(choice, offered) for choice in offered))
        for said, again, truth, other, offered in zip(
            one.values[::2], one.values[1::2], truths[::2], truths[1::2], choices[::2], strict=True
        )
    ]


def _right(judged: Sequence[ReadCase]) -> NDArray[np.bool_]:
    """Whether both replies of each pair are right, shape (n, k)."""
    rows = [[_verdict(pair) == "right" for pair in _pairs(one)] for one in judged]
    return np.array(rows, dtype=np.bool_)


def _verdict(pair: _Pair) -> str:
    """What two replies come to: ``right``, ``wrong``, ``unread``, ``tied``, or ``depends on the order``."""
    if any(type(said) is Unread for said in pair.replies):
        return "unread"
    if None in pair.replies:
        return "tied"
    if pair.replies == pair.truths:
        return "right"
    if pair.truths[0] == pair.truths[1]:
        same = pair.replies[0] == pair.replies[1]
    else:  # positions: the second order is the first one rotated, so each candidate moves by as many places as the true
        places = [pair.choices.index(one) for one in (*pair.truths, *pair.replies)]
        same = (places[1] - places[0] - places[3] + places[2]) % len(pair.choices) == 0
    return "wrong" if same else "depends on the order"


def _quads(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return winoground.chosen_facts(_right(judged)) | _answered(judged)


def _twin_captions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    prior = [_verdict(_pairs(one)[_COUNTERFACTUAL]) == "wrong" for one in judged]
    facts = winoground.chosen_twin_facts(_right(judged), np.array(prior, dtype=np.bool_))
    return facts | _answered(judged) | _undecided(judged)


def _image_choices(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return {choice.IMAGE: _right(judged)[:, 0].astype(np.float64)} | _answered(judged)


def _crossed(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return question_quad.facts(_right(judged), _read(judged)) | of_ties(_tied(judged))


def _twin_questions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    rows = [_pairs(one) for one in judged]
    prior = [second.replies == first.truths for first, second in rows]
    facts = questions.twin_facts(_right(judged), np.array(prior, dtype=np.bool_), _read(judged))
    return facts | of_ties(_tied(judged)) | _undecided(judged)


def _answered(judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    """The share of the pairs of each case that could be read, and the cases with a tie."""
    return {"read": np.asarray(_read(judged).mean(axis=1), dtype=np.float64)} | of_ties(_tied(judged))


def _undecided(judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    """Whether the pair that decides about the prior says nothing: unread, tied, or dependent on the order."""
    silent = [_verdict(_pairs(one)[_COUNTERFACTUAL]) not in {"right", "wrong"} for one in judged]
    return {UNDECIDED: np.array(silent, dtype=np.float64)}


def _read(judged: Sequence[ReadCase]) -> NDArray[np.bool_]:
    """Whether both replies of each pair could be read, shape (n, k)."""
    rows = [[_verdict(pair) != "unread" for pair in _pairs(one)] for one in judged]
    return np.array(rows, dtype=np.bool_)


def _tied(judged: Sequence[ReadCase]) -> NDArray[np.bool_]:
    """Whether a reply of each case is a tie of choices, shape (n,)."""
    return np.array([None in one.values for one in judged], dtype=np.bool_)


RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = MappingProxyType(
    {
        "quad": _quads,
        "image_quad": _quads,
        "twin_captions": _twin_captions,
        "image_choice": _image_choices,
        "question_quad": _crossed,
        "twin_questions": _twin_questions,
    }
)


def sentence_of(shape: Shape) -> Callable[[ReadCase], str]:
    """Return the function that says why a case of a shape is right or wrong."""

    def sentence(one: ReadCase) -> str:
        """Say what each pair of replies comes to."""
        found = [_verdict(pair) for pair in _pairs(one)]
        each = ", ".join(f"{asked}: {verdict}" for asked, verdict in zip(_ASKED[shape], found, strict=True))
        return f"{found.count('right')} of {len(found)} right in both orders ({each}){why_unread(one)}"

    return sentence
