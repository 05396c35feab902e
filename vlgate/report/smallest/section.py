"""The section of the page with the smallest changes that break the model, from ``shrunk.jsonl`` of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from vlgate.report.page.pictures import THUMB, encoded
from vlgate.report.shrunk import FILE, FOLDER
from vlgate.report.smallest.records import Found, Founds, Said
from vlgate.shrink.causes import Cause, clusters

MOST = 40
"""The most finds of a page, the smallest ones; the file has all of them."""
MOST_CAUSES = 10


def founds(folder: Path) -> Founds:
    """Return what the page says of the smallest changes of a run; nothing if it searched for none.

    A file that cannot be read counts as one without finds, so that it does not cost the page.
    """
    if not (folder / FILE).is_file():  # reading a pipe would block for ever
        return Founds()
    try:
        lines = (folder / FILE).read_text(encoding="utf-8").split("\n")
        rows = sorted(
            (json.loads(line) for line in lines if line), key=lambda row: (len(row["steps"]), row["distance"])
        )
        shown = tuple(_found(folder, row) for row in rows[:MOST])
        causes = clusters([Cause(**row["cause"]) for row in rows if row["cause"]])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return Founds()
    said = tuple(f"{number}: {one.edit}, {one.what}, {one.faculty}" for one, number in causes[:MOST_CAUSES])
    return Founds(shown=shown, all=len(rows), causes=said)


def _found(folder: Path, row: Mapping[str, Any]) -> Found:
    cause = row["cause"]
    margins = [row["margin"], row["margin_changed"]]
    return Found(
        task=row["task"],
        case=row["case"],
        says=row["says"],
        why=row["why_changed"],
        cause=", ".join((cause["edit"], cause["what"], cause["faculty"])) if cause else "",
        size=f"{row['distance']:.3f}",
        margins="" if None in margins else f"{margins[0]:+.3g} before, {margins[1]:+.3g} after",
        seed=str(row["seed"]),
        requests=tuple(_said(folder, one) for one in row["requests"]),
    )


def _said(folder: Path, one: Mapping[str, Any]) -> Said:
    return Said(
        truth=str(one["truth"]).lower() if isinstance(one["truth"], bool) else str(one["truth"]),
        picture=_picture(folder, one.get("picture")),
        text=_text(one["text"], one["choices"]),
        reply=_reply(one["answer"], one["score"]),
        changed_picture=_picture(folder, one.get("changed_picture")),
        changed_text=_text(one["changed_text"], one["changed_choices"]),
        changed_reply=_reply(one["changed_answer"], one["changed_score"]),
    )


def _text(words: str, choices: list[str]) -> str:
    return f"{words} [{', '.join(choices)}]" if choices else words


def _reply(answer: str | None, score: float | None) -> str:
    if answer is not None:
        return answer
    return "none" if score is None else f"{score:.4g}"


def _picture(folder: Path, name: str | None) -> str:
    from PIL.Image import open as decoded

    if not name:
        return ""
    try:
        with decoded(BytesIO((folder / FOLDER / Path(name).name).read_bytes())) as image:
            return encoded(image.convert("RGB"), THUMB)
    except (OSError, ValueError, SyntaxError):
        return ""  # the page shows the find without it
