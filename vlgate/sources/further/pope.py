"""POPE: is an object in the image? And RePOPE, the same questions with labels that were checked again.

Li et al. 2023, "Evaluating Object Hallucination in Large Vision-Language Models"; Neuhaus, Hein 2025, "RePOPE: Impact
of Annotation Errors on the POPE Benchmark". The files are read as the authors release them
(https://github.com/AoiDragon/POPE, https://github.com/YanNeu/RePOPE).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.json_file import FETCH_AGAIN, read_text
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.places import only_file
from vlgate.sources.reading.records import Record, lined_records, listed_records
from vlgate.types import Ask, Case, LazyImage, Shape, Task

KINDS = ("random", "popular", "adversarial")
"""How the absent objects of the questions were chosen."""

_COCO_2023_05 = 2910
"""The questions of COCO's random file in its first release; the later ones have 3,000."""

_SETS: Mapping[str, tuple[str, str, tuple[str, ...]]] = MappingProxyType(
    {
        "pope/coco": ("coco", "coco_pope_{}.json", ("pope/output/coco", "pope/coco", "pope")),
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

    A case is one question with the answers yes and no; its id is the ``question_id``. The files of COCO were changed
    three times under their names; the note of a task says which release its file is, as far as its content tells. In
    today's files the labels alternate from line to line, so the order in which a model is asked must not be theirs.

    Raises: DataError, which names the file and record, if a file is in two places or cannot be read, an id is
        repeated, a field is missing or of the wrong type, or a label is neither yes nor no.
    """
    for start, (source, name, places) in _SETS.items():
        for kind in KINDS:
            task = f"{start}-{kind}"
            wanted = [f"{place}/{name.format(kind)}" for place in places]
            file = only_file(options.folders, *wanted) if options.wanted(task) else None
            if file is not None:
                records = list(_records(file))
                cases = tuple(_cases(records, options.images, source, "question_id"))
                note = _release(kind, records) if start == "pope/coco" else ""
                yield Task(id=task, capability="foil", shape="single", cases=cases, note=note)
    file = only_file(options.folders, *_V2_PLACES) if options.wanted(V2) else None
    if file is not None:
        yield Task(id=V2, capability="foil", shape="single", cases=tuple(_v2_cases(file, options.images)))


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


def _cases(records: Sequence[Record], finder: ImageFinder, source: str, name: str) -> Iterator[Case]:
    taken = set()
    for record in records:
        case = str(record.count(name))
        if case in taken:
            raise record.error(f"{name} {case} is repeated")
        taken.add(case)
        image = finder.find(source, record.text("image"), file=record.file, record=record.id)
        yield _case(case, record, image, "text")


def _v2_cases(file: Path, finder: ImageFinder) -> Iterator[Case]:
    """The questions of POPEv2: an object in a photograph, and in one from which it was removed.

    Both images have the same file name, in different folders: ``/coco/train2017/`` and ``/images/``.
    """
    for record in listed_records(file):
        place = record.text("image_name").lstrip("/")
        original = place.startswith("coco/")
        source, name = ("coco", place.rpartition("/")[2]) if original else ("pope-v2", place)
        yield _case(record.id, record, finder.find(source, name, file=file, record=record.id), "query")


def _case(name: str, record: Record, image: LazyImage, question: str) -> Case:
    label = record.text("label").strip().lower()
    if label not in {"yes", "no"}:
        record.reject("label", "'yes' or 'no'")
    asked = Ask(image=image, question=record.text(question), choices=("yes", "no"))
    return Case(id=name, requests=(asked,), truths=(label,), origin=f"{record.file.name}, record {record.id}")
