"""Finds scene graphs in data folders; every run on a data folder needs it, and it reads none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

PLACES = (
    "scene-graphs/*.json",
    "scene-graphs/*.jsonl",
    "gqa/*sceneGraphs.json",
    "gqa/sceneGraphs/*.json",
    "vg/scene_graphs.json",
    "vg/objects.json",
)
"""The places of scene graphs in a data folder.

``objects.json`` is skipped if ``scene_graphs.json`` is in the same folder. Visual Genome's ``*synsets.json``, which
are lists of words, are always skipped.
"""


def find_graphs(folders: Sequence[Path]) -> list[Path]:
    """Return the files of scene graphs in data folders, each once, ordered by folder, by ``PLACES`` and by name."""
    found = [path for folder in folders for place in PLACES for path in sorted(folder.glob(place)) if path.is_file()]
    once: dict[str, Path] = {}
    for path in found:
        whole = path.name == "objects.json" and path.with_name("scene_graphs.json").is_file()
        if not whole and not path.name.endswith("synsets.json"):
            once.setdefault(os.path.realpath(path), path)
    return list(once.values())
