"""VALSE: captions and foils for existence, plurality, counting, relations, actions and coreference.

Parcalabescu et al. 2022, "VALSE: A Task-Independent Benchmark for Vision and Language Models Centered on Linguistic
Phenomena". The files are read as the authors release them (https://github.com/Heidelberg-NLP/VALSE, ``data/``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.reading.image_finder import ImageFinder
from vlgate.sources.reading.records import Record, each, keyed_records
from vlgate.sources.reading.source import ReadOptions, only_file
from vlgate.sources.reading.text_files import collector_paused
from vlgate.types import Case, Match, Shape, Task

Tag = tuple[str, str] | None
Tagger = Callable[[Record], Tag]
SharedTags = dict[tuple[Tag, ...], Mapping[str, str]]

INVALID = "not valid (mturk.caption < 2; --protocol valse_all asks these too)"
"""The reason for leaving a record out of the valid subset (section 4, "Human annotation"; Table 5)."""

# The release's values of foil_method and the paper's short names for them (section 3.2 and appendix A.2).
_DIRECTIONS = {"checklist method, change NP to PL": "sg2pl", "checklist method, change NP to SG": "pl2sg"}


def provenance(record: Record) -> Tag:
    """Tag existence by the direction of the foil: ``zero_to_something`` or ``something_to_zero`` (appendix A.1)."""
    return ("provenance", record.text("provenance_of_foils")) if "provenance_of_foils" in record.fields else None


def direction(record: Record) -> Tag:
    """Tag plurality by the direction of the foil: ``sg2pl`` or ``pl2sg`` (section 3.2, appendix A.2)."""
    if "foil_method" not in record.fields:
        return None
    method = record.text("foil_method")
    if method not in _DIRECTIONS:
        record.reject("foil_method", f"one of {', '.join(map(repr, _DIRECTIONS))}")
    return "direction", _DIRECTIONS[method]


def number(record: Record) -> Tag:
    """Tag counting by the caption's number, which the paper calls its class (section 3.3, appendix A.3, Figure 3)."""
    field = "answer" if "answer" in record.fields else "classes"
    if field not in record.fields:
        return None
    value = record.fields[field]
    if type(value) not in {int, str}:
        record.reject(field, "an integer or a string")
    return "class", record.text(field) if type(value) is str else str(value)


def dataset(record: Record) -> Tag:
    """Tag any case by the dataset that its caption comes from (Table 1)."""
    return ("dataset", record.text("dataset")) if "dataset" in record.fields else None


@dataclass(frozen=True, slots=True)
class Instrument:
    """One task of VALSE: its file in the release, the source of its images, and the taggers of its cases."""

    file: str
    images: str
    taggers: tuple[Tagger, ...] = (dataset,)


TASKS: Mapping[str, Instrument] = MappingProxyType(
    {
        "valse/existence": Instrument("existence.json", "visual7w", (provenance, dataset)),
        "valse/plurality": Instrument("plurals.json", "coco", (direction, dataset)),
        "valse/counting-balanced": Instrument("counting-hard.json", "visual7w", (number, dataset)),
        "valse/counting-small": Instrument("counting-small-quant.json", "visual7w", (number, dataset)),
        "valse/counting-adversarial": Instrument("counting-adversarial.json", "visual7w", (number, dataset)),
        "valse/relations": Instrument("relations.json", "coco"),
        "valse/action-replacement": Instrument("action-replacement.json", "swig"),
        "valse/actant-swap": Instrument("actant-swap.json", "swig"),
        "valse/coreference-standard": Instrument("coreference-standard.json", "coco"),
        "valse/coreference-clean": Instrument("coreference-hard.json", "coco"),
        "valse/foil-it": Instrument("foil-it.json", "coco"),
    },
)
"""The eleven tasks (Table 1; the release calls "balanced" hard, "small numbers" small-quant and "clean" hard)."""

SHAPES: Mapping[str, Shape] = MappingProxyType(dict.fromkeys(TASKS, "pair"))
"""The shape of each task, by id."""


def read(options: ReadOptions) -> Iterator[Task]:
    """Yield the wanted tasks whose file is in a data folder, as ``valse/data/<file>`` or ``valse/<file>``.

    A case is (image, caption), (image, foil) with the truths (True, False), in the order of the file. Its id is
    the record's, which is unique only within its task, because the release uses the same ids in several files.
    ``foil`` must be one string, as in the release; a list, even of one string, is an error, because its format was
    not checked. Only the records that at least two of three annotators found valid are taken, as for the paper's
    results (section 4, Table 5), and the others are counted in ``left_out``; the protocol ``valse_all`` takes all
    records.
    """
    finder = options.images
    for task, instrument in TASKS.items():
        names = (f"valse/data/{instrument.file}", f"valse/{instrument.file}")
        file = only_file(options.folders, *names) if options.wanted(task) else None
        if file is not None:
            valid_only = "valse_all" not in options.protocols
            yield _task(task, file, finder, valid_only=valid_only)


def _task(task: str, file: Path, finder: ImageFinder, *, valid_only: bool) -> Task:
    tags: SharedTags = {}

    def case(record: Record) -> Case | None:
        return None if _votes(record) < 2 and valid_only else _case(task, record, finder, tags)

    with collector_paused():
        found = list(each(case, keyed_records(file)))
    cases = tuple(filter(None, found))
    left_out = len(found) - len(cases)
    return Task(
        id=task,
        capability="foil",
        shape="pair",
        cases=cases,
        left_out={INVALID: left_out} if left_out else {},
    )


def _votes(record: Record) -> int:
    """Return how many annotators chose the caption alone; the record must have all three counts (section 4)."""
    votes = record.nested("mturk")
    caption, _, _ = votes.count("caption"), votes.count("foil"), votes.count("other")
    return caption


def _case(task: str, record: Record, finder: ImageFinder, shared: SharedTags) -> Case:
    image = finder.find(
        TASKS[task].images,
        record.text("image_file"),
        file=record.file,
        record=record.id,
    )
    found = tuple([tagger(record) for tagger in TASKS[task].taggers])
    tags = shared.get(found)
    if tags is None:
        tags = shared[found] = dict(tag for tag in found if tag)
    return Case(
        id=record.id,
        requests=(
            Match(image=image, text=record.text("caption")),
            Match(image=image, text=record.text("foil")),
        ),
        truths=(True, False),
        tags=tags,
        origin=f"{record.file.name}, record {record.id}",
    )
