"""A user's own cases: their files, the records in them, the boxes of their images, and the tasks of these."""

import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from math import ceil, floor
from pathlib import Path
from typing import Any

from vlgate.errors import DataError, nearest, short
from vlgate.images.files import Pixels, image_size, region_of
from vlgate.sources.own.kinds import CaseKind, kind_of
from vlgate.sources.reading.image_paths import ImagePaths
from vlgate.sources.reading.records import (
    Record,
    each,
    keyed_records,
    leave_out,
    lined_records,
    listed_records,
    noted,
)
from vlgate.sources.reading.source import NOTHING, Find, ReadOptions, Source
from vlgate.sources.reading.text_files import collector_paused, is_there, matching, read_cells, read_text
from vlgate.sources.registry import SOURCES, is_made_set
from vlgate.types import Case, LazyImage, PlacedCase, Request, Shape, Task, images_of

REMEDY = (  # of an error in a line whose kind of case is not known
    'write a line such as {"task": "mine/spatial", "image": "1.jpg", "caption": "a dog left of a cat", '
    '"foil": "a cat left of a dog"}'
)
# The ends of the names of the files that are read, ``cases`` or any name in the folder ``cases``.
SUFFIXES = ("jsonl", "ndjson", "json", "csv", "tsv")
_TABLE = "save the table as CSV in UTF-8, with a first line such as task,image,caption,foil"
# The ends of files of cases as others write them, which are not read, and the form to save them in.
_UNREAD: Mapping[str, str] = {
    **dict.fromkeys(("xlsx", "xls", "ods", "numbers", "parquet", "arrow"), "csv"),
    **dict.fromkeys(("yaml", "yml", "toml", "txt", "jsonlines", "jsonl.gz", "json.gz", "jsonl.zip"), "jsonl"),
    **{end: end for end in SUFFIXES},  # in capital letters
}
# The fields whose cells hold JSON, with an example.
_JSON: Mapping[str, str] = {
    "tags": '{"colour": "red"}',
    "box": "[10, 20, 30, 40]",
    "named": "[[10, 20, 30, 40]]",
    "answers": '[["yes", "no"], ["no", "yes"]]',
    **dict.fromkeys(("images", "other_images"), '["1.jpg", "2.jpg"]'),
    **dict.fromkeys(("foils", "captions", "questions", "choices", "true"), '["a cat", "a dog"]'),
}
_NO_CASE = ("holds no case", "write its cases into it, or remove the file")
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_REPEATED = ("task", "shape", "kind", "tags")  # the fields that many lines have the same values of
_NAMES = ("task", "id", "image", "twin", "perturbed_image", "kind")


def own_files(folders: Sequence[Path]) -> dict[Path, tuple[Path, ...]]:
    files: dict[Path, list[tuple[Path, Path]]] = {}
    for folder in folders:
        inside = [file for end in SUFFIXES for file in matching(folder / "cases" / f"*.{end}")]
        made = [inner / "cases/*.jsonl" for inner in sorted(folder.glob("*")) if is_made_set(inner)]
        sets = chain.from_iterable(map(matching, made))
        inside += [file for file in sets if not (folder / "cases" / file.name).exists()]  # a copy may have been mended
        for file in (*(folder / f"cases.{end}" for end in SUFFIXES), *inside):
            if is_there(file):
                files.setdefault(file.resolve(), []).append((file, folder))
        for file in (*matching(folder / "cases.*"), *matching(folder / "cases/*.*")):
            form = next((form for end, form in _UNREAD.items() if file.name.lower().endswith(f".{end}")), None)
            if form and file.suffix[1:] not in SUFFIXES and not file.is_dir():
                raise DataError(file, None, "is not read", f"save it as cases.{form}, or rename it")
        for file in chain.from_iterable(matching(sub / "*.*") for sub in matching(folder / "cases/*") if sub.is_dir()):
            if file.suffix[1:] in SUFFIXES and not file.is_dir() and file.resolve() not in files:
                raise DataError(file, None, "is not read", f"put it into {folder / 'cases'} itself, or out of it")
    return {places[0][0]: tuple(folder for _, folder in places) for places in files.values()}


