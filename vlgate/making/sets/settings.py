"""The options of one run of ``vlgate make``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from vlgate.making.tools.tools import ToolOptions
from vlgate.sources.scene_graphs.checks import Mode

Form = Literal["cases", "release"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What to make, of which files, and where to.

    ``images`` is the folder of the images, None if names in the files are to stay as they are.
    ``limit`` is the most cases, None for all. ``form`` is our own shape of cases or the benchmark's own format.
    ``prune`` is whether cases are dropped until text alone is not above chance.
    """

    kind: str
    files: tuple[Path, ...]
    out: Path
    limit: int | None = None
    seed: int = 0
    form: Form = "cases"
    faults: Mode = "fail"
    images: Path | None = None
    overwrite: bool = False
    prune: bool = False
    tools: ToolOptions = field(default_factory=ToolOptions)
