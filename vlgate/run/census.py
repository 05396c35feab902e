"""What a plan holds: which of its images are there, and what its requests will cost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from vlgate.asking.items import images_of_case, shows_all
from vlgate.errors import ImageError, MissingImageError, OptionError, short
from vlgate.images.files import check_file, nearest_file
from vlgate.types import Ask, Compare, LazyImage, Request, Task, images_of, recipe_of

ENOUGH = 0.95
"""The share of a task's cases that must have their images; with fewer, nearly every figure is about the rest."""

LISTED = 10  # the most tasks that the refusal lists
NAMED = 3  # the most of them that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Census:
    task: str
    cases: int
    found: int
    missing: tuple[LazyImage, ...] = ()

    @property
    def too_few(self) -> bool:
        return self.found < ENOUGH * self.cases

    def __str__(self) -> str:
        return f"{self.found:,} of {self.cases:,} cases have their image"

    @property
    def lacking(self) -> str:
        number = self.cases - self.found
        lack = "lacks its image" if number == 1 else "lack their image"
        return f"{number:,} of {self.cases:,} cases {lack} ({_some(self.missing)})"


def count(task: Task) -> Census:
    lacking = [case for case in task.cases if not shows_all(case)]
    images = (image for case in lacking for image in images_of_case(case))
    missing = {image.key: image for image in images if not image.is_there}  # no file is touched
    found = len(task.cases) - len(lacking)
    return Census(task=task.id, cases=len(task.cases), found=found, missing=tuple(missing.values()))


def refuse_missing(tasks: Iterable[Task]) -> None:
    short = [census for census in map(count, tasks) if census.too_few]
    if not short:
        return
    whole = Census(task="", cases=sum(one.cases for one in short), found=sum(one.found for one in short))
    lines = [f"{whole}: get them, or add --missing-images skip"]
    lines += [f"{one.task}: {one}" for one in short[:LISTED]]
    if len(short) > LISTED:
        lines.append(f"and {len(short) - LISTED} more tasks; vlgate tasks lists them all")
    example = next((one.missing[0] for one in short if one.missing), None)
    if example is not None:
        lines.append(f"for example {looked_for(example)}")
    raise OptionError(*lines)


def partly_missing(tasks: Iterable[Task]) -> tuple[str, ...]:
    # A model that opens no image does not notice. A task without any image was read for its texts alone.
    partly = [census for census in map(count, tasks) if 0 < census.found < census.cases]
    lines = [f"{one.task}: {one}; for example {looked_for(one.missing[0])}" for one in partly[:LISTED] if one.missing]
    rest = [f"and {len(partly) - LISTED} more tasks lack some images; vlgate tasks lists them all"]
    return (*lines, *rest[: len(partly) > LISTED])


def looked_for(image: LazyImage) -> str:
    try:
        image.load()
    except MissingImageError as error:
        near = nearest_file(error.key, error.looked)
        return str(error).rpartition("; ")[0] + (f"; there is {near}: rename it, or write its path" if near else "")
    return f"image {image.key!r}"


def broken(tasks: Iterable[Task]) -> list[str]:
    """Return a line for each remedy of image files that are cut off or not images, by their headers and ends."""
    images = (image for task in tasks for case in task.cases for image in images_of_case(case))
    keys = {file: image.key for image in images for file in _files(recipe_of(image))}
    alike: dict[str, list[ImageError]] = {}
    for file, key in keys.items():
        try:
            check_file(file, key)
        except ImageError as error:
            alike.setdefault(error.remedy, []).append(error)
    return [str(same[0]) if len(same) == 1 else _several(same) for same in alike.values()]


def _several(same: Sequence[ImageError]) -> str:
    return f"{len(same):,} images cannot be decoded ({_some(same)}); for example {same[0]}"


def _some(images: Sequence[LazyImage | ImageError]) -> str:
    return ", ".join(short(one.key) for one in images[:NAMED]) + ", ..." * (len(images) > NAMED)


def _files(part: object) -> Iterator[str]:
    if isinstance(part, tuple) and part[:1] == ("file",):
        yield part[1]
    elif isinstance(part, tuple):
        for inner in part:
            yield from _files(inner)


# What a run will cost: the distinct images, texts and requests of its tasks, times the seconds for each.


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    images: int
    texts: int
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """The seconds of one GPU that a model takes per distinct ``image``, ``text`` and request, in full batches."""

    image: float = 0.0  # 0, as that of text, for a cross encoder or a generative model that keeps nothing it read
    text: float = 0.0
    pair: float = 0.0  # 0 for a dual encoder, which encodes each image and text once

    def seconds(self, counts: Counts) -> float:
        return self.image * counts.images + self.text * counts.texts + self.pair * counts.requests


def counts_of(tasks: Iterable[Task]) -> Counts:
    """Count what a model is asked for some tasks in one run; what two tasks share counts once."""
    requests = {request for task in tasks for case in task.cases for request in case.requests}
    images = {image for request in requests for image in images_of(request)}
    return Counts(images=len(images), texts=len(set(map(_text, requests))), requests=len(requests))


def gpus_within(seconds: float, hours: float) -> int:
    return max(1, ceil(seconds / 3600 / hours))


def _text(request: Request) -> str | tuple[str, tuple[str, ...]]:
    return (request.question, tuple(request.choices)) if isinstance(request, Ask | Compare) else request.text
