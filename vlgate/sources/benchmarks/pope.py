"""POPE: is an object in the image? And RePOPE, the same questions with labels that were checked again.

Li et al. 2023, "Evaluating Object Hallucination in Large Vision-Language Models"; Neuhaus, Hein 2025, "RePOPE: Impact
of Annotation Errors on the POPE Benchmark". The files are read as the authors release them
(https://github.com/AoiDragon/POPE, https://github.com/YanNeu/RePOPE). The questions about COCO are also read from
``lmms-lab/POPE`` of the Hugging Face hub: Parquet files with the images inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from vlgate.errors import DataError
from vlgate.sources.reading.image_finder import ImageFinder, is_plain, stem
from vlgate.sources.reading.records import Record, each, lined_records, listed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.tables import Row, by_kind, table_files, table_rows
from vlgate.sources.reading.text_files import FETCH_AGAIN, read_text
from vlgate.types import Ask, Case, LazyImage, Shape, Task

KINDS = ("random", "popular", "adversarial")
"""How the absent objects of the questions were chosen."""

_COCO_2023_05 = 2910
"""The questions of COCO's random file in its first release; the later ones have 3,000."""

COCO = "pope/coco"
HUB = "lmms-lab/POPE"
_TABLES = f"take the Parquet files of {HUB}, or coco_pope_*.json of https://github.com/AoiDragon/POPE"

_SETS: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        COCO: ("coco", "coco_pope_{}.json", ("pope/output/coco", "pope/coco", "pope")),
        "pope/gqa": ("gqa", "gqa_pope_seem_{}.json", ("pope/output/seem/gqa", "pope/output", "pope/gqa", "pope")),
        "pope/aokvqa": (
            "coco",
            "aokvqa_pope_seem_{}.json",
            ("pope/output/seem/aokvqa", "pope/output", "pope/aokvqa", "pope"),
        ),
        "pope/repope": ("coco", "coco_repope_{}.json", ("repope/annotations", "repope", "pope/repope")),
    },
)
"""For the beginning of a task's id: the source of its images, the name of its file, and where the file may be."""

V2 = "pope/v2"
_V2_PLACES = ("pope/POPEv2/dataset/annotations.json", "POPEv2/dataset/annotations.json", "pope/annotations.json")

_TASKS = (*(f"{start}-{kind}" for start in _SETS for kind in KINDS), V2)
SHAPES: Mapping[str, Shape] = MappingProxyType(dict.fromkeys(_TASKS, "single"))
"""The shape of each task, by id."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, where the release has it or in ``pope`` or ``repope``.

    A case is one question with the answers yes and no; its id is the ``question_id``. The tables of ``lmms-lab/POPE``
    may be in ``pope``, ``pope/data`` or ``pope/Full``; the tasks are told by the column ``category``, and images have
    the keys of COCO's files. The files of COCO were changed
    three times under their names; the note of a task says which release its file is, as far as its content tells. In
    today's files the labels alternate from line to line, so the order in which a model is asked must not be theirs.
    """
    for start, (source, name, places) in _SETS.items():
        tables = _tables(options) if start == COCO else []
        lacking = []
        for kind in filter(lambda kind: options.wanted(f"{start}-{kind}"), KINDS):
            file = only_file(options.folders, *(f"{place}/{name.format(kind)}" for place in places))
            if file is None:
                lacking.append(kind)
                continue
            if tables:
                raise DataError(file, None, f"has questions that are also in {tables[0]}", "keep one of them")
            records = list(_records(file))
            cases = tuple(_cases(records, options.images, source))
            note = _release(kind, records) if start == COCO else ""
            yield Task(id=f"{start}-{kind}", capability="foil", shape="single", cases=cases, note=note)
        if tables and lacking:
            yield from _table_tasks(tables, lacking)
    file = only_file(options.folders, *_V2_PLACES) if options.wanted(V2) else None
    if file is not None:
        cases = tuple(each(partial(_v2_case, finder=options.images), listed_records(file)))
        yield Task(id=V2, capability="foil", shape="single", cases=cases)


