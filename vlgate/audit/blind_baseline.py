"""Shortcuts: how many cases of a task are solved by rules and a classifier that use the texts only.

"The shorter text is right" reaches 99 % on SugarCrepe's add_obj, "the larger number is right" 100 % on VALSE's
adversarial counting. A model's score on such a task does not show that the model uses the image.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vlgate.metrics.shapes import contrasts
from vlgate.metrics.stats import wilson
from vlgate.metrics.text_learning import (
    FOLDS,
    RULES,
    by_rules,
    features,
    likeness,
    log_odds,
    several,
    stratified_folds,
    tied_images,
)
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.seeds import generator
from vlgate.types import Ask, Case, FloatArray, Match, Shape, Task, text_of

SOLVED = 0.75
"""Half-way from chance to certainty: a probe above it is right in half of the cases that chance gets wrong."""

_TWO = 2
_NUMBERS = {word: float(number) for number, word in enumerate(NUMBER_WORDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """The share of ``n`` comparisons that a text-only rule gets right; None if it could not be run (see ``note``).

    ``chance`` is set for a rule that is learnt: a value below it is an accident of training, while the opposite of a
    fixed rule is a rule, too.
    """

    name: str
    value: float | None
    n: int
    note: str = ""
    chance: float | None = None

    @property
    def shown(self) -> float | None:
        """The value for reports: at least chance for a rule that is learnt, which can also guess."""
        return self.value if self.value is None or self.chance is None else max(self.value, self.chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contrast:
    """A true and a false text of one image; cases with a common image have the same ``group``."""

    group: str
    image: str
    case: str
    true: str
    false: str


def probe(task: Task, limit: int = 20_000) -> tuple[Probe, ...]:
    """Try the shortcuts on a task.

    For texts, ``value`` is the share of pairs (true text, false text of the same image) that the rule ranks correctly.
    A tie counts 1/2, unlike in ``acc_r``: so a rule without any preference has the value 0.5, and "longer" and
    "shorter" add up to 1. In a quad each text is true once and false once, so every rule has the value 0.5. For
    questions, ``value`` is the share of correct answers. The texts of single statements and questions are compared with
    one another: the true ones, or those whose answer is yes, with the others.

    At most ``limit`` cases are tried; the draw depends on the id of the task only.

    Returns: the probes, the same ones for every task of a shape; a probe that could not be run has no value and says
        why. Empty for a task without images.
    """
    cases = _drawn(task, limit)
    if task.shape == "single":
        return _single_probes(cases) if cases else ()
    if any(isinstance(request, Ask) for case in cases[:1] for request in case.requests):
        return _question_probes(cases)
    groups = tied_images(cases)
    found = [contrast for case in cases for contrast in _contrasts(case, task.shape, groups)]
    if not found:
        return ()
    *fixed, learnt = _text_probes(found, stratified_folds(cases))
    return (*fixed, *_comparing_probes(found), learnt)


def solved(probes: Sequence[Probe], threshold: float = SOLVED) -> Probe | None:
    """Return the probe that solves a task, None if none does; a score on such a task does not show that a model sees.

    A probe solves a task if the lower end of its Wilson interval is above ``threshold``. The confidence is 95 % for all
    probes together (Bonferroni), because the best of several probes is taken.

    >>> solved([Probe(name="shorter text", value=0.98, n=2062)]).name
    'shorter text'
    """
    run = [one for one in probes if one.value is not None and one.n > 0]
    best = max(run, key=lambda one: one.value or 0.0, default=None)
    if best is None or best.value is None:
        return None
    low, _ = wilson(best.value, best.n, 1 - 0.05 / len(run))
    return best if low > threshold else None


def _drawn(task: Task, limit: int) -> Sequence[Case]:
    if len(task.cases) <= limit:
        return task.cases
    random = generator(f"probes:{task.id}")
    return [task.cases[place] for place in np.sort(random.choice(len(task.cases), size=limit, replace=False))]


def _contrasts(case: Case, shape: Shape, groups: Mapping[str, str]) -> list[_Contrast]:
    found = []
    for right, wrong in contrasts(case, shape):
        true, false = case.requests[right], case.requests[wrong]
        if isinstance(true, Match) and isinstance(false, Match):
            found.append(
                _Contrast(
                    group=groups[true.image.key],
                    image=true.image.key,
                    case=case.id,
                    true=true.text,
                    false=false.text,
                )
            )
    return found


def _text_probes(found: Sequence[_Contrast], folds: Mapping[str, int]) -> tuple[Probe, ...]:
    n = len(found)
    longer = _share(found, lambda text: float(len(text)))
    larger = _share(found, _number)
    return (
        Probe(name="constant", value=0.5, n=n, note="all comparisons are ties"),
        Probe(name="longer text", value=longer, n=n, note="by characters"),
        Probe(name="shorter text", value=1 - longer, n=n, note="by characters"),
        Probe(name="larger number", value=larger, n=n, note="a tie if a text has no number"),
        Probe(name="smaller number", value=1 - larger, n=n, note="a tie if a text has no number"),
        _classifier(found, folds),
    )


def _comparing_probes(found: Sequence[_Contrast]) -> Iterator[Probe]:
    """Rules that compare a text with the others about its image; none if no image has more than two texts."""
    texts = [text for some in _sides(found) for text in some]
    images = [contrast.image for contrast in found] * 2
    n, cases = len(found), [(contrast.image, contrast.case) for contrast in found] * 2
    for groups, which in ((cases, "of its case"), (images, "about its image")):
        more = several(texts, groups)
        if not more.any():
            continue
        values = np.where(more[:, None], by_rules(texts, groups), 0.0)
        for place, name in enumerate(RULES):
            if name not in {"longest", "shortest"}:
                yield Probe(name=f"{name}, {which}", value=_ranked(values[:n, place], values[n:, place]), n=n)
        if len(set(cases)) == len(set(images)):
            return


def _share(found: Sequence[_Contrast], measure: Callable[[str], float]) -> float:
    true, false = (np.array([measure(text) for text in texts]) for texts in _sides(found))
    return _ranked(true, false)


def _ranked(true: FloatArray, false: FloatArray) -> float:
    """The share of true texts above false ones; a tie, and a comparison with NaN, counts 1/2."""
    return float(np.mean(0.5 + (true > false) / 2 - (true < false) / 2))


def _sides(found: Sequence[_Contrast]) -> tuple[list[str], list[str]]:
    return [contrast.true for contrast in found], [contrast.false for contrast in found]


def _number(text: str) -> float:
    """The largest number of a text, in digits or in words up to twenty; NaN if it has none."""
    words = re.findall(r"\d+(?:\.\d+)?|[a-z]+", text.lower())
    numbers = [
        _NUMBERS[word] if word in _NUMBERS else float(word) for word in words if word in _NUMBERS or word[0] < "a"
    ]
    return max(numbers, default=np.nan)


def _classifier(found: Sequence[_Contrast], folds: Mapping[str, int]) -> Probe:
    """Naive Bayes on words and pairs of neighbours, cross-validated: the texts of an image are all in one fold."""
    name, n = "text classifier", len(found)
    groups = {contrast.group for contrast in found}
    if len(groups) < FOLDS:
        return Probe(name=name, value=None, n=n, note=f"not run: it needs {FOLDS} images, and there are {len(groups)}")
    true, false = _sides(found)
    places = np.array([folds[contrast.image] for contrast in found] * 2)
    truths = np.repeat([True, False], n)
    scores = log_odds(features([*true, *false]), np.arange(2 * n), truths, places)
    return Probe(name=name, value=_ranked(scores[:n], scores[n:]), n=n, note=f"{FOLDS}-fold, by image", chance=0.5)


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
        _answering("longest choice", [_by_length(choices, max) for choices, _ in asked], asked),
        _answering("shortest choice", [_by_length(choices, min) for choices, _ in asked], asked),
        *_comparing_choices(asked),
        _answering("most common answer", [_commonest(choices, counts) for choices, _ in asked], asked),
    )


def _by_length(choices: Sequence[str], which: Callable[[Sequence[int]], int]) -> str | None:
    """The only choice of the largest or smallest length; None for yes and no, whose lengths tell nothing new."""
    lengths = [len(choice) for choice in choices]
    if not lengths or set(choices) == {"yes", "no"} or lengths.count(which(lengths)) > 1:
        return None
    return choices[lengths.index(which(lengths))]


def _comparing_choices(asked: Sequence[tuple[list[str], str]]) -> Iterator[Probe]:
    """Rules that compare the choices of a question with one another; none if no question has more than two."""
    if any(len(choices) > _TWO for choices, _ in asked):
        for name, sign in (("choice most like the others", 1), ("choice least like the others", -1)):
            yield _answering(name, [_by_likeness(choices, sign) for choices, _ in asked], asked)


def _by_likeness(choices: Sequence[str], sign: int) -> str | None:
    """The only choice that is most or least like the others; None for fewer than three.

    Words in common decide, then, among equals, the number of words that differ, then letters in common.
    """
    if len(choices) <= _TWO:
        return None
    values = [tuple(row) for row in (sign * likeness(choices)[:, :3]).tolist()]
    return choices[values.index(max(values))] if values.count(max(values)) == 1 else None


def _single_probes(cases: Sequence[Case]) -> tuple[Probe, ...]:
    """Rules for single questions and statements: what answering all alike reaches, and what their lengths tell."""
    said = [(_text(case), case.truths[0] is True or _plain(str(case.truths[0])) == "yes") for case in cases]
    true, false = (np.array([float(len(text)) for text, truth in said if truth is wanted]) for wanted in (True, False))
    alike = (
        Probe(name="always yes", value=true.size / len(said), n=len(said)),
        Probe(name="always no", value=false.size / len(said), n=len(said)),
    )
    fewer = int(min(true.size, false.size))
    if not fewer:
        names = ("longer text", "shorter text")
        return (*alike, *(Probe(name=name, value=None, n=0, note="not run: all truths are the same") for name in names))
    low, high = np.searchsorted(np.sort(false), true, "left"), np.searchsorted(np.sort(false), true, "right")
    longer = float((low + high).mean() / (2 * false.size))
    note = "by characters: how often a true one is above a false one"
    return (
        *alike,
        Probe(name="longer text", value=longer, n=fewer, note=note),
        Probe(name="shorter text", value=1 - longer, n=fewer, note=note),
    )


def _text(case: Case) -> str:
    [request] = case.requests
    return text_of(request)


def _answering(name: str, answers: Sequence[str | None], asked: Sequence[tuple[list[str], str]]) -> Probe:
    """The share of right answers; a question that the rule does not apply to is a miss."""
    n = len(asked)
    if all(answer is None for answer in answers):
        return Probe(name=name, value=None, n=n, note="not run: no question offers such an answer")
    right = sum(answer == truth for answer, (_, truth) in zip(answers, asked, strict=True))
    return Probe(name=name, value=right / n, n=n)


def _commonest(choices: Sequence[str], counts: Counter[str]) -> str:
    """The choice that is right most often in the task; if there are no choices, the most frequent answer."""
    return max(choices or sorted(counts), key=lambda choice: counts[choice])


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
