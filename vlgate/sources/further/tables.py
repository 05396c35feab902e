"""The tables of a release: in a data folder, or from the Hugging Face hub if the user asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vlgate.sources.reading.hub import dataset_folder
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.tables import KINDS, table_files

_INSIDE = ("", "data", "data/test", "test")
"""The folders of a release that may hold the table; ``save_to_disk`` makes one for each split."""


def release_files(options: ReadOptions, benchmark: str, hub: str, kinds: Sequence[str] = KINDS) -> list[Path]:
    """Return the files of a release; an empty list if there are none.

    Args:
        options: with the data folders, and perhaps the protocol ``<benchmark>_hub``, which fetches the release.
        benchmark: its name, which is that of its folder in a data folder.
        hub: the name of the data set on the hub.
        kinds: the patterns of the files' names.

    Raises: DataError if the release is in two places, or cannot be fetched.
    """
    fetched = (
        [dataset_folder(hub, list(kinds) + [f"**/{kind}" for kind in kinds])]
        if (f"{benchmark}_hub" in options.protocols)
        else []
    )
    whole = [*(folder / benchmark for folder in options.folders), *fetched]
    return table_files([folder / place for folder in whole for place in _INSIDE], kinds)


def other_form(options: ReadOptions, *patterns: str) -> str:
    """Return the path of a file that matches one of the patterns in a data folder; empty if none does.

    It is for the forms of a release that are not read, so that a task without cases can say so.
    """
    found = sorted(str(one) for folder in options.folders for pattern in patterns for one in folder.glob(pattern))
    return found[0] if found else ""