# A JSON file is a list of records, an object ``{id: record}``, or JSON lines. In a table, the cells of lists, boxes and
# tags hold JSON; a column ``tags.colour`` is the tag ``colour``.
def own_records(file: Path) -> Iterator[Record]:
    if file.suffix in {".csv", ".tsv"}:
        rows = iter(read_cells(file, "task", _TABLE))
        if (first := next(rows, None)) is None:
            raise DataError(file, None, *_NO_CASE)
        yield from each(_of_cells, (Record(file, line, cells, _TABLE) for line, cells in chain([first], rows)))
        return
    text = read_text(file, REMEDY).lstrip()
    if text[0] in "[{" and text[1:].strip() in {"]", "}"}:
        raise DataError(file, None, *_NO_CASE)
    is_list = text.startswith("[")
    is_object = not is_list and file.suffix == ".json" and _is_one_object(text)
    del text  # it is read again below, and would stay in memory beside the records
    if is_list:
        yield from listed_records(file, REMEDY)
    elif is_object:
        for record in keyed_records(file, REMEDY):
            yield record if "id" in record.fields else replace(record, fields={"id": record.id, **record.fields})
    else:
        yield from lined_records(file, REMEDY)


def _is_one_object(text: str) -> bool:
    """Whether a text is one object of records, and not JSON lines, one of which may be all."""
    try:
        content, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return True  # reading it says what is wrong
    return type(content) is dict and not text[end:].strip() and type(content.get("task")) is not str


def _is_row(line: str) -> bool:
    """Whether a line within a cell seems to be one of the table: it holds a task or a path, and other cells."""
    parts = re.split(r"[,;\t]", line)
    return len(parts) > 1 and any(map(_TASK.fullmatch, parts))


def _of_cells(record: Record) -> Record:
    fields: dict[str, Any] = {}
    tags: dict[str, str] = {}
    for name, cell in record.fields.items():
        plain = cell.strip()
        if ("\n" in cell or "\r" in cell) and (row := next(filter(_is_row, cell.splitlines()), None)):
            problem = f"the text in column {name!r} goes on over other rows, such as {short(row)!r}"
            raise record.error(problem, "close the quotation mark with which this text begins, or double it")
        if name.startswith("tags."):
            tags[name.removeprefix("tags.")] = cell
        elif name in _JSON or (name == "false" and plain.startswith("[")):
            try:
                fields[name] = json.loads(plain)
            except (ValueError, RecursionError):
                example = _JSON.get(name, _JSON["true"])
                problem = f"column {name!r} holds {short(plain)!r}, expected JSON"
                raise record.error(problem, f"write for example {example}") from None
        elif name == "is_true":
            fields[name] = _TRUTHS.get(plain.lower(), cell)
        else:
            fields[name] = plain if name in _NAMES else cell
    if tags and type(fields.get("tags", {})) is dict:
        fields["tags"] = fields.get("tags", {}) | tags
    return replace(record, fields=fields, remedy=REMEDY)


_MOST = 10**9  # pixels; also refuses infinity and numbers without end
_size = lru_cache(maxsize=4096)(image_size)  # the lines about an image follow each other
_FORM = "[left, top, width, height] in pixels"


def boxed(record: Record, find: Find) -> Find:
    box = record.fields["box"]
    if not _is_list(box):
        record.reject("box", f"a list of four numbers, {_FORM}", f"write for example {_JSON['box']}")
    pixels = _pixels(record, box)

    def region(record: Record, name: str) -> LazyImage:
        image = find(record, name)
        size = _size(image.where) if image.where else None
        if size is not None and (pixels[0] >= size[0] or pixels[1] >= size[1]):
            problem = f"box {box} is outside the image, which has {size[0]} x {size[1]} pixels"
            raise record.error(problem, f"write {_FORM} of this image")
        return region_of(image, pixels)

    return region


def named_boxes(record: Record, requests: Sequence[Request]) -> Mapping[str, tuple[Pixels, ...]]:
    """Return the boxes of all that the texts of a record name, by the key of its one image."""
    if "named" not in record.fields:
        return NOTHING
    if "box" in record.fields:
        problem = "has both 'box' and 'named', but named boxes are those of a whole image"
        raise record.error(problem, "leave one of them out")
    boxes = record.fields["named"]
    if type(boxes) is not list or not boxes or not all(map(_is_list, boxes)):
        record.reject("named", f"a list of one or more boxes, each {_FORM}", f"write for example {_JSON['named']}")
    keys = {image.key for request in requests for image in images_of(request)}
    return dict.fromkeys(keys, tuple(_pixels(record, box) for box in boxes))


def _is_list(box: object) -> bool:
    if type(box) is not list or len(box) != 4:
        return False
    return all(type(side) in {int, float} and -_MOST <= side <= _MOST for side in box)


