"""``environment.json``: what the run ran on, to run it again."""

from __future__ import annotations

import json
import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from vlgate.options import Options

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


def write_environment(file: Path, options: Options, workers: int) -> None:
    """Write ``environment.json``: time, machine, versions of the packages that are installed, options."""
    content = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "workers": workers,
        "packages": {name: found for name in _PACKAGES if (found := _version(name)) is not None},
        "options": asdict(options),
    }
    file.write_text(json.dumps(content, indent=1, default=str) + "\n", encoding="utf-8")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
