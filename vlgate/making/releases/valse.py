"""VALSE's format: an object of records by id in ``valse/data/<file>`` (https://github.com/Heidelberg-NLP/VALSE)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vlgate.making.kinds.kind import Item, Release
from vlgate.perturb.foils.candidate import Foil

NO_VOTES = {"caption": 0, "foil": 0, "other": 0}
"""The votes of a record that nobody has judged. Its reader takes such records with the protocol ``valse_all``."""

_METHODS = {"sg2pl": "checklist method, change NP to PL", "pl2sg": "checklist method, change NP to SG"}


def valse(file: str, phenomenon: str) -> Release:
    """Return what writes items as one of VALSE's files, such as ``plurals.json``.

    A record has the release's common fields. Its votes are zero until people have judged it. The tags ``direction`` and
    ``provenance`` become the release's fields, and so do the fields in ``Item.extra``.
    """

    def release(items: Sequence[Item]) -> Mapping[str, str]:
        """Write the items as a file of the release."""
        records = {item.id: _record(item, phenomenon) for item in items}
        return {f"valse/data/{file}": json.dumps(records, ensure_ascii=False, indent=1) + "\n"}

    return release


def _record(item: Item, phenomenon: str) -> dict[str, Any]:
    made = item.candidate
    if not isinstance(made, Foil):
        raise TypeError(f"item {item.id!r} has neither caption nor foil")
    record: dict[str, Any] = {
        "dataset": item.origin.partition(",")[0],
        "dataset_idx": item.origin.partition(", ")[2],
        "linguistic_phenomena": phenomenon,
        "image_file": item.image,
        "caption": made.caption,
        "classes": made.classes[0],
        "classes_foil": made.classes[1],
        "mturk": NO_VOTES,
        "foil": made.foil,
    }
    if made.tags.get("direction") in _METHODS:
        record["foil_method"] = _METHODS[made.tags["direction"]]
    if "provenance" in made.tags:
        record["provenance_of_foils"] = made.tags["provenance"]
    return record | dict(item.extra)
