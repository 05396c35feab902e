"""The probe ``form``: how long a text is, how rare its words are, its numbers, negations and slips of grammar.

These are the marks that filters of foils look for (VALSE, appendix E; SugarCrepe, section 3): a foil that is longer,
rarer, negated or ungrammatical is found without the image. So is a caption if the other texts about its image are
edits of it: each candidate is also compared with these.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from math import log1p

import numpy as np

from vlgate.health.likeness import compared, several
from vlgate.perturb.numbers import NUMBER_WORDS
from vlgate.shortcuts.choices import Choices, Findings
from vlgate.shortcuts.logit import centred
from vlgate.types import FloatArray

_WORD = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_MARK = re.compile(r"[^\w\s]")
_SLIP = re.compile(r"\b(?:a [aeiou]|an [^aeiouh\W\d])", re.IGNORECASE)
_NEGATED = frozenset({"no", "not", "none", "nobody", "nothing", "never", "neither", "nor", "without", "cannot"})
_NUMBERS = {word: float(number) for number, word in enumerate(NUMBER_WORDS)}
_COMPARED = [0, 1, 2, 4]  # without the length, which is a mark of its own
_YES, _NO = "yes", "no"


def form_features(found: Choices) -> Findings:
    """Return the marks of each candidate, and of each whether it is above the mean of its choice.

    Words are counted in all texts of the task, whether they are true or false, so no mark depends on a truth.
    """
    values = np.concatenate([_of_answers(found) if found.questions else _of_texts(found.texts), _beside(found)], axis=1)
    marks = np.concatenate([values, np.sign(centred(values, found))], axis=1)
    return (lambda _: marks), None


def _beside(found: Choices) -> FloatArray:
    """How like each candidate is to the others of its case, and to those about its image in all cases.

    Two texts are as like one to the other, so these are 0 if there are no more.
    """
    numbers = range(len(found.cases)) if found.questions else found.cases.tolist()
    cases = [(numbers[owner], found.images[owner]) for owner in found.owners.tolist()]
    images = [image for _, image in cases]
    grouped = [cases] if found.questions or len(set(images)) == len(set(cases)) else [cases, images]
    return np.concatenate([_compared(found.texts, groups) for groups in grouped], axis=1)


def _compared(texts: Sequence[str], groups: Sequence[Hashable]) -> FloatArray:
    return np.where(several(texts, groups)[:, None], compared(texts, groups)[:, _COMPARED], 0.0)


def _of_texts(texts: Sequence[str]) -> FloatArray:
    words = {text: _WORD.findall(text.lower()) for text in dict.fromkeys(texts)}
    counts = Counter(word for text in texts for word in words[text])
    marks = {text: _marks(text, found, counts) for text, found in words.items()}
    return np.array([marks[text] for text in texts], dtype=np.float64)


def _marks(text: str, words: Sequence[str], counts: Counter[str]) -> tuple[float, ...]:
    common = [log1p(counts[word]) for word in words] or [0.0]
    numbers = [_NUMBERS[word] if word in _NUMBERS else float(word) for word in words if _is_number(word)]
    return (
        len(text),
        len(words),
        sum(map(len, words)) / max(1, len(words)),
        min(common),
        sum(common) / len(common),
        len(words) - len(set(words)),
        sum(word in _NEGATED or word.endswith("n't") for word in words),
        len(numbers),
        log1p(max(numbers, default=0.0)),
        min(numbers, default=0.0) == 0.0,
        len(_MARK.findall(text)),
        len(_SLIP.findall(text)),
        text != text.strip() or "  " in text,
        text[:1].isupper(),
    )


def _is_number(word: str) -> bool:
    return word in _NUMBERS or word[0].isdecimal()


def _of_answers(found: Choices) -> FloatArray:
    offered = Counter(found.texts)
    ends = [*found.starts[1:].tolist(), len(found.texts)]
    rows = []
    for question, start, end in zip(found.questions, found.starts.tolist(), ends, strict=True):
        words = _WORD.findall(question.lower())
        negated = any(word in _NEGATED or word.endswith("n't") for word in words)
        for place in range(start, end):
            rows.append(_answer_marks(found.texts[place], question.lower(), words, negated=negated))
            rows[-1] += (float(place == start), float(place == end - 1), log1p(offered[found.texts[place]]))
    return np.array(rows, dtype=np.float64)


def _answer_marks(answer: str, question: str, words: Sequence[str], *, negated: bool) -> tuple[float, ...]:
    """The marks of an answer: those of "yes" also by what the question says, because its form may give it away."""
    yes = float(answer == _YES) - float(answer == _NO)
    at = question.find(answer) if answer not in {_YES, _NO} else -1
    return (
        yes,
        yes * negated,
        yes * len(words),
        yes * ("or" in words),
        yes * ("and" in words or "both" in words),
        yes * ("any" in words or "anything" in words),
        yes * len(_SLIP.findall(question)),
        len(answer),
        float(at >= 0),
        at / max(1, len(question)),
    )
