"""``environment.json``: the machine, packages and options of a run, to repeat it."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from vlgate.report.whole_file import write_whole
from vlgate.run.model_card import CacheUse
from vlgate.run.options import Options

_PACKAGES = (
    "vlgate",
    "pytest",
    "pytest-xdist",
    "numpy",
    "pillow",
    "opencv-python",
    "pyarrow",
    "torch",
    "torchvision",
    "transformers",
    "open_clip_torch",
    "allure-pytest",
    "hypothesis",
)


def write_environment(file: Path, options: Options, workers: int, cache: CacheUse) -> None:
    """Write ``environment.json``."""
    write_whole(file, json.dumps(environment_content(options, workers, cache), indent=1) + "\n")


def environment_content(options: Options, workers: int, cache: CacheUse) -> dict[str, Any]:
    """Return the time, machine, versions of packages, use of the cache, and options, as JSON holds them."""
    content = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "workers": workers,
        "cache": asdict(cache),
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
        "options": asdict(options),
    }
    as_read: dict[str, Any] = json.loads(json.dumps(content, default=_plain))
    return as_read


def _plain(value: object) -> object:
    """A value that JSON lacks: a set as a sorted list, a path as a string."""
    return sorted(value) if isinstance(value, frozenset) else str(value)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
