"""NaturalBench: two questions about two photographs whose answers are crossed; and captions of the same images.

Li et al. 2024, "NaturalBench: Evaluating Vision-Language Models on Natural Adversarial Samples". The release is the
data set ``BaiqiL/NaturalBench`` of the Hugging Face hub: Parquet files with the images inside, a row per group. Put
them into ``naturalbench/data`` or ``naturalbench`` of a data folder, or let the protocol ``naturalbench_hub`` fetch
them. The authors' other form, ``BaiqiL/NaturalBench-lmms-eval``, has four rows per group and is read there, too. The
captions are ``metadata.json`` with a folder of images, unpacked from ``NaturalBench-Retrieval.zip``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder, is_plain
from vlgate.sources.reading.records import Record, each, listed_records
from vlgate.sources.reading.source import QUAD_TRUTHS, ReadOptions, only_file, quad_requests
from vlgate.sources.reading.tables import Row, by_kind, column_names, other_form, release_files, table_rows
from vlgate.types import Ask, Case, Shape, Task

HUB = "BaiqiL/NaturalBench"
_TYPES: Mapping[str, str] = MappingProxyType(
    {"yes_no": "naturalbench/yes-no", "multiple_choice": "naturalbench/multiple-choice"}
)
RETRIEVAL = "naturalbench/retrieval"
SHAPES: Mapping[str, Shape] = MappingProxyType(
    {"naturalbench/yes-no": "question_quad", "naturalbench/multiple-choice": "question_quad", RETRIEVAL: "quad"}
)
"""The shape of each task, by id."""

_OPTION = re.compile(r"\b([A-Z])\s*:\s*([^;]+)")
_SIGN = re.compile(r"\bB\b|\bA\s*[^\w\s]")  # of options in another form, as "A: a cat. B: a dog"
_TABLES = f"take the Parquet files of {HUB} or of {HUB}-lmms-eval"
_EACH = 4  # the rows of a group in the form of lmms-eval: both images with the first question, then with the second
_RETRIEVAL_PLACES = (
    "naturalbench/NaturalBench-Retrieval/metadata.json",
    "naturalbench/retrieval/metadata.json",
    "NaturalBench-Retrieval/metadata.json",
)


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose files are in a data folder.

    A case of the questions is (image_0, question_0), (image_0, question_1), (image_1, question_0), (image_1,
    question_1); its id is the row's ``Index``, in the form of lmms-eval the quarter of it. The right answers are those
    of the row. The options of ``naturalbench/multiple-choice`` stand in the text of the question ("Option: A:...;
    B:...;"): the choices are the letters, A and B whatever the punctuation. A case of ``naturalbench/retrieval`` is a
    quad; its id is the record's ``index``.
    """
    if any(map(options.wanted, _TYPES.values())):
        yield from _question_tasks(options)
    file = only_file(options.folders, *_RETRIEVAL_PLACES) if options.wanted(RETRIEVAL) else None
    if file is not None:
        cases = tuple(_quads(file, options.images))
        yield Task(id=RETRIEVAL, capability="compositional", shape="quad", cases=cases)
    else:
        yield from _unread(RETRIEVAL, "naturalbench/NaturalBench-Retrieval.zip", "is not unpacked", options)


def _question_tasks(options: ReadOptions) -> Iterator[Task]:
    files = release_files(options, "naturalbench", HUB)
    if not files:
        for task in _TYPES.values():
            yield from _unread(task, "naturalbench/*.tsv", "is not read; take the release's Parquet files", options)
    wanted = [kind for kind, task in _TYPES.items() if options.wanted(task)]
    single = bool(files) and "Image" in column_names(files[0])
    groups = _groups_of_rows(files) if single else map(_group, table_rows(files, ("Image_0", "Image_1"), _TABLES))
    for kind, cases in by_kind(_questions, groups, _kind, wanted).items():
        if cases:
            yield Task(id=_TYPES[kind], capability="compositional", shape="question_quad", cases=cases)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """A group as the release has it in one row, and where its two images are: a row of the table, and a column."""

    record: Record
    images: tuple[tuple[Row, str], tuple[Row, str]]


def _kind(record: Record) -> str:
    kind = record.text("Question_Type")
    if kind not in _TYPES:
        record.reject("Question_Type", " or ".join(map(repr, _TYPES)))
    return kind


def _group(row: Row) -> _Group:
    return _Group(record=row.record, images=((row, "Image_0"), (row, "Image_1")))


