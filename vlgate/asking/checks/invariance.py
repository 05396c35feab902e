"""Check that a model replies the same when it is asked again, and in another batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal

import numpy as np

from vlgate.asking.checks.check import ROUNDING, Check, Replies, compare, together
from vlgate.asking.items import images_of_case, saying
from vlgate.errors import described
from vlgate.seeds import generator
from vlgate.types import Case, LazyImage, Prediction, Predictor, Request, images_of, text_of, with_images

if TYPE_CHECKING:
    from PIL.Image import Image


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
    """The same request about images under names that have nothing in common with the old ones."""

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


def asked_as(
    model: Predictor, requests: Sequence[Request], change: Callable[[Request], Request]
) -> dict[Request, Prediction]:
    """Ask a model changed requests together; the predictions are by the requests as they were."""
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
    """The near-copies of requests: which of them has which turn is drawn for each image and for each text."""

    def __init__(self, requests: Sequence[Request], anew: Anew) -> None:
        self._anew: Anew = anew
        self._texts = {request: _drawn("text", index) for index, request in enumerate(requests)}
        images = dict.fromkeys(image for request in requests for image in images_of(request))
        self._images = {
            image: [2 * _ALONE * index + number for number in _drawn("image", index)]
            for index, image in enumerate(images)
        }

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


def _drawn(of: str, place: int) -> list[int]:
    drawn: list[int] = generator(f"near-copies:{of}:{place}").permutation(2 * _ALONE).tolist()
    return drawn


def _twos(cases: Sequence[Case]) -> list[tuple[list[Request], list[Request]]]:
    """Two cases about different images of each kind and number of requests."""
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
    """Whether replies change when the first ``REQUESTS`` distinct requests are asked again, in the same order."""
    # The model must not cache its replies. ``cases`` are those of the requests, to count the verdicts that rounding
    # could change; ``first`` is the round of ``together``, if the model was asked it already. With ``anew`` "all",
    # images get other names in the second round.
    first = together(model, requests) if first is None else first
    rounds = (first, asked_as(model, list(first), renamed) if anew == "all" else model.predict(list(first)))
    advice = "switch off dropout and sampling, keep nothing between two calls, and use no names of images"
    return compare("determinism", rounds, ("twice in the same order", advice), tolerance, cases)


_ADVICE = "check that the model is in evaluation mode and masks its padding"


def check_batch_invariance(
    model: Predictor,
    requests: Sequence[Request],
    tolerance: float = ROUNDING["float32"],
    cases: Sequence[Case] = (),
    first: Replies | None = None,
    anew: Anew = "",
) -> Check:
    """Whether replies depend on what else is asked in the same batch: every verdict then depends on it, too."""
    # The first ``REQUESTS`` distinct requests are asked three times: together; together in reverse order, with all
    # other requests behind them, which fill a call as the run fills it; and one at a time. ``anew`` is what of a
    # request the model has no memory of: images get other names in the third round ("all"), and near-copies are asked
    # alone and in a group (see ``company``). The rest is as in ``check_determinism``; the model must not change the
    # order of requests.
    first = together(model, requests) if first is None else first
    asked = list(first)
    others = [request for request in dict.fromkeys(requests) if request not in first]
    change: Callable[[Request], Request] = renamed if anew == "all" else lambda request: request
    crowded = model.predict([*asked[::-1], *others])
    alone = {request: asked_as(model, [request], change)[request] for request in asked}
    how = "together, in reverse order and one at a time"
    check = compare("batch_invariance", (first, crowded, alone), (how, _ADVICE), tolerance, cases)
    if not anew or check.outcome != "ok":
        return check
    try:
        hidden = company(model, cases, tolerance, anew)
    except Exception as error:  # noqa: BLE001  # a user's model may know the texts of the run only
        return replace(check, why=f"{check.why}; near-copies could not be asked ({described(error)})")
    return replace(check, outcome="suspect", why=f"{check.why}; {hidden}; {_ADVICE}") if hidden else check
