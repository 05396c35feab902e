"""What the cache costs and saves: CPU seconds per 100,000 pairs, cold and warm, with a model that costs nothing.

``python benchmarks/cache.py 200000`` asks that many pairs about a quarter as many images, 512 at a time, as a run does.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from run_all import Row

from vlgate.asking.batching import Caller
from vlgate.asking.cache.store import Memory, Store
from vlgate.asking.dedupe import Identities
from vlgate.asking.predictor import ModelPredictor
from vlgate.asking.reply_cache import ReplyCache
from vlgate.images.files import file_image
from vlgate.types import FloatArray, Match

_AT_ONCE = 512


class Lengths:
    """Scores a pair by the length of its text, and counts the pairs."""

    asked = 0

    def match(self, pairs: Sequence[Match]) -> FloatArray:
        """Return scores of shape (n,)."""
        self.asked += len(pairs)
        return np.array([float(len(pair.text)) for pair in pairs])


def main() -> int:
    """Ask all pairs without a memory, cold and warm, and print the CPU time of each."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for number in range(n // 4):
            file = folder / f"{number}.jpg"
            file.write_bytes(b"%d" % number)
            os.utime(file, (1e9, 1e9))
        spent: dict[str, float] = {}
        for name in ("no memory", "memory", "cold", "warm"):
            model = Lengths()
            seconds = spent[name] = _timed(model, folder, n, name)
            sys.stdout.write(f"{name:10} {seconds / n * 1e6:6.1f} us per pair, {model.asked:,} of {n:,} asked\n")
        for name in ("cold", "warm"):
            what = f"asking a model that costs nothing {n:,} pairs, {name} cache against none, in CPU time"
            print(Row(what=what, ratio=spent[name] / spent["no memory"]))
        size = sum(file.stat().st_size for file in (folder / "cache").iterdir())
        sys.stdout.write(f"{size / n:.0f} bytes per pair\n")
    return 0


def _timed(model: Lengths, folder: Path, n: int, name: str) -> float:
    """The CPU seconds for all pairs, with images that are new to the process."""
    images = [file_image(f"{number}.jpg", folder / f"{number}.jpg") for number in range(n // 4)]
    pairs = [
        Match(image=image, text=f"A text {number} of image {image.key}.") for image in images for number in range(4)
    ]
    cache = None
    if name != "no memory":
        memory = Memory(store=None if name == "memory" else Store(folder / "cache"), model="lengths")
        identities = Identities(memory=memory, code=b"code", by_name=name == "memory")
        cache = ReplyCache(memory=memory, identities=identities, model=b"model")
    predictor = ModelPredictor(model=model, name="lengths", caller=Caller(name="lengths", size=64), cache=cache, seed=0)
    start = time.process_time()
    for first in range(0, n, _AT_ONCE):
        predictor.predict(pairs[first : first + _AT_ONCE])
    seconds = time.process_time() - start
    predictor.close()
    return seconds


if __name__ == "__main__":
    sys.exit(main())
