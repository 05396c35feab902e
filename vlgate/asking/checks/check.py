"""Checks of a model by its replies: are they the same again and in another batch, and do higher scores fit better."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from vlgate.asking.items import images_of_case, saying, shows_all
from vlgate.errors import described
from vlgate.seeds import generator
from vlgate.types import Case, LazyImage, Match, Prediction, Predictor, Request, Task, images_of, text_of, with_images

if TYPE_CHECKING:
    from PIL.Image import Image


CheckOutcome = Literal["ok", "suspect", "not applicable", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a check of a model found, with a sentence that says why; ``failed`` means that the check could not run."""

    # ``n`` counts the comparisons. ``share`` is the share of them with the expected result, None if nothing was
    # compared. ``largest`` is the largest difference between two scores of one request, None if it is not measured.

    name: str
    outcome: CheckOutcome
    why: str
    n: int = 0
    share: float | None = None
    largest: float | None = None


REQUESTS = 24
MOST_FAILED = 0.25
"""The largest share of requests that may fail in one of the rounds: with more, a check says nothing of the others."""
ROUNDING = {"float32": 1e-4, "float16": 1e-2, "bfloat16": 5e-2}
"""The largest difference of two scores, relative to the largest score, that rounding explains, by dtype.

float16 and bfloat16 have a relative precision of 1e-3 and 8e-3; a network's rounding errors add up to several times
that. The scores of float32 models differ by 1e-6 to 1e-5 between sizes of batches.
"""

Replies = Mapping[Request, Prediction]
Change = Callable[[Request], Request]


def together(model: Predictor, requests: Sequence[Request]) -> Replies:
    """Ask a model the first ``REQUESTS`` distinct requests together: the first round of several checks."""
    return model.predict(list(dict.fromkeys(requests))[:REQUESTS])


def compare(
    name: str, rounds: Sequence[Replies], sentences: tuple[str, str], tolerance: float, cases: Sequence[Case] = ()
) -> Check:
    # ``sentences`` say how the requests were asked, and what to do if the replies differ by more than ``tolerance``:
    # the largest difference of two scores of one request that rounding explains, relative to the largest score if that
    # is above 1. Requests that failed in a round are left out: a service that is busy is not a model that changes its
    # mind.
    # Returns: ``suspect`` if a score differs by more than the tolerance, if an answer changes, or if a yes or no
    # changes although the score stays the same; also if more than ``MOST_FAILED`` of the requests with a reply have
    # none in another round. ``not applicable`` if no request has a reply.
    asked, advice = sentences
    requests = [request for request in rounds[0] if any(replies[request].problem is None for replies in rounds)]
    if not requests:
        why = ": ".join(filter(None, (f"none of {len(rounds[0])} requests has a reply", _problem(rounds[0], rounds))))
        return Check(name=name, outcome="not applicable", why=why)
    left = [request for request in requests if any(replies[request].problem is not None for replies in rounds)]
    count = f"{len(left)} of {len(requests)} requests have no reply in some of {len(rounds)} rounds"
    failed = f"{count}, so they are not compared: {_problem(left, rounds)}" if left else ""
    if len(left) > MOST_FAILED * len(requests):
        remedy = "see that the model replies to each, and run it again"
        return Check(name=name, outcome="suspect", why=f"requests were asked {asked}; {failed}; {remedy}")
    scores = {request: _scores(request, rounds) for request in requests if request not in left}
    spreads = {request: max(some) - min(some) if some else 0.0 for request, some in scores.items()}
    largest = max(spreads.values())
    allowed = tolerance * max([1.0, *(abs(score) for some in scores.values() for score in some)])
    changed = sum(
        len({(replies[request].answer, replies[request].accepted is None) for replies in rounds}) > 1
        or (_undecided(request, rounds) and not 0 < spread <= allowed)
        for request, spread in spreads.items()
    )
    matches = [request for request in scores if isinstance(request, Match)]
    pairs = [(one, other) for one, other in combinations(matches, 2) if one.image == other.image]
    turned = sum(len({_order(replies[a], replies[b]) for replies in rounds}) > 1 for a, b in pairs)
    suspect = changed > 0 or largest > allowed
    why = (
        f"{len(scores)} requests were asked {asked}: scores differ by at most {largest:.3g}, "
        f"{changed} other replies change, {turned} of {len(pairs)} pairs of scores change their order"
    )
    why = f"{why}; {failed}" if failed else why
    if suspect:
        why = f"{why}; {advice}"
    elif largest:
        whole = [case for case in cases if all(request in spreads for request in case.requests)]
        could = sum(_could_change(case, rounds, largest) for case in whole)
        why = f"{why}; such differences are within rounding, and could change {could} of {len(whole)} verdicts"
    n = len(scores) + len(pairs)
    share = 1 - (changed + turned) / n
    return Check(name=name, outcome="suspect" if suspect else "ok", why=why, n=n, share=share, largest=largest)


