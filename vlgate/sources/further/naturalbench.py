"""NaturalBench: two questions about two photographs whose answers are crossed; and captions of the same images.

Li et al. 2024, "NaturalBench: Evaluating Vision-Language Models on Natural Adversarial Samples". The release is the
data set ``BaiqiL/NaturalBench`` of the Hugging Face hub: Parquet files with the images inside. Put them into
``naturalbench/data`` or ``naturalbench`` of a data folder, or let the protocol ``naturalbench_hub`` fetch them. The
captions are ``metadata.json`` with a folder of images, unpacked from ``NaturalBench-Retrieval.zip``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.further.tables import other_form, release_files
from vlgate.sources.reading.image_finder import ImageFinder, is_plain
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.places import only_file
from vlgate.sources.reading.quads import QUAD_TRUTHS, quad_requests
from vlgate.sources.reading.records import listed_records
from vlgate.sources.reading.tables import Row, table_rows
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
_RETRIEVAL_PLACES = (
    "naturalbench/NaturalBench-Retrieval/metadata.json",
    "naturalbench/retrieval/metadata.json",
    "NaturalBench-Retrieval/metadata.json",
)


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose files are in a data folder.

    A case of the questions is (image_0, question_0), (image_0, question_1), (image_1, question_0), (image_1,
    question_1); its id is the row's ``Index``. The right answers are those of the row. The choices of
    ``naturalbench/multiple-choice`` stand in the text of the question ("Option: A:...; B:...;"): the choices are the
    letters. A case of ``naturalbench/retrieval`` is a quad; its id is the record's ``index``.

    Raises: DataError, which names the file and row, if a file cannot be read, an id is repeated, a field is missing
        or blank, or an answer is none of the choices.
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
    cases: dict[str, dict[str, Case]] = {kind: {} for kind in _TYPES}
    taken: set[str] = set()
    for row in table_rows(files, ("Image_0", "Image_1")):
        kind = row.record.text("Question_Type")
        if kind not in cases:
            row.record.reject("Question_Type", " or ".join(map(repr, _TYPES)))
        case = _questions(row)
        if case.id in taken:
            raise row.record.error(f"index {case.id} is repeated")
        taken.add(case.id)
        cases[kind][case.id] = case
    for kind, task in _TYPES.items():
        if cases[kind] and options.wanted(task):
            kept = tuple(cases[kind].values())
            yield Task(id=task, capability="compositional", shape="question_quad", cases=kept)


def _unread(task: str, pattern: str, remedy: str, options: ReadOptions) -> Iterator[Task]:
    """A task without cases that says why, if the release is there in a form that is not read."""
    if options.wanted(task) and (found := other_form(options, pattern)):
        yield Task(id=task, capability="compositional", shape=SHAPES[task], cases=(), note=f"{found} {remedy}")


def _questions(row: Row) -> Case:
    record = row.record
    name = str(record.count("Index"))
    images = [row.image(f"naturalbench_{name}_{which}", f"Image_{which}") for which in (0, 1)]
    texts = record.text("Question_0"), record.text("Question_1")
    choices = [_choices(row, text) for text in texts]
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


def _choices(row: Row, question: str) -> tuple[str, ...]:
    if row.record.fields["Question_Type"] == "yes_no":
        return ("yes", "no")
    letters = tuple(letter.lower() for letter, _ in _OPTION.findall(question))
    if len(letters) < 2:  # a choice
        raise row.record.error(f"the question {question!r} has no options such as 'A:sleeping; B:playing;'")
    return letters


def _quads(file: Path, finder: ImageFinder) -> Iterator[Case]:
    taken = set()
    for record in listed_records(file):
        name = str(record.count("index"))
        if name in taken:
            raise record.error(f"index {name} is repeated")
        taken.add(name)
        names = record.text("image_0"), record.text("image_1")
        for field, given in zip(("image_0", "image_1"), names, strict=True):
            if not is_plain(given):
                record.reject(field, "a relative path")
        images = [finder.find("naturalbench", one.rpartition("/")[2], file=file, record=record.id) for one in names]
        captions = record.text("caption_0"), record.text("caption_1")
        yield Case(
            id=name,
            requests=quad_requests(images, captions),
            truths=QUAD_TRUTHS,
            origin=f"{file.name}, record {record.id}",
        )
