"""Asks a model about canaries: files in a folder, and arrays of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from vlgate.images.files import file_image
from vlgate.inference.predictor import ModelPredictor
from vlgate.perturb.images.encodings import as_png
from vlgate.perturb.images.pixels import Pixels
from vlgate.types import FloatArray, LazyImage, Match


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Writes pictures into a folder and asks a model about them, never from a memory of replies.

    ``asked`` holds the number of requests of each call.
    """

    predictor: ModelPredictor
    folder: Path
    asked: list[int] = field(default_factory=list)

    def image(self, name: str, content: bytes | Pixels) -> LazyImage:
        """Write a picture into the folder, as PNG if it is pixels, and return it; a file of that name is replaced."""
        written = content if isinstance(content, bytes) else as_png(content)
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(written)
        return file_image(f"canary-{len(self.asked)}-{name}", file)

    def scores(self, images: Sequence[LazyImage], texts: Sequence[Sequence[str]]) -> FloatArray:
        """Ask about n images in one call, k texts each.

        Returns: scores of shape (n, k); NaN for what has no reply.
        """
        rows = [[Match(image=image, text=text) for text in some] for image, some in zip(images, texts, strict=True)]
        requests = [request for row in rows for request in row]
        said = replace(self.predictor.bare(), seed=None).predict(requests)  # in this order
        self.asked.append(len(set(requests)))
        found = [[said[one].score if said[one].score is not None else np.nan for one in row] for row in rows]
        return np.array(found, dtype=np.float64)

    def cut(self, image: LazyImage, text: str) -> bool:
        """Return whether the model says that it does not read a text to its end."""
        request = Match(image=image, text=text)
        said = replace(self.predictor.bare(), seed=None).predict([request])
        self.asked.append(1)
        return said[request].cut
