"""Where the explanations of a run are. It is apart from what writes them, because every start of pytest needs it."""

from __future__ import annotations

from pathlib import Path

FOLDER = "explanations"
INDEX = "index.json"


def remove_explanations(folder: Path) -> None:
    """Remove the explanations of an earlier run; other files of that folder stay.

    Raises: OSError if a file cannot be removed.
    """
    place = folder / FOLDER
    (place / INDEX).unlink(missing_ok=True)
    for file in place.glob("[0-9]*-*.png"):
        file.unlink()
    if place.is_dir() and not any(place.iterdir()):
        place.rmdir()
