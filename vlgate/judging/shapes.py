"""Cases judged one by one: choices, questions, two true captions, and images that are asked together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vlgate.judging.answers import normal_choice
from vlgate.metrics import answer_rules, score_rules
from vlgate.metrics.compute import UNDECIDED
from vlgate.metrics.measures import of_ties
from vlgate.types import Ask, Batch, Case, Compare, FloatArray, Match, Prediction, Shape

# A case whose replies can all be judged, with what each says.


class Unread(str):
    """The normal text of an answer that names none of the choices, or several, or that is empty."""

    __slots__ = ()


class ReadCase(NamedTuple):
    """A case whose replies can all be judged.

    ``values`` holds one entry per request: the score, or the choice that the answer names, in normal form. It is an
    ``Unread`` if the answer names none of the choices, or several, and None for a tie between choices.
    """

    case: Case
    replies: tuple[Prediction, ...]
    values: tuple[Any, ...]


def right_answers(case: Case) -> list[str]:
    """Return the right answers to the questions of a case, in normal form."""
    return [
        normal_choice(str(truth), request.choices if isinstance(request, Ask | Compare) else ())
        for request, truth in zip(case.requests, case.truths, strict=True)
    ]


def shown(said: str | None) -> str:
    """Return what a sentence shows of the choice that an answer names.

    >>> shown("yes"), shown(None)
    ("'yes'", 'a tie')
    """
    return "a tie" if said is None else repr(said)


def why_unread(one: ReadCase) -> str:
    """Return what a sentence says about the answers that could not be read; empty if there is none."""
    return "".join(
        f"; {reply.answer!r} {_names_nothing(reply.request.choices)}"
        for reply, said in zip(one.replies, one.values, strict=True)
        if type(said) is Unread and isinstance(reply.request, Ask | Compare)
    )


def _names_nothing(choices: tuple[str, ...]) -> str:
    return f"names none of {', '.join(map(repr, choices))}, or several" if choices else "is empty"


# Choices, single questions, crossed questions and two true captions: their replies as facts, and their sentences.

YES = "yes"


def _choices(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    most = max(len(one.values) for one in judged)
    scores = np.full((len(judged), most), np.nan)
    for row, one in enumerate(judged):
        scores[row, : len(one.values)] = one.values
    name = score_rules.TEXT if batch.task.shape == "choice" else score_rules.IMAGE
    return score_rules.choice_case_metrics(scores, name, batch.ties)


def _two_true(batch: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return score_rules.two_true_case_metrics(np.array([one.values for one in judged], dtype=np.float64), batch.ties)


def _single(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    said = np.array([_said_yes(one) for one in judged], dtype=np.float64)
    truths = np.array([one.case.truths[0] in (True, YES) for one in judged], dtype=np.bool_)
    read = [type(one.values[0]) is not Unread and not _silent(one) for one in judged]
    return answer_rules.single_case_metrics(said, truths, np.array(read, dtype=np.bool_))


def _silent(one: ReadCase) -> bool:
    """Whether the model says neither yes nor no to a statement: its score alone is not an answer."""
    [reply] = one.replies
    return isinstance(reply.request, Match) and reply.accepted is None


def _said_yes(one: ReadCase) -> float:
    """1.0 for yes, 0.0 for no, and NaN for an answer that is neither."""
    [reply], [said] = one.replies, one.values
    if isinstance(reply.request, Match):
        return np.nan if reply.accepted is None else float(reply.accepted)
    return np.nan if said is None or type(said) is Unread else float(said == YES)


def _question_quads(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    read = np.array([[type(said) is not Unread for said in one.values] for one in judged], dtype=np.bool_)
    right = [[said == truth for said, truth in zip(one.values, right_answers(one.case), strict=True)] for one in judged]
    return answer_rules.question_quad_case_metrics(np.array(right, dtype=np.bool_) & read, read)


FURTHER_RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = MappingProxyType(
    {
        "choice": _choices,
        "image_choice": _choices,
        "two_true": _two_true,
        "single": _single,
        "question_quad": _question_quads,
    },
)


def _why_choice(one: ReadCase) -> str:
    true, *others = one.values
    best = max(others)
    order = "above" if true > best else "level with" if true == best else "below"
    what = f"the best of {len(others)} false ones" if len(others) > 1 else "the false one"
    return f"the true candidate scores {true:.6g}, {order} {what} with {best:.6g}"


def _why_two_true(one: ReadCase) -> str:
    first, second, false = one.values
    held = (first > false) + (second > false)
    return f"{held} of 2 true captions score above the false one ({first:.6g}, {second:.6g}; false: {false:.6g})"


def _why_single(one: ReadCase) -> str:
    [reply], [said] = one.replies, one.values
    truth = YES if one.case.truths[0] in (True, YES) else "no"
    if _silent(one):
        return f"the model gives a score, {said:.6g}, but neither yes nor no; right is {truth}"
    if isinstance(reply.request, Match):
        return f"said {YES if reply.accepted else 'no'}, with a score of {said:.6g}; right is {truth}"
    return f"answered {shown(said)}; right is {truth!r}{why_unread(one)}"


def _why_question_quad(one: ReadCase) -> str:
    truths = right_answers(one.case)
    held = sum(said == truth and type(said) is not Unread for said, truth in zip(one.values, truths, strict=True))
    said = ", ".join(map(shown, one.values))
    return f"{held} of 4 answers are right: answered {said}; right are {', '.join(map(repr, truths))}{why_unread(one)}"


FURTHER_SENTENCES: Mapping[Shape, Callable[[ReadCase], str]] = MappingProxyType(
    {
        "choice": _why_choice,
        "image_choice": _why_choice,
        "two_true": _why_two_true,
        "single": _why_single,
        "question_quad": _why_question_quad,
    },
)


# Cases that are asked with their images together: what two replies in two orders say, and the sentence about it.
#
# The requests of such a case are pairs of the same question with the candidates in two orders; see
# ``vlgate.run.together``. The pair says something only if both replies mean the same image, text or answer. A model
# that always names the same position says nothing, and is wrong.

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
TOGETHER_SHAPES = frozenset(_ASKED)
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
    return score_rules.chosen_quad_case_metrics(_right(judged)) | _answered(judged)


def _twin_captions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    prior = [_verdict(_pairs(one)[_COUNTERFACTUAL]) == "wrong" for one in judged]
    facts = score_rules.chosen_quad_twin_case_metrics(_right(judged), np.array(prior, dtype=np.bool_))
    return facts | _answered(judged) | _undecided(judged)


def _image_choices(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return {score_rules.IMAGE: _right(judged)[:, 0].astype(np.float64)} | _answered(judged)


def _crossed(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    return answer_rules.question_quad_case_metrics(_right(judged), _read(judged)) | of_ties(_tied(judged))


def _twin_questions(_: Batch, judged: Sequence[ReadCase]) -> dict[str, FloatArray]:
    rows = [_pairs(one) for one in judged]
    prior = [second.replies == first.truths for first, second in rows]
    facts = answer_rules.question_twin_case_metrics(_right(judged), np.array(prior, dtype=np.bool_), _read(judged))
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


TOGETHER_RULES: Mapping[Shape, Callable[[Batch, Sequence[ReadCase]], dict[str, FloatArray]]] = MappingProxyType(
    {
        "quad": _quads,
        "image_quad": _quads,
        "twin_captions": _twin_captions,
        "image_choice": _image_choices,
        "question_quad": _crossed,
        "twin_questions": _twin_questions,
    }
)


def together_sentence(shape: Shape) -> Callable[[ReadCase], str]:
    """Return the function that says why a case of a shape is right or wrong."""

    def sentence(one: ReadCase) -> str:
        """Say what each pair of replies comes to."""
        found = [_verdict(pair) for pair in _pairs(one)]
        each = ", ".join(f"{asked}: {verdict}" for asked, verdict in zip(_ASKED[shape], found, strict=True))
        return f"{found.count('right')} of {len(found)} right in both orders ({each}){why_unread(one)}"

    return sentence
