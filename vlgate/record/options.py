"""The options of a run, in one record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from vlgate.asking.cache.folder import DEFAULT_SIZE
from vlgate.probes.controls.registry import LIMIT
from vlgate.probes.shrink.families import FAMILIES, Family
from vlgate.types import Ties

DEFAULT_MODEL = "tiny-lxmert"
DEFAULT_BATCH = 64
FIRST: Literal["first"] = "first"
"""What ``--baseline`` says of a run that no earlier one is there for: its gates on a comparison are not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a run: ``number`` counts from 1 to ``of``."""

    number: int
    of: int

    def __str__(self) -> str:
        """Return the part as messages name it, ``part 2 of 4``."""
        return f"part {self.number} of {self.of}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of one run; ``vlgate.plugin.settings`` explains each of them.

    ``folder`` is the folder that the user started the run in. ``pairs`` is None for the number of the paper.
    ``thresholds`` is None if there is no thresholds file, so that nothing is gated. ``shard`` is the part of the run
    that is asked; None for all of it. ``controls`` are the names of the controls, ``controls_named`` says whether the
    user named them, ``controls_limit`` is the most cases of a task that each is asked about. ``cache`` is None for no
    cache; ``cache_named`` says whether the user named it, ``cache_limit`` is in bytes.
    """

    folder: Path
    model: str = DEFAULT_MODEL
    suite: tuple[str, ...] = ()
    data: tuple[Path, ...] = ()
    disputes: tuple[Path, ...] = ()
    limit: int | None = None
    quick: bool = False
    pairs: int | None = 1000
    items: Literal["auto", "pair", "batch"] = "auto"
    thresholds: Path | None
    baseline: Path | Literal["first"] | None = None
    results: Path
    overwrite: bool = False
    device: str = "auto"
    dtype: str = "float32"
    compiled: bool = False
    batch_size: int | None = None
    call_timeout: float | None = None
    ray: str = ""
    ask: Literal["apart", "together"] = "apart"
    ties: Ties = "strict"
    missing_images: Literal["fail", "skip"] = "fail"
    health: Literal["auto", "on", "off"] = "auto"
    seed: int = 0
    explain: int = 0
    controls: tuple[str, ...] = ()
    controls_limit: int = LIMIT
    controls_named: bool = False
    shrink_budget: int = 200
    shrink_cases: int = 5
    shrink_edits: tuple[Family, ...] = FAMILIES
    require_gates: bool = False
    protocols: frozenset[str] = frozenset()
    log_to: tuple[str, ...] = ()
    shard: Shard | None = None
    cache: Path | None = None
    cache_named: bool = False
    cache_limit: int = DEFAULT_SIZE


def in_ci() -> bool:
    """Return whether the environment says that this is a job of CI, in which a run must judge a gate."""
    return os.environ.get("CI", "").lower() not in {"", "0", "false"}


def baseline_of(given: str, folder: Path) -> Path | Literal["first"]:
    """Return the earlier run that ``--baseline`` names, or ``FIRST``; ``folder`` is what a path is relative to.

    >>> baseline_of("first", Path("/work")), baseline_of("./first", Path("/work")).as_posix()
    ('first', '/work/first')
    """
    return FIRST if given == FIRST else folder / given


def meant_folder(options: Options) -> str:
    """Return a note if ``--baseline=first`` may have meant the folder of another run; empty if it did not."""
    there = options.folder / FIRST
    if options.baseline != FIRST or there == options.results or not (there / "metrics.json").exists():
        return ""
    return f"--baseline=first compares with no run; write --baseline=./first to compare with the run in {there}"


def options_from(content: Mapping[str, Any]) -> Options:
    """Return the options that ``environment.json`` holds.

    Raises: ValueError if it holds other ones.
    """
    if {one.name for one in fields(Options)} != set(content):
        raise ValueError("expected the options of this version")
    found = dict(content)
    for name in ("folder", "results", "thresholds", "baseline", "cache"):
        if content[name] is not None and (name, content[name]) != ("baseline", FIRST):
            found[name] = Path(content[name])
    shard = content["shard"]
    return Options(
        **{
            **found,
            "data": tuple(map(Path, content["data"])),
            "disputes": tuple(map(Path, content["disputes"])),
            "suite": tuple(content["suite"]),
            "log_to": tuple(content["log_to"]),
            "controls": tuple(content["controls"]),
            "protocols": frozenset(content["protocols"]),
            "shrink_edits": tuple(content["shrink_edits"]),
            "shard": None if shard is None else Shard(**shard),
        }
    )