def _pixels(record: Record, box: Sequence[float]) -> Pixels:
    """The smallest region of whole pixels that holds a box: every pixel that it touches."""
    left, top, width, height = box
    if width <= 0 or height <= 0:
        size = f"{width:g} x {height:g} pixels, expected at least 1 x 1"
        raise record.error(f"box {box} is {size}", f"write {_FORM}")
    # Sums such as 0.1 + 0.2 are beyond their true values by less than a millionth of a pixel.
    right, bottom = ceil(round(left + width, 6)), ceil(round(top + height, 6))
    if left < 0 or top < 0:
        begin = max(0, floor(left)), max(0, floor(top))
        inside = right > 0 and bottom > 0
        hint = f"cut it at the edge, [{begin[0]}, {begin[1]}, {right - begin[0]}, {bottom - begin[1]}]"
        where = "begins outside the image" if inside else "is outside the image"
        raise record.error(f"box {box} {where}: left and top are at least 0", hint if inside else f"write {_FORM}")
    return floor(left), floor(top), right - floor(left), bottom - floor(top)


# A line is an object with ``task`` (such as ``mine/spatial``), the fields of one kind of case (see ``kinds``; the docs
# show each kind), and optionally ``id`` and ``tags``. Images are named by their paths in the data folder. A line with
# texts or a single question about one image may have a ``box`` and ``named``, the boxes of all that its texts name,
# which a search for smallest changes never covers.
_PLAIN = frozenset((str, int, float, bool))  # the types of a tag
_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(?:/[A-Za-z0-9][A-Za-z0-9._-]*)+")


def shapes(folders: Sequence[Path]) -> Mapping[str, Shape]:
    return {task: kind.shape for task, kind in _kinds(folders).items()}


