"""The sections of a page that say why cases were missed: explanations, and the smallest changes that break."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from vlgate.probes.shrink.record import Cause, clusters
from vlgate.record.results_folder import FOLDER, INDEX
from vlgate.report.explanations import SCHEMA
from vlgate.report.page.cards import SIDE, THUMB, anchor, encoded
from vlgate.report.page.records import Found, Founds, Map, Said, Why, Whys
from vlgate.report.shrunk import FILE, SHRUNK_FOLDER

# The section of the page that says why cases were missed, from the folder ``explanations/`` of a run.

MOST_EXPLAINED = 40
"""The most explained cases of a page; the folder has all of them."""
_PICTURES = 12  # the most maps of a case by interventions, and the most of attention
_WORDS = 8  # the words whose change moves the margin most


def whys(folder: Path, cards: Collection[str]) -> Whys:
    """Return what the page says of why cases were missed; nothing if the run explained none.

    A folder whose index cannot be read counts as one without explanations, so that it does not cost the page.
    """
    if not (folder / FOLDER / INDEX).is_file():  # reading a pipe would block for ever
        return Whys()
    try:
        content = json.loads((folder / FOLDER / INDEX).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            return Whys()
        found = content["explanations"]
        shown = tuple(_why(folder / FOLDER, one, content["rates"], cards) for one in found[:MOST_EXPLAINED])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
        return Whys()
    return Whys(shown=shown, all=len(found), attention=content["attention"])


def _why(place: Path, one: Mapping[str, Any], rates: Mapping[str, list[str]], cards: Collection[str]) -> Why:
    place_of_card = anchor(f"{one['task']}/{one['case']}")
    done = [picture for picture in one["pictures"] if not picture["attention"]][:_PICTURES]
    seen = [picture for picture in one["pictures"] if picture["attention"]][:_PICTURES]
    return Why(
        task=one["task"],
        case=one["case"],
        anchor=place_of_card if place_of_card in cards else "",
        texts=tuple(one["texts"]),
        says=one["says"],
        maps=tuple(_map(place, picture, rates) for picture in done),
        attention=tuple(_map(place, picture, rates) for picture in seen),
        words=tuple(_words(one)),
    )


def _map(place: Path, picture: Mapping[str, Any], rates: Mapping[str, list[str]]) -> Map:
    from PIL.Image import open as decoded

    file = place / Path(picture["file"]).name
    with decoded(BytesIO(file.read_bytes())) as image:
        source = encoded(image.convert("RGB"), SIDE)
    about = f"{picture['text']} [{picture['word']}]" if "word" in picture else picture.get("text", "")
    return Map(source=source, method=picture["method"], about=about, rates=tuple(rates.get(picture["method"], ())))


def _words(one: Mapping[str, Any]) -> list[tuple[str, str, float, bool]]:
    # Method, word, change of the margin, and whether it turns the verdict; the largest changes first
    parts = [
        (finding["method"], part["word"], -part["effect"], part["turns"])
        for finding in one["findings"]
        for part in finding["parts"]
        if part["word"] and part["effect"]
    ]
    return sorted(parts, key=lambda part: -abs(part[2]))[:_WORDS]


# The section of the page with the smallest changes that break the model, from ``shrunk.jsonl`` of a run.

MOST_SHRUNK = 40
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
        shown = tuple(_found(folder, row) for row in rows[:MOST_SHRUNK])
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
        with decoded(BytesIO((folder / SHRUNK_FOLDER / Path(name).name).read_bytes())) as image:
            return encoded(image.convert("RGB"), THUMB)
    except (OSError, ValueError, SyntaxError):
        return ""  # the page shows the find without it
