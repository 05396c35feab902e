"""Before a model's figures count: is its score the right way round?

A model whose match index is reversed (LXMERT's is 1, VOLTA's 0) scores 15 % where it is worth 85 %, and nothing in
a table of figures says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from math import comb

import numpy as np

from vlgate.checks import Check, CheckOutcome
from vlgate.types import Match, Predictor, Table

CAPTIONS = 64
SIGNIFICANT = 0.001
_TRIED = 8 * CAPTIONS  # captions that are asked at most where pictures are missing
_NEIGHBOURS = 16  # of so many captions that with the fewest words in common is taken


def check_polarity(model: Predictor, tables: Sequence[Table], seed: int) -> Check:
    """Whether true texts score above texts that are true of another picture.

    Two captions a and b of pictures A and B with few words in common give two comparisons: A with a against A with b,
    and B with b against B with a. A model that looks at one side only, the text or the picture, gets exactly half of
    them, whatever its preferences. ``CAPTIONS`` captions are asked, which the run asks anyway, and as many exchanged
    ones; more of the former where pictures are missing. Ties and comparisons without a reply are left out.

    Args:
        model: to ask; what it raises passes through.
        tables: of the run.
        seed: draws the captions.

    Returns: ``suspect`` where true texts score above the others in less than half of the comparisons, and by more
        than chance (exact two-sided binomial test, p < ``SIGNIFICANT``); ``not applicable`` where the comparisons are
        too few for that, whatever they say; else ``ok``, also for a model at chance, of which it says so.
    """
    true, problem = _scored(model, tables, seed)
    couples = [tuple(couple) for couple in _couples(list(true), _known(tables, true))]
    exchanged = [
        (own, Match(picture=own.picture, text=other.text)) for a, b in couples for own, other in ((a, b), (b, a))
    ]
    replies = model.predict([request for _, request in exchanged])
    problem = next((reply.problem for reply in replies.values() if reply.problem), problem)
    scores = [(true[own], replies[request].score) for own, request in exchanged]
    differences = [right - wrong for right, wrong in scores if wrong is not None]
    if two_sided(0, len(differences)) >= SIGNIFICANT:
        why = f"{len(differences)} comparisons are too few to tell a reversed score from bad luck"
        why = f"{why}; some requests have no reply: {problem}" if problem else why
        return Check(name="polarity", outcome="not applicable", why=why, n=len(differences))
    return _polarity(differences)


def two_sided(successes: int, n: int) -> float:
    """The probability that n fair coins fall at least as far from one half, exactly.

    >>> two_sided(0, 10) == 2 / 2**10
    True
    """
    few = min(successes, n - successes)
    return min(1.0, 2 * sum(comb(n, k) for k in range(few + 1)) / (1 << n))


def _polarity(differences: Sequence[float]) -> Check:
    above, n = sum(d > 0 for d in differences), sum(d != 0 for d in differences)
    ties = f", {len(differences) - n} ties left out" if n < len(differences) else ""
    found = f"{above} of {n} true texts score above a text of another picture{ties}"
    outcome: CheckOutcome = "ok"
    if two_sided(above, n) >= SIGNIFICANT:
        why = f"{found}: no sign of reversal, and none of seeing: chance gives as much"
    elif 2 * above > n:
        why = f"{found}: higher scores mean a better fit"
    else:
        outcome = "suspect"
        why = f"{found}: the match index is probably reversed; take the other one, or minus the score"
    return Check(name="polarity", outcome=outcome, why=why, n=n, share=above / n if n else None)


def _scored(model: Predictor, tables: Sequence[Table], seed: int) -> tuple[dict[Match, float], str | None]:
    """Captions of as many pictures, with their scores; and why one has none."""
    found: dict[Match, float] = {}
    problem = None
    drawn = _drawn(tables, seed)
    for start in range(0, len(drawn), CAPTIONS):
        for request, reply in model.predict(drawn[start : start + CAPTIONS]).items():
            problem = problem or reply.problem
            if isinstance(request, Match) and reply.score is not None and len(found) < CAPTIONS:
                found[request] = reply.score
        if len(found) == CAPTIONS:
            break
    return found, problem


def _drawn(tables: Sequence[Table], seed: int) -> list[Match]:
    """True texts in a random order, each of a picture of its own; each table has its turn, whatever its size."""
    random = np.random.default_rng(int.from_bytes(sha256(f"{seed}:polarity".encode()).digest()[:8], "big"))
    by_picture: dict[str, Match] = {}
    for table in sorted(tables, key=lambda table: table.id):
        size = len(table.cases)
        for place in random.choice(size, size=min(size, _TRIED), replace=False).tolist() if size else ():
            case = table.cases[place]
            for request, truth in zip(case.requests, case.truths, strict=True):
                if truth is True and isinstance(request, Match):
                    by_picture.setdefault(request.picture.key, request)
    keys = random.permutation(sorted(by_picture))[:_TRIED]
    return [by_picture[key] for key in keys.tolist()]


def _known(tables: Sequence[Table], drawn: Mapping[Match, float]) -> set[tuple[str, str]]:
    """All texts that are true of the drawn pictures, by the pictures' keys."""
    keys = {request.picture.key for request in drawn}
    return {
        (request.picture.key, request.text)
        for table in tables
        for case in table.cases
        for request, truth in zip(case.requests, case.truths, strict=True)
        if truth is True and isinstance(request, Match) and request.picture.key in keys
    }


def _couples(left: list[Match], known: set[tuple[str, str]]) -> Iterator[tuple[Match, Match]]:
    """Captions two by two, each used once at most, neither true of the other's picture."""
    while len(left) > 1:
        first = left.pop()
        near = [
            other
            for other in left[-_NEIGHBOURS:]
            if not known & {(first.picture.key, other.text), (other.picture.key, first.text)}
        ]
        if near:
            second = min(near, key=lambda other: _overlap(first.text, other.text))
            left.remove(second)
            yield first, second


def _overlap(text: str, other: str) -> float:
    words, others = (set(re.findall(r"\w+", one.lower())) for one in (text, other))
    return len(words & others) / max(1, len(words | others))
