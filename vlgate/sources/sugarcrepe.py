"""SugarCrepe: captions and fluent, plausible negatives that add, replace or swap an object, attribute or relation.

Hsieh et al. 2023, "SugarCrepe: Fixing Hackable Benchmarks for Vision-Language Compositionality". The files are read as
the authors release them (https://github.com/RAIVNLab/sugar-crepe, ``data/``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from vlgate.sources.images import PictureFinder, finder_of
from vlgate.sources.json_file import collector_paused
from vlgate.sources.places import only_file
from vlgate.sources.records import keyed_records
from vlgate.types import Case, Match, Reading, Shape, Table

KINDS = ("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""The seven kinds of negatives, each a file of the release."""

SHAPES: Mapping[str, Shape] = MappingProxyType({f"sugarcrepe/{kind}": "pair" for kind in KINDS})
"""The shape of each table, by id."""


def read(reading: Reading) -> Iterator[Table]:
    """Yield the wanted tables whose file is in a data folder, as ``sugarcrepe/data/<kind>.json`` or without ``data``.

    A case is (picture, caption), (picture, negative caption), in the order of the file, which has all items of the
    kind; its id is the file's key. The pictures are COCO's (val2017).

    Raises: DataError, which names the file and record, for a file in two places, one that cannot be read, a missing
    or wrongly typed field, a blank text, or a picture's name that is no plain relative path.
    """
    finder = finder_of(reading)
    for kind in KINDS:
        table = f"sugarcrepe/{kind}"
        places = (f"sugarcrepe/data/{kind}.json", f"sugarcrepe/{kind}.json")
        file = only_file(reading.folders, *places) if reading.wanted(table) else None
        if file is not None:
            with collector_paused():
                cases = tuple(_cases(file, finder))
            yield Table(id=table, capability="foil", shape="pair", cases=cases)


def _cases(file: Path, finder: PictureFinder) -> Iterator[Case]:
    for record in keyed_records(file):
        picture = finder.find("coco", record.text("filename"), file=file, record=record.id)
        yield Case(
            id=record.id,
            requests=(
                Match(picture=picture, text=record.text("caption")),
                Match(picture=picture, text=record.text("negative_caption")),
            ),
            truths=(True, False),
            origin=f"{file.name}, record {record.id}",
        )
