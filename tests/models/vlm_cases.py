"""What the tests of generative models ask, and of which models."""

import warnings
from functools import cache

import more_tiny_vlms
import numpy as np
import tiny_vlms
from PIL import Image

from vlgate.models.vlm import Vlm
from vlgate.models.vlm_engine import Engine
from vlgate.types import Ask, Match, Picture

FAMILIES = tuple(tiny_vlms.FAMILIES)
KIN = tiny_vlms.KIN | more_tiny_vlms.SHARED
EVERY = tiny_vlms.FAMILIES | KIN | more_tiny_vlms.WHOLE
TEXTS = ("a red square", "two dogs run over green grass and a cat sleeps on the big table", "blue")
QUESTIONS = ("What colour is the cup?", "Is the table in this picture big, or is it a red or blue cat?")
CHOICES = ("red", "blue", "the big cup")


@cache
def drawn(number):
    """Pictures of three sizes, which some families turn into different numbers of tokens."""
    pixels = np.random.default_rng(number).integers(0, 256, (40 + 16 * number, 50, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


PICTURES = [Picture(key=f"p{number}", load=lambda number=number: drawn(number)) for number in range(3)]
PAIRS = [Match(picture=picture, text=text) for picture in PICTURES for text in TEXTS]
ASKS = [Ask(picture=picture, question=text, choices=CHOICES) for picture in PICTURES[:2] for text in QUESTIONS]


@cache
def family(name):
    return EVERY[name]()


def of(name, score="vqascore", mode="choices"):
    return Vlm(Engine(*family(name)), score=score, mode=mode, fingerprint="x")


def processed(processor, prompt, picture):
    with warnings.catch_warnings():  # numpy warns of what PaliGemma's processor does with labels
        warnings.simplefilter("ignore", DeprecationWarning)
        made = dict(processor(text=[prompt], images=[[picture.image()]], return_tensors="pt"))
    made.pop("labels", None)
    return made