def _problem(requests: Iterable[Request], rounds: Sequence[Replies]) -> str:
    return next(filter(None, (replies[request].problem for request in requests for replies in rounds)), "")


def _could_change(case: Case, rounds: Sequence[Replies], largest: float) -> bool:
    scores = [some for request in dict.fromkeys(case.requests) if (some := _scores(request, rounds))]
    gaps = (abs(a - b) for one, other in combinations(scores, 2) for a, b in zip(one, other, strict=False))
    return any(gap <= largest for gap in gaps) or any(_undecided(request, rounds) for request in case.requests)


def _order(reply: Prediction, other: Prediction) -> int | None:
    if reply.score is None or other.score is None:
        return None
    return (reply.score > other.score) - (reply.score < other.score)


def _undecided(request: Request, rounds: Sequence[Replies]) -> bool:
    return len({replies[request].accepted for replies in rounds}) > 1


def _scores(request: Request, rounds: Sequence[Replies]) -> list[float]:
    return [score for replies in rounds if (score := replies[request].score) is not None]


# A model with a memory of its own replies in the checks what it replied in the run, so that its replies seem not to
# depend on the batch. No memory knows a near-copy: an image with one pixel that differs by one level, and a text with
# other marks at its end. Near-copies of one request may get other scores; which of them are asked alone is drawn, so
# that in a model that ignores the batch those that are asked alone stand apart by chance only.