def _groups_of_rows(files: Sequence[Path]) -> Iterator[_Group]:
    """The groups of the form of lmms-eval, whose rows are numbered by ``Index``."""
    rows: dict[int, dict[int, Row]] = {}

    def add(row: Row) -> None:
        number = row.record.number("Index")
        group = rows.setdefault(number // _EACH, {})
        if group.setdefault(number % _EACH, row) is not row:
            raise row.record.error(f"Index {number} is repeated")

    deque(each(add, table_rows(files, ("Image",), _TABLES)), maxlen=0)
    yield from each(lambda numbered: _joined(*numbered), rows.items())


def _joined(number: int, rows: Mapping[int, Row]) -> _Group:
    some = next(iter(rows.values())).record
    if len(rows) < _EACH:
        lacking = [str(_EACH * number + place) for place in range(_EACH) if place not in rows]
        raise some.error(f"group {number} lacks the rows with Index {', '.join(lacking)}")
    four = [rows[place] for place in range(_EACH)]
    asked = [row.record.text("Question") for row in four]
    kinds = {_kind(row.record) for row in four}
    if len(kinds) > 1 or asked[0] != asked[1] or asked[2] != asked[3]:
        raise some.error(f"group {number} does not ask two questions of one type, each about both images")
    fields = {"Index": number, "Question_Type": kinds.pop(), "Question_0": asked[0], "Question_1": asked[2]}
    for place, row in enumerate(four):
        fields[f"Image_{place % 2}_Question_{place // 2}"] = row.record.text("Answer")
    if some.fields.get("Source"):
        fields["Source"] = some.fields["Source"]
    record = replace(four[0].record, fields=fields)
    return _Group(record=record, images=((four[0], "Image"), (four[1], "Image")))


def _unread(task: str, pattern: str, remedy: str, options: ReadOptions) -> Iterator[Task]:
    """A task without cases that says why, if the release is there in a form that is not read."""
    if options.wanted(task) and (found := other_form(options, pattern)):
        yield Task(id=task, capability="compositional", shape=SHAPES[task], cases=(), note=f"{found} {remedy}")


def _questions(group: _Group) -> Case:
    record = group.record
    name = str(record.count("Index"))
    images = [row.image(f"naturalbench_{name}_{which}", column) for which, (row, column) in enumerate(group.images)]
    texts = record.text("Question_0"), record.text("Question_1")
    choices = [_choices(record, text) for text in texts]
    requests, truths = [], []
    for which, image in enumerate(images):
        for number, text in enumerate(texts):
            field = f"Image_{which}_Question_{number}"
            answer = record.text(field).strip().lower()
            if answer not in choices[number]:
                record.reject(field, " or ".join(map(repr, choices[number])))
            requests.append(Ask(image=image, question=text, choices=choices[number]))
            truths.append(answer)
    tags = {"source": record.text("Source")} if record.fields.get("Source") else {}
    origin = f"{record.file.name}, record {record.id}"
    return Case(id=name, requests=tuple(requests), truths=tuple(truths), tags=tags, origin=origin)


def _choices(record: Record, question: str) -> tuple[str, ...]:
    if _kind(record) == "yes_no":
        return ("yes", "no")
    letters = tuple(letter.lower() for letter, _ in _OPTION.findall(question))
    if len(letters) < 2 and not _SIGN.search(question):  # a choice
        raise record.error(f"the question {question!r} has no options such as 'A:sleeping; B:playing;'")
    return letters if len(letters) > 1 else ("a", "b")


def _quads(file: Path, finder: ImageFinder) -> Iterator[Case]:
    taken: set[str] = set()

    def case(record: Record) -> Case:
        name = str(record.count("index"))
        if name in taken:
            raise record.error(f"index {name} is repeated")
        names = record.text("image_0"), record.text("image_1")
        for field, given in zip(("image_0", "image_1"), names, strict=True):
            if not is_plain(given):
                record.reject(field, "a relative path")
        images = [finder.find("naturalbench", one.rpartition("/")[2], file=file, record=record.id) for one in names]
        captions = record.text("caption_0"), record.text("caption_1")
        taken.add(name)
        return Case(
            id=name,
            requests=quad_requests(images, captions),
            truths=QUAD_TRUTHS,
            origin=f"{file.name}, record {record.id}",
        )

    yield from each(case, listed_records(file))
