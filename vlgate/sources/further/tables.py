"""The tables of a release: in a data folder, or from the Hugging Face hub if the user asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vlgate.sources.reading.hub import dataset_folder
from vlgate.sources.reading.options import ReadOptions
from vlgate.sources.reading.tables import KINDS, table_files


def release_files(
    options: ReadOptions, benchmark: str, places: Sequence[str], hub: str, kinds: Sequence[str] = KINDS
) -> list[Path]:
    """Return the files of a release; an empty list if there are none.

    Args:
        options: with the data folders, and perhaps the protocol ``<benchmark>_hub``, which fetches the release.
        benchmark: its name.
        places: the folders in a data folder that may hold the files.
        hub: the name of the data set on the hub.
        kinds: the patterns of the files' names.

    Raises: DataError if the release is in two places, or cannot be fetched.
    """
    fetched = (
        [dataset_folder(hub, list(kinds) + [f"**/{kind}" for kind in kinds])]
        if (f"{benchmark}_hub" in options.protocols)
        else []
    )
    inside = [place for folder in fetched for place in (folder, folder / "data")]
    return table_files([folder / place for folder in options.folders for place in places] + inside, kinds)
