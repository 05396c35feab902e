"""The models that the tests of generative models use, and the requests."""

import warnings
from functools import cache

import numpy as np
import tiny_vlms
import torch
from PIL import Image

from vlgate.models.generative.adapter import Vlm
from vlgate.models.generative.engine import Engine
from vlgate.types import Ask, LazyImage, Match

FAMILIES = tuple(tiny_vlms.FAMILIES)
KIN = tiny_vlms.KIN
EVERY = tiny_vlms.FAMILIES | KIN | tiny_vlms.WHOLE
TEXTS = ("a red square", "two dogs run over green grass and a cat sleeps on the big table", "blue")
QUESTIONS = ("What colour is the cup?", "Is the table in this picture big, or is it a red or blue cat?")
CHOICES = ("red", "blue", "the big cup")


@cache
def drawn(number):
    """Images of three sizes, which some families turn into different numbers of tokens."""
    pixels = np.random.default_rng(number).integers(0, 256, (40 + 16 * number, 50, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


IMAGES = [LazyImage(key=f"p{number}", load=lambda number=number: drawn(number)) for number in range(3)]
PAIRS = [Match(image=image, text=text) for image in IMAGES for text in TEXTS]
ASKS = [Ask(image=image, question=text, choices=CHOICES) for image in IMAGES[:2] for text in QUESTIONS]


@cache
def family(name):
    return EVERY[name]()


def asked(engine, score="vqascore", mode="choices"):
    return Vlm(engine, score=score, mode=mode, fingerprint="x")


def of(name, score="vqascore", mode="choices"):
    return asked(Engine(*family(name)), score, mode)


def processed(processor, prompt, *images, **settings):
    with warnings.catch_warnings():  # numpy warns about PaliGemma's labels
        warnings.simplefilter("ignore", DeprecationWarning)
        made = dict(
            processor(text=[prompt], images=[[image.load() for image in images]], return_tensors="pt", **settings)
        )
    made.pop("labels", None)
    return made


def next_tokens(model, inputs, ids=()):
    """Log-probabilities of each next token of one sequence, read as a whole and without a cache."""
    kinds = {"input_ids": list(ids), "attention_mask": [1] * len(ids), "mm_token_type_ids": [0] * len(ids)}
    kinds["token_type_ids"] = [1] * len(ids)  # PaliGemma's replies attend to earlier tokens only
    for key in kinds.keys() & inputs.keys() if ids else ():
        inputs[key] = torch.cat([inputs[key], torch.tensor([kinds[key]])], dim=1)
    with torch.no_grad():
        return model(**inputs).logits[0, -len(ids) - 1 :].double().log_softmax(-1).numpy()