def _tables(options: ReadOptions) -> list[Path]:
    """The files of ``lmms-lab/POPE``, whose folder ``Full`` has the rows of ``data`` once more."""
    if not any(options.wanted(f"{COCO}-{kind}") for kind in KINDS):
        return []
    places = (("", "data", "test", "POPE/data"), ("Full", "POPE/Full"))
    found = ([folder / "pope" / place for folder in options.folders for place in group] for group in places)
    return next(filter(None, map(table_files, found)), [])


def _table_tasks(files: Sequence[Path], kinds: Sequence[str]) -> Iterator[Task]:
    for kind, cases in by_kind(_table_case, table_rows(files, ("image",), _TABLES), _category, kinds).items():
        if cases:
            yield Task(
                id=f"{COCO}-{kind}", capability="foil", shape="single", cases=cases, note=f"the file is that of {HUB}"
            )


def _category(record: Record) -> str:
    kind = record.text("category").strip().lower()
    if kind not in KINDS:
        record.reject("category", " or ".join(map(repr, KINDS)))
    return kind


def _table_case(row: Row) -> Case:
    record = row.record
    name = record.text("image_source")
    key = name if stem(name) != name else f"{name}.jpg"
    if not is_plain(key):
        record.reject("image_source", "the name of an image of COCO")
    return _case(str(record.number("question_id")), record, row.image(key, "image"), "question", "answer")


def _records(file: Path) -> Iterator[Record]:
    """The records of a file: COCO's are JSON lines, the others one list."""
    text = read_text(file, FETCH_AGAIN)
    return listed_records(file) if text.lstrip().startswith("[") else lined_records(file)


def _release(kind: str, records: Sequence[Record]) -> str:
    """Say which of the four releases of a COCO file this is."""
    if any("image_id" in record.fields for record in records):
        return "the file is that of 2023-08-04, another draw than the others; it was replaced after six days"
    misspelled = sum("imange" in str(record.fields.get("text")) for record in records)
    if misspelled and kind == "adversarial":
        return "the file is older than 2023-11-16: some questions have 'imange' for 'image'"
    if misspelled or (kind == "random" and len(records) == _COCO_2023_05):
        return "the file is older than 2023-10-09: some questions have 'imange' for 'image'" + (
            ", and 90 of its 3,000 questions are missing" if kind == "random" else ""
        )
    return f"the file is that of {'2023-11-16' if kind == 'adversarial' else '2023-10-09 or later'}"


def _cases(records: Sequence[Record], finder: ImageFinder, source: str) -> Iterator[Case]:
    taken: set[str] = set()

    def case(record: Record) -> Case:
        name = str(record.count("question_id"))
        if name in taken:
            raise record.error(f"question_id {name} is repeated")
        image = finder.find(source, record.text("image"), file=record.file, record=record.id)
        made = _case(name, record, image, "text")
        taken.add(name)
        return made

    yield from each(case, records)


def _v2_case(record: Record, finder: ImageFinder) -> Case:
    """A question of POPEv2: an object in a photograph, or in one from which it was removed.

    Both images have the same file name, in different folders: ``/coco/train2017/`` and ``/images/``.
    """
    place = record.text("image_name").lstrip("/")
    original = place.startswith("coco/")
    source, name = ("coco", place.rpartition("/")[2]) if original else ("pope-v2", place)
    return _case(record.id, record, finder.find(source, name, file=record.file, record=record.id), "query")


def _case(name: str, record: Record, image: LazyImage, question: str, answer: str = "label") -> Case:
    label = record.text(answer).strip().lower()
    if label not in {"yes", "no"}:
        record.reject(answer, "'yes' or 'no'")
    asked = Ask(image=image, question=record.text(question), choices=("yes", "no"))
    return Case(id=name, requests=(asked,), truths=(label,), origin=f"{record.file.name}, record {record.id}")
