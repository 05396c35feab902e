"""Near-copies: cases that ask nearly the same of the same image as a case of another task.

SugarCrepe++ has the captions and foils of SugarCrepe, and POPE's three files of COCO share their questions about the
objects that are there. Results on two such tasks are one piece of evidence. Within a task, copies are cases that ask
the same with other names of images, blanks, letter cases or Unicode forms.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from vlgate import types
from vlgate.asking.dedupe import pixel_digest
from vlgate.audit.flaws import EXAMPLES, Flaw
from vlgate.errors import VlgateError
from vlgate.metrics.shapes import contrasts

NAME = "near-copy"
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("a", "an", "the"))
_SPLIT = re.compile(r"^COCO_(?:train|val|test)\d{4}_")
"""What COCO's images were called in 2014, before the numbers that they have kept."""
_DIGITS = 4  # the fewest digits of an image's number that tells it without its folder
_NAMED = 3
_SIDE, _MEAN, _MOST = 16, 2.0, 12
Cells = NDArray[np.uint8]
_Marks = Sequence[tuple[int, ...]]


def near_copies(tasks: Sequence[types.Task]) -> dict[str, Flaw]:
    # What is compared are a true and a false text of one image, or all questions of a case. Two texts are nearly the
    # same if their words are, in their order, without case, punctuation and articles; two images are the same if they
    # have the same key, or the same number of COCO or Visual Genome, without the folder, the extension and COCO's
    # former prefix.
    marks = [[_marks(case, task.shape) for case in task.cases] for task in tasks]
    seen: dict[int, int] = {}
    for number, of_task in enumerate(marks):
        for mark in chain.from_iterable(of_task):
            seen[mark] = seen.get(mark, 0) | 1 << number
    found = {task.id: _flaw(number, marks[number], tasks, seen) for number, task in enumerate(tasks)}
    return {name: flaw for name, flaw in found.items() if flaw is not None}


def copied(cases: Sequence[types.Case], enough: int) -> tuple[str, ...] | None:
    # Drawn images are compared by what is drawn. Others are decoded, but only until ``enough`` cases differ, and none
    # of them if that many cases have different texts. Two of them look the same if the 16 x 16 cells that each is
    # divided into differ by at most 2 of 255 on average, and by more than 12 in one cell at most. So a photograph that
    # is stored as another JPEG, resized or altered in a pixel is a copy, and one in which a small thing has moved is
    # not. An image that cannot be read is compared by its name.
    for first in (cases[: 2 * enough], cases):  # the first ones mostly suffice
        texts = [tuple(map(_asked, case.requests)) for case in first]
        if len(set(texts)) >= enough:
            return None
    looks: dict[types.LazyImage, Hashable] = {}
    cells: dict[Hashable, Cells] = {}
    different: dict[Hashable, list[list[Hashable]]] = {}
    copies = []
    for case, asked in zip(cases, texts, strict=True):
        images = [image for request in case.requests for image in types.images_of(request)]
        for image in images:
            if image not in looks:
                looks[image] = _look(image, cells)
        found, others = [looks[image] for image in images], different.setdefault(asked, [])
        if any(all(_alike(*pair, cells) for pair in zip(found, other, strict=True)) for other in others):
            copies.append(case.id)
        else:
            others.append(found)
        if sum(map(len, different.values())) >= enough:
            return None
    return tuple(copies)


def _asked(request: types.Request) -> tuple[str, ...]:
    choices = request.choices if isinstance(request, types.Ask | types.Compare) else ()
    return (type(request).__name__, *map(_plain, (types.text_of(request), *choices)))


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return "".join(letter for letter in folded if not letter.isspace() and unicodedata.category(letter) != "Cf")


def _look(image: types.LazyImage, cells: dict[Hashable, Cells]) -> Hashable:
    from PIL.Image import Resampling

    recipe = types.recipe_of(image)
    parts = _parts(recipe or ())
    if recipe is not None and not any(isinstance(part, types.FileContent) or part == "no file" for part in parts):
        return recipe
    try:
        loaded = image.load()
    except VlgateError:
        return image.key, image.where
    digest = pixel_digest(loaded)
    if digest not in cells:
        cells[digest] = np.asarray(loaded.resize((_SIDE, _SIDE), Resampling.BOX))
    return digest


def _alike(hashable: Hashable, other: Hashable, cells: Mapping[Hashable, Cells]) -> bool:
    if hashable == other or hashable not in cells or other not in cells:
        return hashable == other
    apart = np.abs(cells[hashable].astype(np.int16) - cells[other])
    return bool(apart.mean() <= _MEAN and (apart.max(axis=2) > _MOST).sum() <= 1)


def _parts(recipe: types.Recipe) -> Iterator[object]:
    for part in recipe:
        yield from _parts(part) if isinstance(part, tuple) else (part,)


def _flaw(number: int, marks: _Marks, tasks: Sequence[types.Task], seen: Mapping[int, int]) -> Flaw | None:
    rows: list[int] = []
    counts: Counter[int] = Counter()
    for row, asked in enumerate(marks):
        others = 0
        for mark in asked:
            others |= seen[mark]
        others &= ~(1 << number)
        if others:
            rows.append(row)
            counts[others] += 1
    if not rows:
        return None
    shared = {
        task.id: sum(count for others, count in counts.items() if others >> index & 1)
        for index, task in enumerate(tasks)
    }
    most = sorted((name for name, count in shared.items() if count), key=lambda name: (-shared[name], name))
    named = ", ".join(f"{name} ({shared[name]:,})" for name in most[:_NAMED])
    more = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
    return Flaw(
        name=NAME,
        count=len(rows),
        examples=tuple(tasks[number].cases[row].id for row in rows[:EXAMPLES]),
        why=f"nearly the same is asked of the same image in {named}{more}",
    )


def _marks(case: types.Case, shape: types.Shape) -> tuple[int, ...]:
    """What a case asks, as numbers of 64 bits: of 400,000 cases, two that differ have the same once in 10^8 runs."""
    pairs = contrasts(case, shape)
    if not pairs:
        return (hash(tuple(map(_mark, case.requests))),)
    return tuple({hash((_mark(case.requests[true]), _mark(case.requests[false]))) for true, false in pairs})


def _mark(request: types.Request) -> tuple[str, ...]:
    words = [word for word in _WORD.findall(types.text_of(request).casefold()) if word not in _ARTICLES]
    return (*([_name(image) for image in types.images_of(request)] or ("",)), *words)


def _name(image: types.LazyImage) -> str:
    """The number of an image of COCO or Visual Genome, whatever its folder; of other images the whole key."""
    name, mark, perturbed = image.key.rpartition("/")[2].partition("#")
    stem = _SPLIT.sub("", name.rpartition(".")[0] or name)
    return stem + mark + perturbed if stem.isdecimal() and len(stem) >= _DIGITS else image.key
