"""Answers as released code searches them for words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from vlgate.metrics import question_quad, single
from vlgate.metrics.measures import Measure, Values
from vlgate.metrics.released.evidence import Evidence

_NO = frozenset(("No", "not", "no"))


def pope_says_no(answer: str | None) -> bool:
    """Return whether POPE's released code takes an answer for a no: "No", "not" or "no" stands in its first sentence.

    The first sentence ends at the first full stop, commas are dropped, and words are what stands between blanks.
    Anything else is a yes: an empty answer, "NO", "isn't", "no!", and here also a tie of the two choices.

    >>> [pope_says_no(answer) for answer in ("No, there is not.", "NO", "", "It is unclear. No.")]
    [True, False, False, False]
    """
    first = (answer or "").partition(".")[0].replace(",", "")
    return not _NO.isdisjoint(first.split(" "))


def pope(evidence: Evidence) -> dict[str, Measure]:
    """Compute POPE's metrics as its released code does: every answer without "No", "not" or "no" is a yes.

    So an answer that is neither is right for half of the questions, and a model that says nothing has an accuracy of
    1/2 and a recall of 1. The words are searched in the first sentence, with their case.
    """
    said = np.array([float(not pope_says_no(answer)) for [answer] in evidence.answers.tolist()])
    truths = np.array([truth == "yes" for [truth] in evidence.truths.tolist()], dtype=np.bool_)
    facts = single.facts(said, truths, np.ones(len(said), dtype=np.bool_))
    found: dict[str, Measure] = {
        name: Values(values=facts[name], rows=np.arange(len(said))) for name in ("accuracy", "yes_share")
    }
    return found | single.statistics(said, truths, np.full(len(said), np.nan))


def first_word(answer: str | None, words: Sequence[str]) -> str | None:
    """Return which word stands first in an answer, as a whole word in any case; None if none does.

    >>> first_word("The image shows a dog, so B.", ("a", "b"))
    'a'
    """
    found = {word: re.search(rf"\b{word}\b", answer or "", re.IGNORECASE) for word in words}
    places = {word: match.start() for word, match in found.items() if match}
    return min(places, key=places.__getitem__) if places else None


def naturalbench_yes_no(evidence: Evidence) -> dict[str, Measure]:
    """Compute NaturalBench's metrics as its released code does: the first "yes" or "no" of an answer counts.

    "Yes and no" is a yes, and "There is no way to tell" a no. An answer with neither is wrong. The truths are yes, no,
    no, yes, whatever the file says.
    """
    return _crossed(evidence, ("yes", "no"))


def naturalbench_choice(evidence: Evidence) -> dict[str, Measure]:
    """Compute NaturalBench's metrics as its released code does: the first "a" or "b" of an answer counts.

    The article of "This is a dog" is read as option A. An answer with neither letter is wrong. The truths are A, B, B,
    A, whatever the file says.
    """
    return _crossed(evidence, ("a", "b"))


def _crossed(evidence: Evidence, words: tuple[str, str]) -> dict[str, Measure]:
    first, second = words
    said = [[first_word(answer, words) for answer in row] for row in evidence.answers.tolist()]
    right = np.array(
        [[one == truth for one, truth in zip(row, (first, second, second, first), strict=True)] for row in said]
    )
    facts = question_quad.facts(right, np.ones_like(right))
    rows = np.arange(len(right))
    return {name: Values(values=facts[name], rows=rows) for name in question_quad.METRICS if name != "read"}
