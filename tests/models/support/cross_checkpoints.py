"""Small untrained checkpoints of cross encoders that read pixels, saved in the form of users' folders."""

from pathlib import Path

import numpy as np
import tables
import torch
import transformers as hf
from PIL import Image

from vlgate.models.cross import heads
from vlgate.types import LazyImage, Match

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = (
    *("a", "the", "red", "blue", "square", "circle", "is", "on", "it", "what", "color", "this", "of", "left", "big"),
    *("two", "one", "yes", "no", "cat", "dog", "tree", "and", "?", ".", ",", "##s", "1", "2", "3"),
    *(f"word{number}" for number in range(60)),
)
TEXTS = ["a red square", "the blue circle is on the left of a big tree .", "a dog and two cats", "no"]
LABELS = ("yes", "no", "red", "blue", "2", "on the left", "square")
DEC = len(SPECIAL) + len(WORDS)  # BLIP's [DEC] and [ENC] follow the words of its tokenizer
ENC = DEC + 1
PLACES = 16


def bert_words(length=PLACES):
    vocabulary = {token: index for index, token in enumerate((*SPECIAL, *WORDS))}
    return hf.BertTokenizer(vocab=vocabulary, model_max_length=length)


def roberta_words():
    letters = sorted(set("".join(WORDS)) | {"Ġ"})
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters]
    merges = [("Ġ", "r"), ("Ġr", "e"), ("Ġre", "d"), ("b", "l"), ("bl", "u"), ("blu", "e"), ("r", "e"), ("re", "d")]
    tokens += ["".join(pair) for pair in merges]
    vocabulary = {token: index for index, token in enumerate(dict.fromkeys(tokens))}
    return hf.RobertaTokenizer(vocab=vocabulary, merges=merges, model_max_length=PLACES), len(vocabulary)


def wider(model, seed):
    """Draw larger weights, biases included, so that different images and words give different scores."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim > 1 or "bias" in name or "token" in name or "embedding" in name:
                scale = 0.5 if "embedding" in name or "token" in name else 0.15
                weight.copy_(torch.randn(weight.shape, generator=generator) * scale)
    return model.eval()


TABLE, BASES = tables.read(__file__)


def made(name):
    """The untrained model of a name, and its processor."""
    roberta, pairs_of_bytes = roberta_words()
    names = {"DEC": DEC, "ENC": ENC, "labels": dict(enumerate(LABELS)), "bert": bert_words()}
    names |= {"roberta": roberta, "pairs": pairs_of_bytes}
    config, processor = (tables.filled(TABLE[name][part], BASES, names) for part in ("config", "processor"))
    return getattr(hf, TABLE[name]["model"])(config), processor


def save(name, folder, seed=0):
    """Write a checkpoint, as ``save_pretrained`` does."""
    model, processor = made(name)
    wider(model, seed).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def of(name, weights, folder=None, **options):
    return heads.build(str(weights), folder or Path(), name=name.replace("_", "-"), **options)


def refused(name, weights, folder, *, by_check=False):
    """The message of ``build``, and of ``check`` if ``by_check``; both must be the same."""
    from builders import refusal  # the benchmarks import this file without the folder of builders

    asks = (heads.check, heads.build)[not by_check :]
    [message] = {refusal(ask, str(weights), folder, name=name) for ask in asks}
    return message


def drawn(number):
    shape = ((40, 60, 3), (70, 50, 3), (33, 33, 3), (64, 90, 3))[number % 4]
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, shape, dtype=np.uint8))


def images(count=4):
    return [LazyImage(key=f"p{number}", load=lambda number=number: drawn(number)) for number in range(count)]


def pairs(texts=TEXTS, count=4):
    return [Match(image=image, text=text) for image in images(count) for text in texts]
