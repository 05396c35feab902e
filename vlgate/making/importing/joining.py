"""Joining recorded replies with the requests of the planned cases, by image and question, or by checked numbers.

No join is a guess: a record whose image, number and question leave several requests, or none, is left out and counted.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from vlgate.errors import OptionError, printable, short
from vlgate.making.importing.prompts import Part, normal, parts, plain_question
from vlgate.making.importing.replies import Recorded, Recording
from vlgate.sources.reading.image_finder import coco_id, stem
from vlgate.types import Ask, Match, Task

Key = tuple[str, str, str]  # a request: the kind of its reply (answer or score), the image's key and the text

Numbering = tuple[str, str, str, int]
"""A task, the field with a harness's number, what it counts in the task, and the difference of the two."""

_ENOUGH = 0.9  # the share of records that a numbering must agree with
_FEW = 5  # fewer records may agree with a numbering by chance
_OWN = ("question_id", "case", 0)  # the benchmark's own numbers, which come before others that fit as well
_SOME, _MANY = 0.3, 20  # the same, if so many have the right answer, too: POPE's categories share their numbers
_NEAR = 0.75  # numberings that agree with this share of the best one's records count, too; if they differ, none does
_TRIED, _FIRST = 1000, 50  # records of a file that a numbering is tried on, and of these those that are tried first
# harnesses count from 0 or 1, or skip some; questions that recur fit several, so none is taken
_SHIFTS = range(-12, 13)
_ALIKE = 0.9  # the share of a file's questions that must be asked of one image only, if nothing names images
_WRAPPED, _FEWEST = 0.05, 3  # the share and number of prompts with the same words around to show that they instruct
_QUAD = (0, 2, 1, 3)  # the requests in NaturalBench's order: both images of one question, then of the other
_LETTERS = "abcdefgh"
_NUMBERED = "its image has a number for a name, which fits too few questions; name the images as the benchmark does"
_ELSEWHERE = "no planned case asks its question of its image"
_UNNAMED = (
    "its question is asked of several images, and nothing names its image; add the file of the questions, or a column "
    "with the image's name"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    key: Key
    task: str
    truth: str
    choices: tuple[str, ...]
    forms: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The record of each request, in the planned order; ``left_out`` has the number of records and the first one."""

    rows: Mapping[Key, Recorded]
    joined: Mapping[str, int]
    left_out: Mapping[str, tuple[int, str]]
    differing: Sequence[str]  # the places of joined records whose own right answer is not the benchmark's


@dataclass(slots=True)
class _Index:
    by_text: dict[tuple[str, str], list[Target]] = field(default_factory=lambda: defaultdict(list))
    by_image: dict[tuple[str, str, int | str], list[Target]] = field(default_factory=lambda: defaultdict(list))
    by_number: dict[tuple[str, str, str], list[Target]] = field(default_factory=lambda: defaultdict(list))
    keys: dict[Key, None] = field(default_factory=dict)
    tasks: set[str] = field(default_factory=set)


def join(recordings: Sequence[Recording], tasks: Sequence[Task]) -> Joined:
    index = _index(tasks, {_kind(record) for recording in recordings for record in recording.records})
    rows: dict[Key, tuple[Recorded, bool]] = {}
    joined: Counter[str] = Counter()
    left_out: dict[str, tuple[int, str]] = {}
    differing = []
    for recording in recordings:
        for record, outcome, own in _File(recording, index).outcomes():
            reason = outcome if isinstance(outcome, str) else _take(rows, record, outcome, own=own)
            if reason:
                unasked = f"a reply without a question, {_shown(record.reply)}"
                prompt = record.prompts[0] if record.prompts else unasked
                number, first = left_out.get(reason, (0, f"{record.place}: {_shown(prompt)}"))
                left_out[reason] = (number + 1, first)
            elif isinstance(outcome, Target):
                joined[recording.file.name] += 1
                differing += [record.place] if _agrees(record, outcome) is False else []
    kept = {key: rows[key][0] for key in index.keys if key in rows}
    return Joined(rows=kept, joined=joined, left_out=left_out, differing=differing)


def truths_of(*tasks: Task) -> dict[Key, list[tuple[Ask | Match, str]]]:
    """Return the requests that a record can answer, each with its right answers, on which two tasks may disagree."""
    truths: dict[Key, list[tuple[Ask | Match, str]]] = defaultdict(list)
    for _, key, request, truth, _ in _asked(tasks):
        truths[key].append((request, truth))
    return truths


def _asked(tasks: Iterable[Task]) -> Iterator[tuple[Task, Key, Ask | Match, str, tuple[int, int]]]:
    for task in tasks:
        for number, case in enumerate(task.cases):
            for index, (request, truth) in enumerate(zip(case.requests, case.truths, strict=True)):
                if isinstance(request, Ask):
                    key = ("answer", request.image.key, request.question)
                    yield task, key, request, str(truth), (number, index)
                elif isinstance(request, Match):
                    yield task, ("score", request.image.key, request.text), request, "", (number, index)


def _index(tasks: Sequence[Task], kinds: Collection[str]) -> _Index:
    index = _Index()
    for task, key, request, truth, (number, place) in _asked(tasks):
        kind, image, text = key
        if kind not in kinds:
            continue
        case = task.cases[number]
        digits = re.search(r"(\d+)(?:\.\w+)?$", image)
        numbers = [("case", case.id), ("order", str(number)), *([("image", str(int(digits[1])))] if digits else [])]
        if task.shape == "question_quad":
            first = int(case.id) if case.id.isdecimal() else number
            numbers = [("quad", str(len(_QUAD) * first + _QUAD[place]))]
        forms = frozenset({normal(text), plain_question(text)})
        choices = request.choices if isinstance(request, Ask) else ()
        target = Target(key=key, task=task.id, truth=truth, choices=choices, forms=forms)
        for form in forms:
            index.by_text[kind, form].append(target)
            index.by_image[kind, form, image_identity(image)].append(target)
        for source, digit in numbers:
            index.by_number[task.id, source, digit].append(target)
        index.keys[key] = None
        index.tasks.add(task.id)
    return index


def image_identity(name: str) -> int | str:
    """Return what the names of an image have in common: COCO's id, or the file's name; a perturbed one has its own."""
    return name if "#" in name else coco_id(name.replace("\\", "/"))


class _File:
    def __init__(self, recording: Recording, index: _Index) -> None:
        self._index = index
        self._failed = [record for record in recording.records if record.problem]
        self._records = [record for record in recording.records if not record.problem]
        self._places = {id(record): place for place, record in enumerate(recording.records)}
        self._folders: dict[int | str, set[str]] = defaultdict(set)
        for name in (record.images[0] for record in self._records if record.images):
            self._folders[image_identity(name)].add(name.rpartition("/")[0])
        self._own = {hint: _tasks_of(hint, index.tasks) for record in self._records for hint in record.hints}
        self._parts = {id(record): self._planned(record) for record in self._records}
        around = Counter(part.around for some in self._parts.values() for part in some)
        least = max(_FEWEST, _WRAPPED * len(self._records))
        self._usual = {text for text, number in around.items() if not text or (number >= least and "?" not in text)}
        asked = [record for record in self._records if self._texts(record)]
        self._only_numbered = self._are_numbers()
        fits = [(record, self._by_image(record)) for record in asked]
        self._has_images = _enough(fits) if self._only_numbered else any(some for _, some in fits)
        self._has_others = not self._only_numbered and any(record.images for record in asked)
        self._numberings = [] if self._has_images else self._agreeing(asked)
        single = [len({target.key for target in self._by_text(record)}) == 1 for record in asked]
        self._alike = not self._has_others and sum(single) >= _ALIKE * len(single)

    def outcomes(self) -> Iterator[tuple[Recorded, Target | str, bool]]:
        """Yield each record with its request, or the reason why it has none, and whether the task is its category.

        Those of their category come first, because they answer a request that records of other categories share.
        """
        yield from ((record, record.problem, False) for record in self._failed)
        outcomes = [(record, self._outcome(record)) for record in self._records]
        owned = [(record, one, isinstance(one, Target) and one.task in self._tasks(record)) for record, one in outcomes]
        yield from sorted(owned, key=lambda entry: not entry[-1])

    def _tasks(self, record: Recorded) -> set[str]:
        return {task for hint in record.hints for task in self._own[hint]}

    def _planned(self, record: Recorded) -> list[Part]:
        for prompt in record.prompts:
            taken: list[Part] = []
            for part in parts(prompt):
                inside = any(one.span[0] <= part.span[0] and part.span[1] <= one.span[1] for one in taken)
                if not (inside and part.around) and (_kind(record), part.text) in self._index.by_text:
                    taken.append(part)
            if taken:
                return taken
        return []

    def _texts(self, record: Recorded) -> list[str]:
        some = self._parts[id(record)]
        return [part.text for part in some if part.around in self._usual]

    def _by_text(self, record: Recorded) -> list[Target]:
        return [one for text in self._texts(record) for one in self._index.by_text[_kind(record), text]]

    def _by_image(self, record: Recorded) -> list[Target]:
        """The requests with the question and image of a record; of several, those in the most of its folders."""
        keys = [(_kind(record), text, image_identity(name)) for text in self._texts(record) for name in record.images]
        targets = [one for key in keys for one in self._index.by_image.get(key, [])]
        shared = [max(_shared(target.key[1], name) for name in record.images) for target in targets]
        alone = all(len(self._folders[image_identity(name)]) <= 1 for name in record.images)
        least = max([0 if alone else 1, *shared])  # 0001.png of one category is not that of another
        return [target for target, number in zip(targets, shared, strict=True) if number >= least]

    def _by_number(self, record: Recorded, numbering: Numbering) -> list[Target]:
        """The requests with the question of a record that its number names, those with its right answer if any has."""
        task, name, source, shift = numbering
        number = record.numbers.get(name, "") if name else str(self._places[id(record)])
        if number.isdecimal():
            number = str(int(number) + shift)
        targets = self._index.by_number.get((task, source, number), [])
        texts = self._texts(record)
        fit = [
            target
            for target in targets
            if target.key[0] == _kind(record) and any(text in target.forms for text in texts)
        ]
        return [one for one in fit if _agrees(record, one) is not False] or fit

    def _are_numbers(self) -> bool:
        fits = 0
        for record in self._records:
            place = self._places[id(record)]
            numbers = {*record.numbers.values(), str(place), str(place + 1)}
            fits += not numbers.isdisjoint(stem(name) for name in record.images)
        return fits >= _ENOUGH * len(self._records)

    def _agreeing(self, asked: Sequence[Recorded]) -> list[Numbering]:
        tried = asked[:: max(1, len(asked) // _TRIED)]
        tasks = [(record, {one.task for one in self._by_text(record)}) for record in tried]
        names = {name for record in tried for name in record.numbers} | {""}
        numberings = []
        for task in sorted({task for _, some in tasks for task in some}):
            own = [record for record, some in tasks if task in some]
            agreed = {}
            for rest in product(sorted(names), ("case", "image", "order", "quad"), _SHIFTS):
                fits = self._fits(own[:_FIRST], (task, *rest))
                if sum(bool(some) for _, some in fits) >= _SOME * len(fits):
                    fits = self._fits(own, (task, *rest))
                    number = sum(bool(some) for _, some in fits)
                    agreed[task, *rest] = number if _enough(fits) and (number >= _FEW or rest == _OWN) else 0
            best = max(agreed.values(), default=0)
            near = [numbering for numbering, number in agreed.items() if number and number >= _NEAR * best]
            numberings += [one for one in near if one[1:] == _OWN and agreed[one] == best] or near
        return numberings

    def _fits(self, records: Sequence[Recorded], numbering: Numbering) -> list[tuple[Recorded, list[Target]]]:
        return [(record, self._by_number(record, numbering)) for record in records]

    def _outcome(self, record: Recorded) -> Target | str:
        if not self._texts(record):
            some = self._parts[id(record)]
            if some:
                return f"its prompt says more than the question: {_shown(some[0].around)}"
            return "no planned case asks its question" if record.prompts else "it has no question"
        if self._has_images:
            targets, why = self._by_image(record), _ELSEWHERE
        elif self._numberings:
            targets = [one for rest in self._numberings for one in self._by_number(record, rest)]
            why = "its number names no request with its question"
        elif self._alike:
            targets = [one for one in self._by_text(record) if _agrees(record, one) is not False]
            why = "the right answer to its question is another one"
        else:
            targets, why = [], _NUMBERED if self._only_numbered else _ELSEWHERE if self._has_others else _UNNAMED
        whole = [target for target in targets if self._has_images or "#" not in target.key[1]]
        if not whole:
            return "the planned cases ask its question of a changed image" if targets else why
        # Of several requests, category and spelling may leave one.
        whole = [one for one in whole if one.task in self._tasks(record)] or whole
        whole = [one for one in whole if one.key[2] in record.prompts] or whole
        if len({target.key for target in whole}) > 1:
            return "several planned requests fit it"
        given, choices = ([normal(text) for text in texts] for texts in (record.options, whole[0].choices))
        if given != choices and sorted(given) == sorted(choices):
            return "it lists the options in another order than the benchmark"
        return whole[0]


def _enough(fits: Sequence[tuple[Recorded, Sequence[Target]]]) -> bool:
    truths = [any(_agrees(record, one) for one in some) if record.truth else None for record, some in fits if some]
    least = _SOME if truths.count(True) >= max(_MANY, _ENOUGH * len(truths)) else _ENOUGH
    return truths.count(False) <= (1 - _ENOUGH) * len(truths) and len(truths) >= least * len(fits)


def _kind(record: Recorded) -> str:
    return "answer" if record.score is None else "score"


def _shared(key: str, name: str) -> int:
    ours, theirs = (path.replace("\\", "/").split("/")[-2::-1] for path in (key, name))
    return next((n for n, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))


def _tasks_of(hint: str, tasks: Iterable[str]) -> frozenset[str]:
    """The tasks whose ids have the most words of a category or of a harness's task, which may be cut ("pope_adv")."""
    words = [word for word in re.split(r"[^a-z0-9]+", hint.lower()) if word]

    def has(word: str, task: str) -> bool:
        others = re.split(r"[^a-z0-9]+", task)
        return word in others or (len(word) > 2 and any(other.startswith(word) for other in others))

    fits = {task: sum(has(word, task.lower()) for word in words) for task in tasks}
    best = max(fits.values(), default=0)
    return frozenset(task for task, number in fits.items() if best and number == best)


def _agrees(record: Recorded, target: Target) -> bool | None:
    """Whether a record's own right answer is that of a request; None if that cannot be told."""
    truth, right = normal(record.truth), normal(target.truth)
    choices = [normal(choice) for choice in target.choices]
    if not truth or not right or truth == right:
        return True if truth and right else None
    if truth in choices:
        return False
    letter = re.fullmatch(r"\(?([a-h])\)?(?:[.:)]? .*)?", truth)
    texts = [normal(text) for text in record.options] or choices
    place = _LETTERS.index(letter[1]) if letter else len(texts)
    return texts[place] == right if place < len(texts) and texts[place] in choices else None


def _take(rows: dict[Key, tuple[Recorded, bool]], record: Recorded, target: Target, *, own: bool) -> str:
    earlier, earlier_own = rows.setdefault(target.key, (record, own))
    if (earlier.reply.strip(), earlier.score) == (record.reply.strip(), record.score):
        return ""
    if earlier_own and not own:
        return "a record of the task's own category has another reply"
    kind, image, text = target.key
    first, second = (_shown(one.reply) if kind == "answer" else one.score for one in (earlier, record))
    raise OptionError(
        f"{earlier.place} and {record.place} contradict each other: {first} and {second} for {_shown(text)} about "
        f"{image}; keep one of them, or import each task into a file of its own, with --suite"
    )


def _shown(text: str) -> str:
    return repr(short(printable(text)))