Anew = Literal["", "texts", "all"]
"""What of a request may be new to a model: nothing, the text (a model that knows images by their names), or all."""
_ALONE = 5
"""How many near-copies of a request are asked alone; as many are asked in a group.

By chance, all replies alone are on one side of all in a group with a probability of 2 / 252. That this is so for a
quarter of the requests of each of two cases has one of at most 0.001.
"""
_COPIED = 8  # requests of a case
_GROUP = 24  # requests in a group, as in the other rounds
_ENDS = ("", "m", "mm", " m", "m ", "mmm", " ", " mm", "mm ", "  ", " m ")  # m is the mark at the end of a text


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedLoad:
    """Loads an image with one pixel that differs by one level of 255: the pixel ``place``, counted from the end."""

    image: LazyImage
    place: int

    def __call__(self) -> Image:
        from PIL import Image

        pixels = np.array(self.image.load())
        rows = pixels.reshape(-1, pixels.shape[-1])
        rows[-1 - self.place % len(rows), self.place // len(rows) % rows.shape[1]] ^= 1
        return Image.fromarray(pixels)


def renamed(request: Request) -> Request:
    def other_name(image: LazyImage) -> LazyImage:
        digest = blake2b(image.key.encode(errors="surrogatepass"), digest_size=8).hexdigest()
        return replace(image, key=f"renamed-{digest}")

    return with_images(request, other_name)


def near_copy(request: Request, number: int) -> Request:
    """One of the ten requests whose text differs in the marks at its end.

    >>> from vlgate.types import Read
    >>> near_copy(Read(text="A red cup."), 1).text
    'A red cup..'
    """
    text = text_of(request)
    bare = text.rstrip(" .!?")
    mark = text[-1] if text[-1:] in {"!", "?"} else "."
    other = [copy for end in _ENDS if (copy := bare + end.replace("m", mark)) != text][number]
    return saying(request, other)


def asked_as(model: Predictor, requests: Sequence[Request], change: Change) -> dict[Request, Prediction]:
    copies = {request: change(request) for request in requests}
    replies = model.predict(list(copies.values()))
    return {request: replies[copy] for request, copy in copies.items()}


def company(model: Predictor, cases: Sequence[Case], tolerance: float, anew: Anew) -> str:
    """How the replies to near-copies depend on what is asked beside them; empty if they do not."""
    # The requests of two cases of each kind and number of requests are copied; others fill the groups.
    twos = _twos(cases)
    copied = [request for two in twos for requests in two for request in requests]
    texts = set(map(text_of, copied))
    others = (request for case in cases for request in case.requests if text_of(request) not in texts)
    asked = list(dict.fromkeys((*copied, *others)))[:_GROUP]
    copies = _Copies(asked, anew)
    alone: dict[Request, list[Prediction]] = {one: [] for one in copied}
    grouped: dict[Request, list[Prediction]] = {one: [] for one in copied}
    for turn in range(_ALONE):
        together = {one: copies.of(one, turn) for one in asked}
        replies = model.predict(list(together.values()))
        for one in (one for one in asked if one in alone):
            by_itself = copies.of(one, _ALONE + turn)
            alone[one].append(model.predict([by_itself])[by_itself])
            grouped[one].append(replies[together[one]])
    for two in twos:
        apart = [[one for one in some if _apart(alone[one], grouped[one], tolerance)] for some in two]
        if all(len(found) * 4 >= len(some) for found, some in zip(apart, two, strict=True)):
            return (
                f"{sum(map(len, two))} requests were asked anew in {_ALONE} near-copies alone and {_ALONE} in a group, "
                f"and {sum(map(len, apart))} of them get other replies in a group than alone"
            )
    return ""


class _Copies:
    def __init__(self, requests: Sequence[Request], anew: Anew) -> None:
        self._anew: Anew = anew
        self._texts = {request: _permuted("text", index) for index, request in enumerate(requests)}
        images = dict.fromkeys(image for request in requests for image in images_of(request))
        numbers = ((image, 2 * _ALONE * index, index) for index, image in enumerate(images))
        self._images = {one: [start + n for n in _permuted("image", index)] for one, start, index in numbers}

    def of(self, request: Request, turn: int) -> Request:
        """The copy of a request in one turn; requests about one image keep one image."""
        copy = near_copy(request, self._texts[request][turn])
        if self._anew != "all":
            return copy

        def touched(image: LazyImage) -> LazyImage:
            number = self._images[image][turn]
            load = TouchedLoad(image=image, place=number)
            return LazyImage(key=f"{image.key}#touched-{number}", where=image.where, load=load)

        return with_images(copy, touched)


def _permuted(of: str, place: int) -> list[int]:
    order: list[int] = generator(f"near-copies:{of}:{place}").permutation(2 * _ALONE).tolist()
    return order


def _twos(cases: Sequence[Case]) -> list[tuple[list[Request], list[Request]]]:
    chosen: dict[tuple[type, int], list[Case]] = {}
    for case in cases:
        chosen.setdefault((type(case.requests[0]), len(case.requests)), []).append(case)
    found = []
    for first, *others in chosen.values():
        images = set(images_of_case(first))
        second = next((case for case in others if images.isdisjoint(images_of_case(case))), None)
        if second is not None:
            one, other = (list(dict.fromkeys(case.requests))[:_COPIED] for case in (first, second))
            found.append((one, other))
    return found


def _apart(alone: Sequence[Prediction], grouped: Sequence[Prediction], tolerance: float) -> bool:
    """Whether all replies alone differ from all in a group in one direction, or are the same and other ones."""
    if not alone or any(reply.problem is not None for reply in (*alone, *grouped)):
        return False
    a, b = ([reply.score for reply in some if reply.score is not None] for some in (alone, grouped))
    if a and b:
        allowed = tolerance * max(1.0, *map(abs, (*a, *b)))
        return max(a) + allowed < min(b) or max(b) + allowed < min(a)
    one, other = ({(reply.answer, reply.accepted) for reply in some} for some in (alone, grouped))
    return len(one) == len(other) == 1 and one != other


def check_determinism(
    model: Predictor,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
    anew: Anew = "",
) -> Check:
    # The model must not cache its replies. ``cases`` are those of the requests, to count the verdicts that rounding
    # could change; ``first`` is the round of ``together``, if the model was asked it already. With ``anew`` "all",
    # images get other names in the second round.
    first = together(model, requests) if first is None else first
    rounds = (first, asked_as(model, list(first), renamed) if anew == "all" else model.predict(list(first)))
    advice = "switch off dropout and sampling, keep nothing between two calls, and use no names of images"
    return compare("determinism", rounds, ("twice in the same order", advice), tolerance, cases)


_ADVICE = "check that the model is in evaluation mode and masks its padding"


class AloneOrTogether(Predictor, Protocol):
    """A predictor that can also ask its model each request in a call of its own."""

    def one_at_a_time(self) -> Predictor: ...


def check_batch_invariance(
    model: AloneOrTogether,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
    anew: Anew = "",
) -> Check:
    # The first ``REQUESTS`` distinct requests are asked three times: together; together in reverse order, with all
    # other requests behind them, which fill a call as the run fills it; and one at a time. ``anew`` is what of a
    # request the model has no memory of: images get other names in the third round ("all"), and near-copies are asked
    # alone and in a group (see ``company``). The rest is as in ``check_determinism``; the model must not change the
    # order of requests.
    first = together(model, requests) if first is None else first
    asked = list(first)
    others = [request for request in dict.fromkeys(requests) if request not in first]
    change: Change = renamed if anew == "all" else lambda request: request
    crowded = model.predict([*asked[::-1], *others])
    alone = asked_as(model.one_at_a_time(), asked, change)
    how = "together, in reverse order and one at a time"
    check = compare("batch_invariance", (first, crowded, alone), (how, _ADVICE), tolerance, cases)
    if not anew or check.outcome != "ok":
        return check
    try:
        hidden = company(model, cases, tolerance, anew)
    except Exception as error:  # noqa: BLE001  # a user's model may know the texts of the run only
        return replace(check, why=f"{check.why}; near-copies could not be asked ({described(error)})")
    return replace(check, outcome="suspect", why=f"{check.why}; {hidden}; {_ADVICE}") if hidden else check


# If the match index is reversed (LXMERT's is 1, VOLTA's 0), a model that is right in 85 % of cases seems to be right in
# 15 %, and the figures alone do not show why.

CAPTIONS = 64
SIGNIFICANT = 0.001
_TRIED = 8 * CAPTIONS  # the most captions that are asked if images are missing
_NEIGHBOURS = 16  # captions among which the one with the fewest words in common is chosen
_WORD = re.compile(r"\w+")


def check_polarity(model: Predictor, tasks: Sequence[Task], seed: int) -> Check:
    # Two captions a and b of images A and B with few words in common give two comparisons: (A, a) with (A, b), and (B,
    # b) with (B, a). A model that uses the text only, or the image only, wins exactly half of them. ``CAPTIONS``
    # captions are asked, which the run asks anyway, and as many exchanged ones; more if replies are missing. Ties and
    # comparisons without a reply are left out.
    # Returns: ``suspect`` if true texts win significantly less than half of the comparisons (exact two-sided binomial
    # test, p < ``SIGNIFICANT``); otherwise ``ok``, also for a model at chance.
    drawn = _drawn(tasks, seed)
    known = _true_texts({request.image.key for request in drawn}, tasks)
    true, replies, problem = _scored(model, drawn, known)
    exchanged = _exchanged(list(true), known)
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
    model: Predictor, drawn: Sequence[Match], known: set[tuple[str, str]]
) -> tuple[dict[Match, float], dict[Request, Prediction], str | None]:
    found: dict[Match, float] = {}
    replies: dict[Request, Prediction] = {}
    for start in range(0, len(drawn), CAPTIONS):
        captions = drawn[start : start + CAPTIONS]
        # the first captions are asked with the exchanged ones, which need no further images and texts to be encoded
        exchanged = [] if start else [request for _, request in _exchanged(list(captions), known)]
        replies |= model.predict([*captions, *exchanged])
        for caption in captions:
            score = replies[caption].score
            if score is not None and len(found) < CAPTIONS:
                found[caption] = score
        if len(found) == CAPTIONS:
            break
    return found, replies, next((reply.problem for reply in replies.values() if reply.problem), None)


