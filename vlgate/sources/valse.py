"""VALSE: captions and foils for existence, plurality, counting, relations, actions and coreference.

Parcalabescu et al. 2022, "VALSE: A Task-Independent Benchmark for Vision and Language Models Centered on Linguistic
Phenomena". The files are read as the authors release them (https://github.com/Heidelberg-NLP/VALSE, ``data/``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.images import PictureFinder, finder_of
from vlgate.sources.json_file import collector_paused
from vlgate.sources.places import only_file
from vlgate.sources.records import Record, keyed_records
from vlgate.types import Case, Match, Reading, Shape, Table

Tag = tuple[str, str] | None
Tagger = Callable[[Record], Tag]
SharedTags = dict[tuple[Tag, ...], Mapping[str, str]]

INVALID = "not valid (mturk.caption < 2)"
"""Why a record is left out of the valid subset (section 4, "Human annotation"; Table 5)."""

# The paper's names (sg2pl, pl2sg; section 3.2 and appendix A.2) for what the release writes out.
_DIRECTIONS = {"checklist method, change NP to PL": "sg2pl", "checklist method, change NP to SG": "pl2sg"}


def provenance(record: Record) -> Tag:
    """Tag existence by the direction of the foil: ``zero_to_something`` or ``something_to_zero`` (appendix A.1)."""
    return ("provenance", record.text("provenance_of_foils")) if "provenance_of_foils" in record.fields else None


def direction(record: Record) -> Tag:
    """Tag plurality by the direction of the foil: ``sg2pl`` or ``pl2sg`` (section 3.2, appendix A.2).

    Raises: DataError for a ``foil_method`` that is neither.
    """
    if "foil_method" not in record.fields:
        return None
    method = record.text("foil_method")
    if method not in _DIRECTIONS:
        record.reject("foil_method", f"one of {', '.join(map(repr, _DIRECTIONS))}")
    return "direction", _DIRECTIONS[method]


def number(record: Record) -> Tag:
    """Tag counting by the caption's number, which the paper calls its class (section 3.3, appendix A.3, Figure 3).

    Raises: DataError where it is neither an integer nor a string.
    """
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
    """One table of VALSE: its file in the release, where its pictures come from, and how its cases are tagged."""

    file: str
    pictures: str
    taggers: tuple[Tagger, ...] = (dataset,)


TABLES: Mapping[str, Instrument] = MappingProxyType(
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
"""The eleven tables (Table 1; the release calls "balanced" hard, "small numbers" small-quant and "clean" hard)."""

SHAPES: Mapping[str, Shape] = MappingProxyType(dict.fromkeys(TABLES, "pair"))
"""The shape of each table, by id."""


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables whose file is in a data folder, as ``valse/data/<file>`` or ``valse/<file>``.

    A case is (picture, caption), (picture, foil) with the truths (True, False), in the order of the file. Its id is
    the record's, which is unique in its table only: the release uses ids in several files. ``foil`` is one string as
    in the release; a list, even of one string, is an error, for then it is another format than the one checked.
    The records that at least two of three annotators found valid are taken, as the paper's results do (section 4,
    Table 5), and the others are counted in ``left_out``; the protocol ``valse_all`` takes all records.

    Raises: DataError, which names the file and record, for a file in two places, one that cannot be read, a missing
    or wrongly typed field, a blank text, or a picture's name that is no plain relative path.
    """
    finder = finder_of(reading)
    for table, instrument in TABLES.items():
        names = (f"valse/data/{instrument.file}", f"valse/{instrument.file}")
        file = only_file(reading.folders, *names) if reading.wanted(table) else None
        if file is not None:
            valid_only = "valse_all" not in reading.protocols
            yield _table(table, file, finder, valid_only=valid_only)


def _table(table: str, file: Path, finder: PictureFinder, *, valid_only: bool) -> Table:
    cases = []
    left_out = 0
    tags: SharedTags = {}
    with collector_paused():
        for record in keyed_records(file):
            if _votes(record) < 2 and valid_only:
                left_out += 1
            else:
                cases.append(_case(table, record, finder, tags))
    return Table(
        id=table,
        capability="foil",
        shape="pair",
        cases=tuple(cases),
        left_out={INVALID: left_out} if left_out else {},
    )


def _votes(record: Record) -> int:
    """Return how many annotators chose the caption alone; all three counts must be there (section 4)."""
    votes = record.nested("mturk")
    caption, _, _ = votes.count("caption"), votes.count("foil"), votes.count("other")
    return caption


def _case(table: str, record: Record, finder: PictureFinder, shared: SharedTags) -> Case:
    picture = finder.find(
        TABLES[table].pictures,
        record.text("image_file"),
        file=record.file,
        record=record.id,
    )
    found = tuple(tagger(record) for tagger in TABLES[table].taggers)
    return Case(
        id=record.id,
        requests=(
            Match(picture=picture, text=record.text("caption")),
            Match(picture=picture, text=record.text("foil")),
        ),
        truths=(True, False),
        tags=shared.setdefault(found, dict(tag for tag in found if tag)),
        origin=f"{record.file.name}, record {record.id}",
    )
