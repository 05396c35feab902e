"""What the tests of models on region features share: tiny checkpoints, pictures, and regions that come from nowhere."""

import random
from contextlib import contextmanager

import numpy as np
import pytest
import torch
import transformers
from huggingface_hub import constants
from PIL import Image

from vlgate.errors import ModelLoadError, NoReplyError
from vlgate.models.regions import Regions
from vlgate.types import Ask, Match, Picture

TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "an", "the", "red", "blue", "square", "is", "in", "of", "it",
    "what", "color", "there", "two", "cat", "dog", "on", "left", "yes", "no", "?", ".", ",", "##s",
]  # fmt: skip
COLORS = ("red", "blue")
TEXTS = [f"a {color} {thing}" for color in COLORS for thing in ("square", "cat", "dog in a square , is it ?")]
WIDTH = 8
COUNT = 5
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


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


PAIRS = [Match(picture=picture(number % 4), text=text) for number, text in enumerate(TEXTS)]


def questions(*choices, text="what color is the square ?"):
    """A question about each of six pictures."""
    return [Ask(picture=picture(number), question=text, choices=choices) for number in range(6)]


def saved(made, folder, spread):
    """A checkpoint with a tokenizer, its weights further apart than at the library's start, where all scores are near.

    ``made`` returns the model.
    """
    torch.manual_seed(0)
    model = made().eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * spread)
    model.save_pretrained(folder)
    return save_tokenizer(folder)


def one_by_one(folder, kind, texts, inputs):
    """Each request through the library's own forward, alone and without padding; ``inputs`` are of the pictures."""
    model = kind.from_pretrained(folder).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    found = []
    for text, seen in zip(texts, inputs, strict=True):
        with torch.inference_mode():
            found.append(model(**tokenizer(text, return_tensors="pt"), **seen))
    return found


def is_steady(model):
    """Neither the batch, nor its order, nor a longer text in it change a score."""
    together = model.match(PAIRS)
    assert np.ptp(together) > 0.1  # so that the rest says something
    assert np.concatenate([model.match([pair]) for pair in PAIRS]) == pytest.approx(together, rel=1e-5, abs=1e-6)
    order = random.Random(0).sample(range(len(PAIRS)), len(PAIRS))
    assert model.match([PAIRS[place] for place in order]) == pytest.approx(together[order], rel=1e-5, abs=1e-6)
    long = Match(picture=picture(1), text="a cat is on the left of a dog " * 2)
    assert model.match([PAIRS[0], long])[0] == pytest.approx(together[0], rel=1e-5, abs=1e-6)


class Lesson:
    """32 squares, each with a text that is true or false of it; ``true`` is 1 where it is, of shape (32,)."""

    def __init__(self, folder):
        numbers = np.arange(32)
        said = (numbers // 2) % 2
        regions = Stub().regions([picture(int(number)) for number in numbers])
        self.true = torch.from_numpy((said == numbers % 2).astype(np.int64))
        self.texts = transformers.BertTokenizer.from_pretrained(folder)(
            [f"a {COLORS[color]} square" for color in said], return_tensors="pt"
        )
        self.features, self.boxes = (
            torch.from_numpy(np.stack([getattr(one, name) for one in regions])) for name in ("features", "boxes")
        )

    def teach(self, model, inputs, rate, folder):
        """Minimise the library's own loss, and write what was learnt."""
        optimizer = torch.optim.AdamW(model.train().parameters(), lr=rate)
        for _ in range(60):
            loss = model(**self.texts, **inputs).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert loss.item() < 0.3
        model.save_pretrained(folder)
        save_tokenizer(folder)


def tells_colors(model):
    """Whether true texts of new squares score above 0, and false ones below."""
    pairs = [Match(picture=picture(n), text=f"a {color} square") for n in range(40, 50) for color in COLORS]
    expected = [[1, -1] if number % 2 == 0 else [-1, 1] for number in range(10)]
    return (np.sign(model.match(pairs).reshape(-1, 2)) == expected).all()


def refusal(build, weights, folder):
    """What a user is told of weights that cannot be loaded."""
    with pytest.raises(ModelLoadError) as caught:
        build(weights, folder)
    return str(caught.value)


@contextmanager
def offline_and_alone(monkeypatch):
    """No network, and one thread: models this small run faster in one than in several that wait for each other."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
