"""Answers as released code searches them for words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

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
    return _yes_or_no(evidence, [not pope_says_no(answer) for [answer] in evidence.answers.tolist()])


def repope_says(answer: str | None) -> bool | None:
    """Return whether RePOPE's released code takes an answer for a yes; None if it drops the answer.

    "Yes" anywhere in the answer, in any case and as a part of any word, is a yes; otherwise "no" anywhere is a no.

    >>> [repope_says(answer) for answer in ("No, but yes", "I see none.", "Cars are absent.", "It is unknown")]
    [True, False, None, False]
    """
    text = (answer or "").lower()
    return True if "yes" in text else False if "no" in text else None


def repope(evidence: Evidence) -> dict[str, Measure]:
    """Compute RePOPE's metrics as its released code does: "yes", or else "no", anywhere in an answer counts.

    An answer with neither is in no count, so a model that answers only what it is sure of can have 1 everywhere.
    Source: ``src/eval_utils.py`` of https://github.com/YanNeu/RePOPE.
    """
    return _yes_or_no(evidence, [repope_says(answer) for [answer] in evidence.answers.tolist()])


def _yes_or_no(evidence: Evidence, said: Sequence[bool | None]) -> dict[str, Measure]:
    """The metrics of POPE over the answers that are a yes or a no; empty if none is."""
    rows = np.array([row for row, one in enumerate(said) if one is not None], dtype=np.intp)
    if not rows.size:
        return {}
    yes = np.array([float(said[row] or False) for row in rows])
    truths = np.array([truth == "yes" for [truth] in evidence.truths[rows].tolist()], dtype=np.bool_)
    facts = single.facts(yes, truths, np.ones(rows.size, dtype=np.bool_))
    found: dict[str, Measure] = {name: Values(values=facts[name], rows=rows) for name in ("accuracy", "yes_share")}
    others = single.statistics(yes, truths, np.full(rows.size, np.nan))
    return found | {name: replace(one, rows=rows[one.rows]) for name, one in others.items()}


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