# The id of a case is its field ``id``; without that field, it is the file's name and the line's number. Each entry of
# the object ``tags`` is a slice.
def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks, each with its cases from all files, in the order of the folders, files and lines."""
    kinds = {task: kind for task, kind in _kinds(options.folders).items() if options.wanted(task)}
    cases: dict[str, dict[str, Case]] = {task: {} for task in kinds}
    homes = own_files(options.folders) if kinds else {}
    find = ImagePaths(folders=options.folders, homes=homes).find
    shared: dict[Any, Any] = {}  # few different tags and truths, and hundreds of cases with each
    checking = noted()  # otherwise the first record without a task, or of another kind, has ended the reading

    def add(record: Record) -> None:
        task = _task(record) if checking else str(record.fields["task"])
        if task not in kinds:
            return
        if checking and kind_of(record) is not kinds[task]:
            raise record.error(_two_kinds(task, kinds[task]), _APART)
        case = _case(record, kinds[task], find, shared)
        before = cases[task].setdefault(case.id, case)
        if before is not case:
            where = _origin_of(before, record.file, homes)
            problem = f"id {short(case.id)!r} is already used in task {task!r} ({where})"
            raise record.error(problem, "give each case an id of its own, or leave one of them out")

    kept = {} if checking else {file: _records(file, _state(file))[0] for file in homes}
    _records.cache_clear()
    for file in homes:
        deque(each(add, own_records(file) if checking else _emptied(file, kept[file])), maxlen=0)
    for task, kind in kinds.items():
        if cases[task]:  # none of it may be left while errors are noted
            yield Task(id=task, capability=kind.capability, shape=kind.shape, cases=tuple(cases[task].values()))


def _origin_of(case: Case, file: Path, homes: Iterable[Path]) -> str:
    same = [home for home in homes if home.name == file.name and home != file]
    other = next((home for home in same for record in own_records(home) if _id(record) == case.id), None)
    return case.origin if other is None else f"{other}: {case.origin}"


def _kinds(folders: Sequence[Path]) -> dict[str, CaseKind]:
    kinds: dict[str, CaseKind] = {}
    for file in own_files(folders):
        for task, (kind, line) in _tasks(file, _state(file), noted=noted()).items():
            if kinds.setdefault(task, kind) is not kind:
                leave_out(DataError(file, line, _two_kinds(task, kinds[task]), _APART))
    return kinds


def _state(file: Path) -> tuple[int, ...]:
    status = file.stat()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size


_Kept = tuple[str | int, tuple[str, ...], tuple[Any, ...]]  # the name of a record, its fields and their values


@lru_cache(maxsize=64)
@collector_paused()
def _records(file: Path, _: tuple[int, ...]) -> tuple[deque[_Kept], list[Record]]:
    """The records of a file in some state, read once, from listing its tasks until ``read`` makes cases.

    And the first of each task and kind, in their order.
    """
    records: deque[_Kept] = deque()
    firsts: dict[Any, Record] = {}
    known: dict[Any, Any] = {}
    for record in own_records(file):
        # names, tasks and tags are kept once for all records, which takes 0.8 KB less for each
        fields, names = record.fields, tuple(record.fields)
        told = {name: repr(fields[name]) for name in _REPEATED if name in fields}
        values = [known.setdefault(told[name], value) if name in told else value for name, value in fields.items()]
        records.append((record.name, known.setdefault(names, names), tuple(values)))
        task, shape, kind = map(told.get, _REPEATED[:3])
        firsts.setdefault((names, task, shape, kind, type(fields.get("false"))), record)
    return records, list(firsts.values())


def _emptied(file: Path, records: deque[_Kept]) -> Iterator[Record]:
    while records:
        name, names, values = records.popleft()
        yield Record(file, name, dict(zip(names, values, strict=True)), REMEDY)


@lru_cache(maxsize=64)  # a run calls this about five times, and 100,000 lines take 0.3 s
def _tasks(file: Path, state: tuple[int, ...], *, noted: bool) -> Mapping[str, tuple[CaseKind, str]]:
    tasks: dict[str, tuple[CaseKind, str]] = {}

    def add(record: Record) -> None:
        task, kind = _task(record), kind_of(record)
        earlier, _ = tasks.setdefault(task, (kind, record.id))
        if earlier is not kind:
            raise record.error(_two_kinds(task, earlier), _APART)

    records: Iterable[Record] = own_records(file)  # in any case if one is wrong: the first one ends the reading
    with suppress(DataError):
        records = records if noted else _records(file, state)[1]
    deque(each(add, records), maxlen=0)
    return tasks


_APART = "give the cases of each kind a task of their own"


def _two_kinds(task: str, earlier: CaseKind) -> str:
    kind = f"{earlier.capability}: {', '.join(earlier.needed)}"
    return f"task {task!r} has an earlier case of another kind ({kind}), but all cases of a task must be of one kind"


def _task(record: Record) -> str:
    task = record.text("task")
    if not _TASK.fullmatch(task):
        record.reject("task", "letters, digits, '.', '_' and '-' in two or more parts, such as 'mine/spatial'")
    taken = task.partition("/")[0]
    if taken.lower() in SOURCES and taken.lower() != "own":
        problem = f"task {task!r} begins with {taken!r}, which is the name of a benchmark"
        raise record.error(problem, f"write for example 'mine{task.removeprefix(taken)}'")
    return task


def _case(record: Record, kind: CaseKind, find: Find, shared: dict[Any, Any]) -> Case:
    record = Record(record.file, record.name, record.fields, kind.remedy)
    for field in record.fields:
        if field not in kind.fields:
            raise record.error(f"field {short(field)!r} is unknown ({nearest(field, kind.fields)})")
    requests, truths = kind.ask(record, boxed(record, find) if "box" in record.fields else find)
    said = repr(record.fields.get("tags", {}))
    if said not in shared:
        shared[said] = _tags(record)
    boxes = named_boxes(record, requests)
    make = partial(PlacedCase, named=boxes) if boxes else Case
    return make(
        id=_id(record),
        requests=requests,
        truths=shared.setdefault(truths, truths),
        tags=shared[said],
        file=record.file.name,
        record=short(record.name) if isinstance(record.name, str) else record.name,
    )


def _tags(record: Record) -> dict[str, str]:
    tags = record.fields.get("tags", {})
    if type(tags) is not dict or not _PLAIN.issuperset(map(type, tags.values())) or not "".join(tags).isprintable():
        wanted = "an object of strings, numbers or booleans, its names of printable characters"
        record.reject("tags", wanted, f"write for example {_JSON['tags']}")
    texts = record.nested("tags") if tags else record
    return {name: texts.text(name) if type(value) is str else json.dumps(value) for name, value in tags.items()}


def _id(record: Record) -> str:
    given = record.fields.get("id")
    if given is None and "id" not in record.fields:
        given = f"{record.file.stem} {record.id}"
    if type(given) is int:
        return str(given)
    if type(given) is not str or not given.strip() or not given.isprintable():
        wanted = "an integer or a string of printable characters"
        record.reject("id", wanted, "write one, or leave the field out")
    return given


OWN = Source(read=read, shapes=shapes)
