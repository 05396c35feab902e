"""VALSE: captions and foils for existence, plurality, counting, relations, actions and coreference.

Parcalabescu et al. 2022, "VALSE: A Task-Independent Benchmark for Vision and Language Models Centered on Linguistic
Phenomena". The files are read as the authors release them (https://github.com/Heidelberg-NLP/VALSE, ``data/``).
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vlgate.sources.reading.records import Record, each, keyed_records
from vlgate.sources.reading.source import Find, ReadOptions, Source, TaskRow, pair_of, present, shapes_of
from vlgate.types import Case, Task

Tag = tuple[str, str] | None
Tagger = Callable[[Record], Tag]

# The reason for leaving a record out of the valid subset (section 4, "Human annotation"; Table 5).
INVALID = "not valid (mturk.caption < 2; --protocol valse_all asks these too)"

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
    return ("dataset", record.text("dataset")) if "dataset" in record.fields else None


@dataclass(frozen=True, slots=True)
class Instrument:
    file: str
    images: str
    taggers: tuple[Tagger, ...] = (dataset,)


# The eleven tasks (Table 1; the release calls "balanced" hard, "small numbers" small-quant and "clean" hard).
TASKS: Mapping[str, Instrument] = {
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
}

_ROWS = [
    TaskRow(
        id=task, shape="pair", capability="foil", places=(f"valse/data/{of.file}", f"valse/{of.file}"), images=of.images
    )
    for task, of in TASKS.items()
]

# ``foil`` must be one string, as in the release; a list, even of one string, is an error, because its format was not
# checked. A record's id is unique only within its task: the release uses the same ids in several files.


def _read(options: ReadOptions) -> Iterator[Task]:
    every = "valse_all" in options.protocols
    for row, file in present(options, _ROWS):
        cases = list(_cases(row, file, options.find(row.images), every=every))
        kept = [case for case in cases if case is not None]
        yield row.task(kept, left_out={INVALID: len(cases) - len(kept)} if len(kept) < len(cases) else {})


def _cases(row: TaskRow, file: Path, find: Find, *, every: bool) -> Iterator[Case | None]:
    taggers = TASKS[row.id].taggers
    shared: dict[tuple[Tag, ...], Mapping[str, str]] = {}  # few different tags, and hundreds of cases with each

    def case(record: Record) -> Case | None:
        votes = record.nested("mturk")
        valid, _, _ = votes.count("caption"), votes.count("foil"), votes.count("other")
        if valid < 2 and not every:
            return None
        image = find(record, record.text("image_file"))
        tags = tuple([tagger(record) for tagger in taggers])
        known = shared.setdefault(tags, dict(tag for tag in tags if tag))
        return pair_of(record, image, ("caption", "foil"), known)

    yield from each(case, keyed_records(file))


VALSE = Source(read=_read, shapes=shapes_of(_ROWS), take="data/*.json of https://github.com/Heidelberg-NLP/VALSE")
