"""What the tests of models on region features share: tiny checkpoints, pictures, and regions that come from nowhere."""

from contextlib import contextmanager

import numpy as np
import torch
import transformers
from PIL import Image

from vlgate.errors import NoReplyError
from vlgate.models.regions import Regions
from vlgate.types import Picture

TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "an", "the", "red", "blue", "square", "is", "in", "of", "it",
    "what", "color", "there", "two", "cat", "dog", "on", "left", "yes", "no", "?", ".", ",", "##s",
]  # fmt: skip
COLORS = ("red", "blue")
WIDTH = 8
COUNT = 5


class Stub:
    """Region features from a picture's colour and key; counts what it was asked for.

    A picture whose key is in ``missing`` has none. ``width`` is that of the vectors; where ``ragged``, pictures have
    different numbers of boxes.
    """

    note = "regions of a stub"
    fingerprint = "stub"

    def __init__(self, width=WIDTH, missing=(), ragged=False):
        self.asked = []
        self._width = width
        self._missing = missing
        self._ragged = ragged

    def regions(self, pictures):
        self.asked.append([picture.key for picture in pictures])
        lost = [place for place, picture in enumerate(pictures) if picture.key in self._missing]
        if lost:
            raise NoReplyError(lost, "no features")
        seen = {}
        return [seen.setdefault(picture.key, self._regions(picture)) for picture in pictures]

    def _regions(self, picture):
        number = int(picture.key.partition("-")[2])
        drawn = np.random.default_rng(number)
        count = COUNT + number % 3 if self._ragged else COUNT
        color = np.asarray(picture.image())[0, 0, :3].astype(np.float32) / 255
        features = drawn.normal(scale=0.1, size=(count, self._width)).astype(np.float32)
        features[:, :3] += 2 * color
        boxes = np.sort(drawn.random((count, 2, 2)), axis=1).reshape(count, 4).astype(np.float32)
        return Regions(features=features, boxes=boxes)


def picture(number):
    """A square, red where the number is even."""
    color = COLORS[number % 2]
    return Picture(key=f"{color}-{number}", load=lambda: Image.new("RGB", (8, 8), color))


def save_tokenizer(folder, tokens=TOKENS):
    """A tokenizer of BERT's kind, as a vocabulary file."""
    folder.mkdir(exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(tokens))
    transformers.BertTokenizer(str(vocabulary)).save_pretrained(folder)
    return folder


@contextmanager
def one_thread():
    """Models this small run faster in one thread than in several that wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