def _true_texts(keys: set[str], tasks: Sequence[Task]) -> set[tuple[str, str]]:
    return {
        (request.image.key, request.text)
        for task in tasks
        for case in task.cases
        if any(image.key in keys for image in images_of_case(case))
        for request, truth in zip(case.requests, case.truths, strict=True)
        if truth is True and isinstance(request, Match) and request.image.key in keys
    }


def _exchanged(captions: list[Match], known: set[tuple[str, str]]) -> list[tuple[Match, Match]]:
    couples = list(_couples(captions, known))
    return [(own, Match(image=own.image, text=other.text)) for a, b in couples for own, other in ((a, b), (b, a))]


def _drawn(tasks: Sequence[Task], seed: int) -> list[Match]:
    """True texts in a random order, one per image; large tasks do not displace small ones."""
    random = generator(f"{seed}:polarity")
    by_image: dict[str, Match] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        # A replay needs no images: if none is there, every case counts.
        cases = list(filter(shows_all, task.cases)) or task.cases
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
        a, b = first.image.key, first.text
        near = [other for other in left[-_NEIGHBOURS:] if not known & {(a, other.text), (other.image.key, b)}]
        if near:
            words = set(_WORD.findall(first.text.lower()))
            second = min(near, key=lambda other: _overlap(words, set(_WORD.findall(other.text.lower()))))
            left.remove(second)
            yield first, second


def _overlap(words: set[str], others: set[str]) -> float:
    return len(words & others) / max(1, len(words | others))
