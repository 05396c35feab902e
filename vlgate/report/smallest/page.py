"""The page of a run that only searched for smallest changes, so that it has no ``report.html``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from vlgate.report.page.page import html
from vlgate.report.smallest.records import Founds
from vlgate.report.smallest.section import founds
from vlgate.report.whole_file import write_whole

FILE = "shrunk.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """What the page shows: the finds of a model."""

    model: str
    founds: Founds


def write_finds(folder: Path, model: str) -> None:
    """Write ``shrunk.html`` from ``shrunk.jsonl`` of a run's folder; no page if nothing was found.

    Args:
        folder: the folder.
        model: the model that was asked, with its weights.

    Raises: OSError if the file cannot be written.
    """
    found = founds(folder)
    if found.shown:
        write_whole(folder / FILE, html("finds.html", _Content(model=model, founds=found)))
