"""Shortcuts: how far a table can be solved by rules and a classifier that read its texts and never look.

"The shorter one is right" reaches 99 % on SugarCrepe's add_obj, "the larger number is right" 100 % on VALSE's
adversarial counting. What a probe reaches, a model's score cannot show to be sight.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec

import numpy as np

from vlgate.grouping import tied_pictures
from vlgate.health import CONTRASTS
from vlgate.stats import wilson
from vlgate.text_classifier import FOLDS, out_of_fold
from vlgate.types import Ask, Case, FloatArray, Match, Shape, Table

SOLVED = 0.75
"""Half-way from a coin to certainty: a probe above it gets right half of what a coin gets wrong."""

_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
)
_NUMBERS = {word: float(number) for number, word in enumerate(_WORDS.split())}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What a blind rule reaches on a table: ``value`` of ``n`` comparisons, or None, and ``note`` says why."""

    name: str
    value: float | None
    n: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contrast:
    """A true and a false text of one picture; cases that share a picture, in whatever place, share ``group``."""

    group: str
    true: str
    false: str


def probe(table: Table, limit: int = 20_000) -> tuple[Probe, ...]:
    """Try the shortcuts on a table.

    For texts, ``value`` is the share of (true text, false text of the same picture) that the rule ranks rightly,
    where a tie counts one half: unlike the suite's own ``acc_r``, so that a rule with nothing to say reads 0.5, as a
    coin does, and "longer" and "shorter" add up to 1. In a quad each text is true once and false once, so that every
    rule reads 0.5. For questions it is the share of questions answered rightly.

    Args:
        table: to try them on.
        limit: at most so many cases are tried, in a draw that depends on the table's id alone.

    Returns: the probes, always the same for a shape; one that could not be run has no value and says why. None for
        a table without any pictures.
    """
    cases = _drawn(table, limit)
    if table.shape == "questions":
        return _question_probes(cases)
    groups = tied_pictures(cases)
    found = [contrast for case in cases for contrast in _contrasts(case, table.shape, groups)]
    return _text_probes(found) if found else ()


def solved(probes: Sequence[Probe], threshold: float = SOLVED) -> Probe | None:
    """The probe that solves a table, if one does: the table's score is then not evidence of seeing.

    A probe solves a table where the lower end of its Wilson interval is above ``threshold``. The confidence is 95 %
    for all probes together (Bonferroni), since the best of several is looked at.

    >>> solved([Probe(name="shorter text", value=0.98, n=2062)]).name
    'shorter text'
    """
    run = [one for one in probes if one.value is not None and one.n > 0]
    best = max(run, key=lambda one: one.value or 0.0, default=None)
    if best is None or best.value is None:
        return None
    low, _ = wilson(best.value, best.n, 1 - 0.05 / len(run))
    return best if low > threshold else None


def _drawn(table: Table, limit: int) -> Sequence[Case]:
    if len(table.cases) <= limit:
        return table.cases
    random = np.random.default_rng(int.from_bytes(sha256(f"probes:{table.id}".encode()).digest()[:8], "big"))
    return [table.cases[place] for place in np.sort(random.choice(len(table.cases), size=limit, replace=False))]


def _contrasts(case: Case, shape: Shape, groups: Mapping[str, str]) -> list[_Contrast]:
    found = []
    for right, wrong in CONTRASTS[shape]:
        true, false = case.requests[right], case.requests[wrong]
        if isinstance(true, Match) and isinstance(false, Match):
            found.append(_Contrast(group=groups[true.picture.key], true=true.text, false=false.text))
    return found


def _text_probes(found: Sequence[_Contrast]) -> tuple[Probe, ...]:
    n = len(found)
    longer = _share(found, lambda text: float(len(text)))
    larger = _share(found, _number)
    return (
        Probe(name="constant", value=0.5, n=n, note="all ties"),
        Probe(name="longer text", value=longer, n=n, note="by characters"),
        Probe(name="shorter text", value=1 - longer, n=n, note="by characters"),
        Probe(name="larger number", value=larger, n=n, note="a tie where a text has none"),
        Probe(name="smaller number", value=1 - larger, n=n, note="a tie where a text has none"),
        _classifier(found),
    )


def _share(found: Sequence[_Contrast], measure: Callable[[str], float]) -> float:
    true, false = (np.array([measure(text) for text in texts]) for texts in _sides(found))
    return _ranked(true, false)


def _ranked(true: FloatArray, false: FloatArray) -> float:
    """The share of true above false; a tie, and a comparison with NaN, counts one half."""
    return float(np.mean(0.5 + (true > false) / 2 - (true < false) / 2))


def _sides(found: Sequence[_Contrast]) -> tuple[list[str], list[str]]:
    return [contrast.true for contrast in found], [contrast.false for contrast in found]


def _number(text: str) -> float:
    """The largest number of a text, in digits or in words up to twenty; NaN where it has none."""
    words = re.findall(r"\d+(?:\.\d+)?|[a-z]+", text.lower())
    numbers = [
        _NUMBERS[word] if word in _NUMBERS else float(word) for word in words if word in _NUMBERS or word[0] < "a"
    ]
    return max(numbers, default=np.nan)


def _classifier(found: Sequence[_Contrast]) -> Probe:
    """Logistic regression on words and pairs of neighbours; none judged by a model that saw its picture's texts."""
    name, n = "text classifier", len(found)
    groups = len({contrast.group for contrast in found})
    if find_spec("sklearn") is None:
        return Probe(name=name, value=None, n=n, note="not run: it needs scikit-learn (pip install scikit-learn)")
    if groups < FOLDS:
        return Probe(name=name, value=None, n=n, note=f"not run: it needs {FOLDS} pictures, and there are {groups}")
    scores = out_of_fold(*_sides(found), [contrast.group for contrast in found])
    return Probe(name=name, value=_ranked(scores[:n], scores[n:]), n=n, note=f"{FOLDS}-fold, by picture")


def _question_probes(cases: Sequence[Case]) -> tuple[Probe, ...]:
    asked = [
        ([_plain(choice) for choice in request.choices], _plain(str(truth)))
        for case in cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if isinstance(request, Ask)
    ]
    if not asked:
        return ()
    counts = Counter(truth for _, truth in asked)
    return (
        _answering("always yes", ["yes" if "yes" in (choices or counts) else None for choices, _ in asked], asked),
        _answering("first choice", [choices[0] if choices else None for choices, _ in asked], asked),
        _answering("last choice", [choices[-1] if choices else None for choices, _ in asked], asked),
        _answering("most common answer", [_commonest(choices, counts) for choices, _ in asked], asked),
    )


def _answering(name: str, answers: Sequence[str | None], asked: Sequence[tuple[list[str], str]]) -> Probe:
    """The share of right answers; a question that the rule does not fit is a miss."""
    n = len(asked)
    if all(answer is None for answer in answers):
        return Probe(name=name, value=None, n=n, note="not run: no question offers such an answer")
    right = sum(answer == truth for answer, (_, truth) in zip(answers, asked, strict=True))
    return Probe(name=name, value=right / n, n=n)


def _commonest(choices: Sequence[str], counts: Counter[str]) -> str:
    """Of the choices, that which is right most often in the table; where none are offered, of all answers."""
    return max(choices or sorted(counts), key=lambda choice: counts[choice])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
