"""Flaws of a benchmark's data, found in the tasks alone, without a model and without images.

Each check finds something in the published benchmarks: captions that equal their foil (VALSE, VL-CheckList), foils that
the benchmark itself calls true of the image (VL-CheckList), duplicates, stray blanks, foils that are a different text
instead of a changed caption, pairs of questions that are the same question (CARETS), and truths that alternate from
line to line (POPE).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from vlgate.metrics.clusters import case_clusters, image_keys, photograph
from vlgate.metrics.shapes import contrasts
from vlgate.types import Ask, Case, Match, Request, Shape, Task, text_of

EXAMPLES = 3
_FEWEST = 20
"""The cases of a task whose truths may be called alternating, or whose images joined."""
UNBALANCED = "-unbalanced"
"""The end of the id of a task that ``vlgate make --keep-unbalanced`` has made."""
FATAL = ("equal texts", "true foil", "two answers", "answer not offered")
"""The flaws with which no model can be right in every case."""

_Contrast = tuple[int, str, str, str]
"""The position of a case, the key of an image, a text that is true of the image and one that is false."""
_Positions = Iterator[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    name: str
    count: int
    examples: tuple[str, ...]
    why: str


def examine(task: Task, elsewhere: Collection[tuple[str, str]] = frozenset()) -> tuple[Flaw, ...]:
    """Look for flaws in a task; ``elsewhere`` holds the ``true_texts`` of other tasks."""
    # A case counts once for each flaw; a case whose texts are equal does not also count as a true foil.
    pairs = list(_contrasts(task))
    here = {(key, true) for _, key, true, _ in pairs}
    beyond = [pair for pair in pairs if (pair[1], pair[3]) not in here] if elsewhere else []
    equal = (position for position, _, true, false in pairs if _alike(true, false))
    checks: tuple[tuple[str, _Positions, str], ...] = (
        ("equal texts", equal, "a caption equals its foil: no model can be right"),
        ("true foil", _foils_in(here, pairs), "the task has the foil as a caption of its image"),
        ("true foil elsewhere", _foils_in(elsewhere, beyond), "another task has the foil as a caption of its image"),
        ("unrelated foil", _unrelated(pairs), "it shares no word with its caption of 3 words or more"),
        ("same question", _same_question(task), "the original and the perturbed question are the same"),
        ("two answers", _two_answers(task), "the task also gives the question another right answer"),
        ("answer not offered", _not_offered(task), "the right answer is not among the choices"),
        (
            "choices alike",
            _alike_choices(task),
            "two choices are the same words: only a reply to the letter tells them",
        ),
        ("duplicate", _duplicates(task), "an earlier case asks the same of the same image"),
        ("stray blanks", _blanks(task), "a text begins or ends with a blank, or holds two in a row"),
        (
            "joined images",
            _joined(task),
            "images that cases share join more than half of the cases: the intervals count them as one image",
        ),
        ("alternating truths", _alternating(task), "every other case in the file is true: its order tells it"),
        (
            "not balanced",
            iter(range(len(task.cases) if task.id.endswith(UNBALANCED) else 0)),
            "made with --keep-unbalanced: compare versions of a model on it, and gate on none",
        ),
    )
    flaws = []
    for name, positions, why in checks:
        if rows := list(dict.fromkeys(positions)):
            examples = tuple(task.cases[row].id for row in rows[:EXAMPLES])
            flaws.append(Flaw(name=name, count=len(rows), examples=examples, why=why))
    return tuple(flaws)


def _same_question(task: Task) -> _Positions:
    for position, case in enumerate(task.cases):
        match case.requests:
            case (Ask() as one, Ask() as other) if (one.image.key, one.question) == (other.image.key, other.question):
                yield position


def true_texts(tasks: Iterable[Task]) -> set[tuple[str, str]]:
    return {(key, true) for task in tasks for _, key, true, _ in _contrasts(task)}


def text_pairs(cases: Sequence[Case], shape: Shape) -> Iterator[tuple[int, int, Match, Match]]:
    for position, case in enumerate(cases):
        for right, wrong in contrasts(case, shape):
            true, false = case.requests[right], case.requests[wrong]
            if isinstance(true, Match) and isinstance(false, Match):
                yield position, right, true, false


def _contrasts(task: Task) -> Iterator[_Contrast]:
    for position, _, true, false in text_pairs(task.cases, task.shape):
        yield position, true.image.key, true.text, false.text


def _alike(text: str, other: str) -> bool:
    return text == other or normalize("NFC", text) == normalize("NFC", other)


def _foils_in(known: Collection[tuple[str, str]], found: Iterable[_Contrast]) -> _Positions:
    return (position for position, key, true, false in found if (key, false) in known and not _alike(true, false))


def _unrelated(found: Iterable[_Contrast]) -> _Positions:
    """Find bare nouns as in VL-CheckList, "bicycle ON sidewalk" and " frying pan": about half of its vg_obj foils."""
    for position, _, true, false in found:
        words = true.lower().split()
        if len(words) < 3 or not set(words).isdisjoint(false.lower().split()):
            continue
        if set(re.findall(r"\w+", true.lower())).isdisjoint(re.findall(r"\w+", false.lower())):
            yield position


def _two_answers(task: Task) -> _Positions:
    known: dict[tuple[str, ...], str] = {}
    for position, case in enumerate(task.cases):
        for request, truth in zip(case.requests, case.truths, strict=True):
            if isinstance(request, Ask):
                answer = str(truth).strip().casefold()
                if known.setdefault(_asked(request), answer) != answer:
                    yield position


def _not_offered(task: Task) -> _Positions:
    for position, case in enumerate(task.cases):
        for request, truth in zip(case.requests, case.truths, strict=True):
            if isinstance(request, Ask) and request.choices:
                offered = {choice.strip().casefold() for choice in request.choices}
                if str(truth).strip().casefold() not in offered:
                    yield position


def _alike_choices(task: Task) -> _Positions:
    for position, case in enumerate(task.cases):
        if any(isinstance(one, Ask) and one.choices and _same_words(one.choices) for one in case.requests):
            yield position


@lru_cache(maxsize=4096)
def _same_words(choices: tuple[str, ...]) -> bool:
    from vlgate.judging.answers import told_apart_by_the_letter  # many patterns, which texts without choices need not

    return bool(told_apart_by_the_letter(choices))


def _duplicates(task: Task) -> _Positions:
    seen: set[tuple[tuple[str, ...], ...]] = set()
    for position, case in enumerate(task.cases):
        asked = tuple(map(_asked, case.requests))
        if asked in seen:
            yield position
        seen.add(asked)


def _blanks(task: Task) -> _Positions:
    for position, case in enumerate(task.cases):
        for request in case.requests:
            text = text_of(request)
            if text != text.strip() or "  " in text:
                yield position


def _joined(task: Task) -> _Positions:
    """The cases of a group of images, connected by other cases, that holds more than half of a task."""
    if len(task.cases) < _FEWEST:
        return iter(())
    groups = case_clusters(task.cases)
    largest, count = Counter(groups).most_common(1)[0]
    rows = [row for row, group in enumerate(groups) if group == largest]
    photographs = {photograph(key) for row in rows for key in image_keys(task.cases[row])}
    return iter(rows if 2 * count > len(task.cases) and len(photographs) > 1 else ())


def _alternating(task: Task) -> _Positions:
    # By chance, fewer than one task in 500,000 of ``_FEWEST`` cases is like that.
    if task.shape != "single" or len(task.cases) < _FEWEST:
        return iter(())
    numbered = all(case.id.isdecimal() for case in task.cases)
    places = [int(case.id) if numbered else index for index, case in enumerate(task.cases)]
    truths: tuple[set[bool | str], set[bool | str]] = set(), set()
    for place, case in zip(places, task.cases, strict=True):
        truths[place % 2].update(case.truths)
    told = len(truths[0]) == len(truths[1]) == 1 and truths[0] != truths[1]
    return iter(range(len(places))) if told else iter(())


def _asked(request: Request) -> tuple[str, ...]:
    if isinstance(request, Match):
        return request.image.key, request.text
    if isinstance(request, Ask):
        return (request.image.key, request.question, *sorted(request.choices))
    return (text_of(request),)
