"""The section of the page that says why cases were missed, from the folder ``explanations/`` of a run."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from vlgate.report.explanations.files import SCHEMA
from vlgate.report.explanations.place import FOLDER, INDEX
from vlgate.report.page.cards import anchor
from vlgate.report.page.pictures import SIDE, encoded
from vlgate.report.page.why_records import Map, Why, Whys

MOST = 40
"""The most explained cases of a page; the folder has all of them."""
_PICTURES = 12  # the most maps of a case by interventions, and the most of attention
_WORDS = 8  # the words whose change moves the margin most


def whys(folder: Path, cards: Collection[str]) -> Whys:
    """Return what the page says of why cases were missed; nothing if the run explained none.

    Args:
        folder: the folder of the run.
        cards: the anchors of the cases that the page shows.

    A folder whose index cannot be read counts as one without explanations, so that it does not cost the page.
    """
    if not (folder / FOLDER / INDEX).is_file():  # reading a pipe would block for ever
        return Whys()
    try:
        content = json.loads((folder / FOLDER / INDEX).read_text(encoding="utf-8"))
        if content["schema"] != SCHEMA:
            return Whys()
        found = content["explanations"]
        shown = tuple(_why(folder / FOLDER, one, content["rates"], cards) for one in found[:MOST])
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
    """Method, word, change of the margin, and whether it turns the verdict; the largest changes first."""
    parts = [
        (finding["method"], part["word"], -part["effect"], part["turns"])
        for finding in one["findings"]
        for part in finding["parts"]
        if part["word"] and part["effect"]
    ]
    return sorted(parts, key=lambda part: -abs(part[2]))[:_WORDS]
