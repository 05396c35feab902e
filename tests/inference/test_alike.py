"""Requests that are the same to a model have exactly the same reply, whatever stands beside them."""

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import ImageError
from vlgate.types import Ask, LazyImage, Match, Read


def image(key, pixels):
    def load():
        return Image.frombytes("RGB", (2, 1), sha256(pixels.encode()).digest()[:6])

    return LazyImage(key=key, load=load)


class Uneven:
    """Its replies follow the pixels, the words in lower case and, by a little, the place in the batch."""

    def __init__(self):
        self.cut_texts = set()

    def text_keys(self, texts):
        self.cut_texts.update(text for text in texts if len(text.split()) > 3)
        return [tuple(text.lower().split()[:3]) for text in texts]

    def rounded(self, numbers):
        return np.array(numbers) + 1e-9 * np.arange(len(numbers))

    def seen(self, images):
        return [float(sum(one.load().tobytes())) for one in images]


class Matcher(Uneven):
    def match(self, pairs):
        return self.rounded(self.seen(pair.image for pair in pairs))


class Dual(Uneven):
    def encode_images(self, images):
        return self.rounded(self.seen(images))[:, None]

    def encode_texts(self, texts):
        return self.rounded([len(text) for text in texts])[:, None]


class Answerer(Uneven):
    def answer(self, questions):
        return [f"{number:.12f}" for number in self.rounded(self.seen(question.image for question in questions))]


class Reader(Uneven):
    def perplexity(self, texts):
        return self.rounded([1.0 for text in texts])


def made(kind, where, text):
    if kind is Reader:
        return Read(text=text)
    return Ask(image=where, question=text) if kind is Answerer else Match(image=where, text=text)


def replies(kind, asked, size, seed=0):
    model = ModelPredictor(model=kind(), name="uneven", caller=Caller(name="uneven", size=size), seed=seed)
    return {request: (one.score, one.answer, one.cut) for request, one in model.predict(asked).items()}


@pytest.mark.parametrize("kind", [Matcher, Dual, Answerer, Reader])
@given(size=st.integers(1, 9), seed=st.integers(0, 5), others=st.integers(0, 8))
def test_the_same_words_and_the_same_pixels_tie_exactly(kind, size, seed, others):
    one, copy = image("a", "same"), image("b", "same")
    beside = [made(kind, image(f"o{n}", f"{n}"), f"other {n}") for n in range(others)]
    texts = ("A red dot here", "a Red dot there")
    twins = [made(kind, where, text) for where in (one, copy) for text in texts]
    found = replies(kind, [twins[0], *beside, *twins[1:]], size, seed)
    assert len({found[twin] for twin in twins}) == 1
    assert found[twins[0]][2]
    assert not any(found[other][2] for other in beside)


@pytest.mark.parametrize("kind", [Matcher, Dual])
def test_other_pixels_of_the_same_length_or_another_shape_are_other_images(kind):
    wide = LazyImage(key="wide", load=lambda: Image.new("RGB", (4, 1)))
    high = LazyImage(key="high", load=lambda: Image.new("RGB", (1, 4)))
    asked = [made(kind, where, "a dot") for where in (wide, high, image("c", "c"))]
    assert len(set(replies(kind, asked, 8).values())) == 3


def test_an_image_that_cannot_be_loaded_shares_no_reply():
    def fail():
        raise ImageError("broken", "it is cut short", "fetch it again")

    asked = [made(Matcher, where, "a dot") for where in (image("a", "same"), LazyImage(key="broken", load=fail))]
    found = replies(Matcher, asked, 8)
    assert [reply[0] is None for reply in found.values()] == [False, True]


def test_a_text_is_asked_once_for_all_that_are_the_same():
    asked = []

    class Noting(Matcher):
        def match(self, pairs):
            asked.extend(pair.text for pair in pairs)
            return super().match(pairs)

    where = image("a", "a")
    replies(Noting, [made(Matcher, where, text) for text in ("a dot", "A dot", "A DOT", "two dots")], 2)
    assert sorted(asked) == ["a dot", "two dots"]
