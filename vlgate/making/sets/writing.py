"""The files of a set: cases in our own shape, which ``sources/benchmarks/own_cases.py`` reads, and their reasons."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vlgate.making.kinds.kind import Item
from vlgate.perturb.foils.candidate import Foil, SentenceSet

WHY = "why.jsonl"
"""The file with the origin, the classes and the reason of each case."""


def as_cases(items: Sequence[Item], name: str) -> dict[str, str]:
    """Return the content of ``cases/<name>.jsonl``, by its path; the task of the cases is ``made/<name>``."""
    lines = [json.dumps(_case(item, f"made/{name}"), ensure_ascii=False) for item in items]
    return {f"cases/{name}.jsonl": "".join(f"{line}\n" for line in lines)}


def as_reasons(items: Sequence[Item]) -> str:
    """Return a line of JSON for each item: ``id``, ``image``, ``origin``, ``why``, and ``classes`` of a foil."""
    return "".join(f"{json.dumps(_reason(item), ensure_ascii=False)}\n" for item in items)


def _case(item: Item, task: str) -> dict[str, Any]:
    made = item.candidate
    fields: Mapping[str, Any]
    if isinstance(made, Foil):
        fields = {"image": item.image, "caption": made.caption, "foil": made.foil}
    elif isinstance(made, SentenceSet):
        fields = {"image": item.image, "true": made.true, "false": made.false}
    else:
        fields = {"images": made.images, "captions": made.captions}
    tags = {"tags": dict(made.tags)} if made.tags else {}
    return {"task": task, "id": item.id, **fields, **tags}


def _reason(item: Item) -> dict[str, Any]:
    classes = {"classes": item.candidate.classes} if isinstance(item.candidate, Foil) else {}
    return {"id": item.id, "image": item.image, "origin": item.origin, "why": item.candidate.why, **classes}
