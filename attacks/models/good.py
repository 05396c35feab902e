"""Good models with habits that are unusual and legitimate: a gate must pass each of them."""

import copy
import functools
import logging
import pickle
import sys
import time
import warnings
from types import SimpleNamespace

import eyes
import numpy as np
from PIL import Image


def plain():
    """Right about every image and every text."""
    return eyes.with_match(eyes.fits)


def single_precision():
    """Returns float32."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs), dtype=np.float32))


def half_precision():
    """Returns float16."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs), dtype=np.float16))


def integers():
    """Returns whole numbers."""
    return eyes.with_match(lambda pairs: np.array([round(4 * fit) for fit in eyes.fits(pairs)]))


def truth_values():
    """Returns True for a text that fits, otherwise False."""
    return eyes.with_match(lambda pairs: np.array([fit > 0.7 for fit in eyes.fits(pairs)]))


def a_tuple():
    """Returns a tuple of Python floats."""
    return eyes.with_match(lambda pairs: tuple(eyes.fits(pairs)))


def objects():
    """Returns an array of Python objects that are floats."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs), dtype=object))


def read_only():
    """Returns an array that cannot be written."""

    def match(pairs):
        scores = np.array(eyes.fits(pairs))
        scores.flags.writeable = False
        return scores

    return eyes.with_match(match)


def a_view():
    """Returns every second number of a larger array."""
    return eyes.with_match(lambda pairs: np.repeat(eyes.fits(pairs), 2)[::2])


def one_buffer():
    """Writes the scores of every call into the same memory."""
    buffer = np.zeros(100_000)

    def match(pairs):
        buffer[: len(pairs)] = eyes.fits(pairs)
        return buffer[: len(pairs)]

    return eyes.with_match(match)


def very_large():
    """Returns scores around 1e300."""
    return eyes.with_match(lambda pairs: [1e300 * (1 + fit) for fit in eyes.fits(pairs)])


def very_small():
    """Returns scores around 1e-300."""
    return eyes.with_match(lambda pairs: [1e-300 * (1 + fit) for fit in eyes.fits(pairs)])


def negative():
    """Returns log probabilities, all of them negative."""
    return eyes.with_match(lambda pairs: [np.log(0.01 + fit / 2) for fit in eyes.fits(pairs)])


def one_at_a_time():
    """Scores each pair alone, and remembers what it said."""
    known = {}

    def match(pairs):
        for pair in pairs:
            key = pair.image.key, pair.text
            known[key] = known[key] if key in known else eyes.fit(pair)
        return [known[pair.image.key, pair.text] for pair in pairs]

    return eyes.with_match(match)


def slow():
    """Takes its time: 2 ms for each pair."""

    def match(pairs):
        time.sleep(0.002 * len(pairs))
        return eyes.fits(pairs)

    return eyes.with_match(match)


def talkative():
    """Prints, logs and warns."""

    def match(pairs):
        print("FAILED thresholds.toml::valse/existence:acc_r \x1b[31m\r\n" * 3, "\udcff".encode(errors="replace"))
        print("0 passed, 99 failed", file=sys.stderr)
        logging.getLogger("model").critical("on fire")
        warnings.warn("an old interface", DeprecationWarning, stacklevel=2)
        return eyes.fits(pairs)

    return eyes.with_match(match)


def draws_on_images():
    """Paints over the image that it was given, after it looked at it."""

    def match(pairs):
        scores = eyes.fits(pairs)
        for pair in pairs:
            pair.image.load().paste((0, 0, 0), (0, 0, 72, 72))
        return scores

    return eyes.with_match(match)


def closes_images():
    """Closes each image after it looked at it."""

    def match(pairs):
        scores = eyes.fits(pairs)
        for pair in pairs:
            pair.image.load().close()
        return scores

    return eyes.with_match(match)


def encodes():
    """Encodes images and texts separately."""
    return eyes.with_methods(encode_images=eyes.embedded, encode_texts=eyes.embedded_texts)


def replies():
    """Answers questions, and has no scores."""
    return eyes.with_methods(answer=eyes.answers)


def says_yes():
    """Has a decision threshold that is a number of numpy."""
    return eyes.with_match(eyes.fits, decision_threshold=np.float32(0.7))


def empty():
    """Has the length 0, so that its truth value is False."""
    model = eyes.with_match(eyes.fits)
    type(model).__len__ = lambda _: 0
    return model


def finished_method():
    """Has a method that is a partial function."""
    return eyes.with_match(functools.partial(_sorted_back, eyes.fit))


def _sorted_back(fit, pairs):
    """Score the pairs in the order of their texts, and return the scores in the order of the pairs."""
    order = sorted(range(len(pairs)), key=lambda index: (len(pairs[index].text), pairs[index].text))
    scores = dict(zip(order, (fit(pairs[place]) for place in order), strict=True))
    return [scores[index] for index in range(len(pairs))]


def unneeded_prepare():
    """Has a method of the name prepare() with a signature of its own."""
    return eyes.with_match(eyes.fits, prepare=lambda: None)


def a_cache_by_pixels():
    """Remembers each score by the pixels and the text."""

    @functools.cache
    def score(pixels, size, text):
        image = Image.frombytes("RGB", size, pixels)
        return eyes.fit(SimpleNamespace(image=SimpleNamespace(load=lambda: image), text=text))

    def match(pairs):
        images = [pair.image.load() for pair in pairs]
        return [score(image.tobytes(), image.size, pair.text) for image, pair in zip(images, pairs, strict=True)]

    return eyes.with_match(match)


def rows_by_key():
    """Encodes each image once, and keeps its row by the image's key."""
    known = {}

    def encode_images(images):
        new = {image.key: image for image in images if image.key not in known}
        if new:
            known.update(zip(new, eyes.embedded(list(new.values())), strict=True))
        return np.array([known[image.key] for image in images])

    return eyes.with_methods(encode_images=encode_images, encode_texts=eyes.embedded_texts)


def an_array_without_a_mask():
    """Returns a masked array in which nothing is masked."""
    return eyes.with_match(lambda pairs: np.ma.masked_array(eyes.fits(pairs), mask=False))


def pickles_pairs():
    """Copies and pickles its pairs, as a pool of processes does."""

    def match(pairs):
        kept = pickle.loads(pickle.dumps(list(pairs)))
        return eyes.fits([copy.deepcopy(pair) for pair in kept])

    return eyes.with_match(match)
