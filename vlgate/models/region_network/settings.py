"""The settings of a region network, as its folder holds them: ``region_network.json``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from vlgate.errors import ModelLoadError

SETTINGS = "region_network.json"
WEIGHTS = "region_network.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a region network is made of.

    ``crop`` is the side of a crop in pixels, ``channels`` and ``strides`` those of the convolutions, ``width`` the
    numbers per box, ``count`` the most boxes of an image that are kept, ``overlap`` the share that two kept boxes may
    have in common, and ``sure`` the least probability that a kept box holds anything. ``objects`` and ``attributes``
    are the words that the network was trained to name.
    """

    crop: int
    channels: tuple[int, ...]
    strides: tuple[int, ...]
    width: int
    count: int
    overlap: float
    sure: float
    objects: tuple[str, ...]
    attributes: tuple[str, ...]


def read_settings(folder: Path) -> Settings:
    """Read the settings of the network in a folder.

    Raises: ModelLoadError if the file cannot be read or has other fields.
    """
    file = folder / SETTINGS
    try:
        read = json.loads(file.read_text(encoding="utf-8"))
        given: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in read.items()}
        return Settings(**given)
    except (OSError, ValueError, TypeError, AttributeError) as error:
        wanted = ", ".join(field.name for field in fields(Settings))
        raise ModelLoadError(
            f"{file} cannot be read as the settings of a region network ({error}); expected {wanted}"
        ) from error


def write_settings(settings: Settings, folder: Path) -> None:
    """Write the settings into a folder."""
    (folder / SETTINGS).write_text(json.dumps(asdict(settings), indent=1) + "\n", encoding="utf-8")
