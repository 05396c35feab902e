"""A candidate as pairs of a true and a false text of one image, and a set of candidates as a task."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.images.files import missing_image
from vlgate.making.kinds.kind import Item
from vlgate.perturb.foils.candidate import Candidate, Foil, SentenceSet
from vlgate.types import Case, Match, Shape, Task


def contrasts(one: Candidate) -> tuple[tuple[str, str], ...]:
    """Return the pairs (true text, false text) of a candidate.

    A set has two, its sentences in their order; a swap has two, one for each image.

    >>> contrasts(Foil(caption="a cup", foil="cups", classes=("cup", "cups"), why=""))
    (('a cup', 'cups'),)
    """
    if isinstance(one, Foil):
        return ((one.caption, one.foil),)
    if isinstance(one, SentenceSet):
        return tuple(zip(one.true, one.false, strict=True))
    return one.captions, (one.captions[1], one.captions[0])


def images(item: Item) -> tuple[str, ...]:
    """Return the names of an item's images: two for a swap, else one."""
    return (item.image,) if isinstance(item.candidate, Foil | SentenceSet) else item.candidate.images


def as_task(items: Sequence[Item], name: str, shape: Shape) -> Task:
    """Return the items as the task of a run, whose images cannot be loaded."""
    cases = tuple(_case(item) for item in items)
    return Task(id=name, capability="foil" if shape == "pair" else "compositional", shape=shape, cases=cases)


def _case(item: Item) -> Case:
    one = item.candidate
    if isinstance(one, Foil):
        texts, truths = (one.caption, one.foil), (True, False)
        requests = tuple(Match(image=missing_image(item.image, ()), text=text) for text in texts)
        return Case(id=item.id, requests=requests, truths=truths)
    if isinstance(one, SentenceSet):
        requests = tuple(Match(image=missing_image(item.image, ()), text=text) for text in (*one.true, *one.false))
        return Case(id=item.id, requests=requests, truths=(True, True, False, False))
    requests = tuple(Match(image=missing_image(name, ()), text=text) for name in one.images for text in one.captions)
    return Case(id=item.id, requests=requests, truths=(True, False, False, True))
