"""Check that a higher score of a model means a better fit.

If the match index is reversed (LXMERT's is 1, VOLTA's 0), a model that is right in 85 % of cases seems to be right in
15 %, and the figures alone do not show why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import comb

from vlgate.asking.checks.check import Check, CheckOutcome
from vlgate.asking.items import images_of_case
from vlgate.seeds import generator
from vlgate.types import Match, Prediction, Predictor, Request, Task

CAPTIONS = 64
SIGNIFICANT = 0.001
_TRIED = 8 * CAPTIONS  # the most captions that are asked if images are missing
_NEIGHBOURS = 16  # captions among which the one with the fewest words in common is chosen
_WORD = re.compile(r"\w+")


def check_polarity(model: Predictor, tasks: Sequence[Task], seed: int) -> Check:
    """Whether true texts score above texts that are true of another image."""
    # Two captions a and b of images A and B with few words in common give two comparisons: (A, a) with (A, b), and (B,
    # b) with (B, a). A model that uses the text only, or the image only, wins exactly half of them. ``CAPTIONS``
    # captions are asked, which the run asks anyway, and as many exchanged ones; more if replies are missing. Ties and
    # comparisons without a reply are left out.
    # Returns: ``suspect`` if true texts win significantly less than half of the comparisons (exact two-sided binomial
    # test, p < ``SIGNIFICANT``); otherwise ``ok``, also for a model at chance.
    true, replies, problem = _scored(model, tasks, seed)
    exchanged = _exchanged(list(true), tasks)
    missing = [request for _, request in exchanged if request not in replies]
    replies |= model.predict(missing) if missing else {}
    problem = next((replies[request].problem for _, request in exchanged if replies[request].problem), problem)
    scores = [(true[own], replies[request].score) for own, request in exchanged]
    differences = [right - wrong for right, wrong in scores if wrong is not None]
    if two_sided(0, len(differences)) >= SIGNIFICANT:
        why = f"{len(differences)} comparisons are too few to tell a reversed score from chance"
        why = f"{why}; some requests have no reply: {problem}" if problem else why
        return Check(name="polarity", outcome="not applicable", why=why, n=len(differences))
    above, n = sum(d > 0 for d in differences), sum(d != 0 for d in differences)
    ties = f", {len(differences) - n} ties left out" if n < len(differences) else ""
    why = f"{above} of {n} true texts score above a text of another image{ties}"
    outcome: CheckOutcome = "ok"
    if two_sided(above, n) >= SIGNIFICANT:
        why = f"{why}: no better and no worse than chance, so there is no sign of a reversed score"
    elif 2 * above > n:
        why = f"{why}: higher scores mean a better fit"
    else:
        outcome = "suspect"
        why = f"{why}: the match index is probably reversed; use the other index, or return minus the score"
    return Check(name="polarity", outcome=outcome, why=why, n=n, share=above / n if n else None)


def two_sided(successes: int, n: int) -> float:
    """The exact probability that the number of heads of n fair coins is at least as far from n/2 as ``successes``."""
    few = min(successes, n - successes)
    return min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / (1 << n))


def _scored(
    model: Predictor, tasks: Sequence[Task], seed: int
) -> tuple[dict[Match, float], dict[Request, Prediction], str | None]:
    """Up to ``CAPTIONS`` captions of different images with their scores, all replies, and why one has no score."""
    found: dict[Match, float] = {}
    replies: dict[Request, Prediction] = {}
    drawn = _drawn(tasks, seed)
    for start in range(0, len(drawn), CAPTIONS):
        captions = drawn[start : start + CAPTIONS]
        # the first captions are asked with the exchanged ones, which need no further images and texts to be encoded
        exchanged = [] if start else [request for _, request in _exchanged(list(captions), tasks)]
        replies |= model.predict([*captions, *exchanged])
        for caption in captions:
            score = replies[caption].score
            if score is not None and len(found) < CAPTIONS:
                found[caption] = score
        if len(found) == CAPTIONS:
            break
    return found, replies, next((reply.problem for reply in replies.values() if reply.problem), None)


def _exchanged(captions: list[Match], tasks: Sequence[Task]) -> list[tuple[Match, Match]]:
    keys = {request.image.key for request in captions}
    known = {
        (request.image.key, request.text)
        for task in tasks
        for case in task.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if truth is True and isinstance(request, Match) and request.image.key in keys
    }
    couples = list(_couples(captions, known))
    return [(own, Match(image=own.image, text=other.text)) for a, b in couples for own, other in ((a, b), (b, a))]


def _drawn(tasks: Sequence[Task], seed: int) -> list[Match]:
    """True texts in a random order, one per image; large tasks do not displace small ones."""
    random = generator(f"{seed}:polarity")
    by_image: dict[str, Match] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        # A replay needs no images: if none is there, every case counts.
        there = (case for case in task.cases if all(image.is_there for image in images_of_case(case)))
        cases = list(there) or task.cases
        size = len(cases)
        for place in random.choice(size, size=min(size, _TRIED), replace=False).tolist() if size else ():
            case = cases[place]
            for request, truth in zip(case.requests, case.truths, strict=True):
                if truth is True and isinstance(request, Match):
                    by_image.setdefault(request.image.key, request)
    keys = random.permutation(sorted(by_image))[:_TRIED]
    return [by_image[key] for key in keys.tolist()]


def _couples(left: list[Match], known: set[tuple[str, str]]) -> Iterator[tuple[Match, Match]]:
    """Couples of captions, each used at most once, such that neither is true of the other's image."""
    while len(left) > 1:
        first = left.pop()
        near = [
            other
            for other in left[-_NEIGHBOURS:]
            if not known & {(first.image.key, other.text), (other.image.key, first.text)}
        ]
        if near:
            words = set(_WORD.findall(first.text.lower()))
            second = min(near, key=lambda other: _overlap(words, set(_WORD.findall(other.text.lower()))))
            left.remove(second)
            yield first, second


def _overlap(words: set[str], others: set[str]) -> float:
    return len(words & others) / max(1, len(words | others))
