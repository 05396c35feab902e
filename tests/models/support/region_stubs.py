"""Tiny checkpoints, images and made-up regions, shared by the tests of models on region features."""

import numpy as np
import torch
import transformers
from PIL import Image

from vlgate.errors import NoReplyError
from vlgate.models.regions.regions import Regions
from vlgate.types import Ask, LazyImage, Match

TOKENS = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "an", "the", "red", "blue", "square", "is", "in", "of", "it",
    "what", "color", "there", "two", "cat", "dog", "on", "left", "yes", "no", "?", ".", ",", "##s",
]  # fmt: skip
COLORS = ("red", "blue")
TEXTS = [f"a {color} {thing}" for color in COLORS for thing in ("square", "cat", "dog in a square , is it ?")]
WIDTH = 8
COUNT = 5
LXMERT = {
    "vocab_size": len(TOKENS), "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64, "l_layers": 1,
    "x_layers": 1, "r_layers": 1, "visual_feat_dim": WIDTH, "max_position_embeddings": 24, "num_qa_labels": 6,
    "num_object_labels": 4, "num_attr_labels": 3,
}  # fmt: skip
VISUALBERT = {
    "vocab_size": len(TOKENS), "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64,
    "num_hidden_layers": 2, "visual_embedding_dim": WIDTH, "max_position_embeddings": 24,
}  # fmt: skip
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


class Stub:
    """Region features from an image's colour and key; ``asked`` records the requests.

    An image whose key is in ``missing`` has none. ``width`` is the numbers per box; if ``ragged``, images have
    different numbers of boxes.
    """

    note = "regions of a stub"
    fingerprint = "stub"

    def __init__(self, width=WIDTH, missing=(), ragged=False):
        self.asked = []
        self._width = width
        self._missing = missing
        self._ragged = ragged

    def regions(self, images):
        self.asked.append([image.key for image in images])
        lost = [index for index, image in enumerate(images) if image.key in self._missing]
        if lost:
            raise NoReplyError(lost, "no features")
        seen = {}
        return [seen.setdefault(image.key, self._regions(image)) for image in images]

    def _regions(self, image):
        number = int(image.key.partition("-")[2])
        drawn = np.random.default_rng(number)
        count = COUNT + number % 3 if self._ragged else COUNT
        color = np.asarray(image.load())[0, 0, :3].astype(np.float32) / 255
        features = drawn.normal(scale=0.1, size=(count, self._width)).astype(np.float32)
        features[:, :3] += 2 * color
        boxes = np.sort(drawn.random((count, 2, 2)), axis=1).reshape(count, 4).astype(np.float32)
        return Regions(features=features, boxes=boxes)


def image(number):
    """A square: red for an even number, blue for an odd one."""
    color = COLORS[number % 2]
    return LazyImage(key=f"{color}-{number}", load=lambda: Image.new("RGB", (8, 8), color))


def save_tokenizer(folder, tokens=TOKENS):
    folder.mkdir(exist_ok=True)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(tokens))
    transformers.BertTokenizer(str(vocabulary)).save_pretrained(folder)
    return folder


PAIRS = [Match(image=image(number % 4), text=text) for number, text in enumerate(TEXTS)]


def questions(*choices, text="what color is the square ?"):
    return [Ask(image=image(number), question=text, choices=choices) for number in range(6)]


def saved(made, folder, spread):
    """Save the model that ``made`` returns, with a tokenizer.

    Noise of size ``spread`` is added to its weights: with the library's initial weights, all scores are nearly equal.
    """
    torch.manual_seed(0)
    model = made().eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.add_(torch.randn_like(weights) * spread)
    model.save_pretrained(folder)
    return save_tokenizer(folder)


def lxmert(kind, folder, **more):
    return saved(lambda: kind(transformers.LxmertConfig(**(LXMERT | more))), folder, spread=0.1)


def visualbert(kind, folder, **more):
    return saved(lambda: kind(transformers.VisualBertConfig(**VISUALBERT, **more)), folder, spread=0.2)


def save(name, folder):
    if name == "lxmert":
        return lxmert(transformers.LxmertForPreTraining, folder)
    return visualbert(transformers.VisualBertForPreTraining, folder)


def one_by_one(folder, kind, texts, inputs):
    """Run each request alone and unpadded through the library's own forward; ``inputs`` are those of the images."""
    model = kind.from_pretrained(folder).eval()
    tokenizer = transformers.BertTokenizer.from_pretrained(folder)
    found = []
    for text, seen in zip(texts, inputs, strict=True):
        with torch.inference_mode():
            found.append(model(**tokenizer(text, return_tensors="pt"), **seen))
    return found
