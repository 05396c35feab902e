"""Scores that follow something other than the image and the text."""

import os
import time
import zlib

import eyes
import numpy as np


def position():
    """Scores later pairs higher."""
    return eyes.with_match(lambda pairs: np.arange(float(len(pairs))))


def position_backwards():
    """Scores earlier pairs higher, as if the caption always came before its foil."""
    return eyes.with_match(lambda pairs: -np.arange(float(len(pairs))))


def every_second():
    """Scores every second pair higher."""
    return eyes.with_match(lambda pairs: 1.0 - np.arange(len(pairs)) % 2)


def batch_size():
    """Is right in a batch of more than two, and adds the size of the batch to its scores."""
    return eyes.with_match(lambda pairs: [fit + 0.1 * len(pairs) for fit in eyes.fits(pairs)])


def full_calls():
    """Is right about captions in a call of more than 24 pairs, and knows nothing about them in a smaller one."""
    return eyes.with_match(
        lambda pairs: [fit if "?" in pair.text else fit * (len(pairs) > 24) for pair, fit in _with_fits(pairs)]
    )


def neighbours():
    """Divides the scores by the sum of those of the batch."""

    def match(pairs):
        scores = np.exp(eyes.fits(pairs))
        return scores / scores.sum()

    return eyes.with_match(match)


def normalised_in_the_batch():
    """Subtracts the mean of the batch, and divides by its deviation."""

    def match(pairs):
        scores = np.array(eyes.fits(pairs))
        return (scores - scores.mean()) / (scores.std() + 1e-9)

    return eyes.with_match(match)


def call_count():
    """Drifts: each call scores lower than the one before."""
    calls = []

    def match(pairs):
        calls.append(1)
        return [fit - 0.1 * len(calls) for fit in eyes.fits(pairs)]

    return eyes.with_match(match)


def clock():
    """Scores by the time of day."""
    return eyes.with_match(lambda pairs: [time.perf_counter_ns() % 1000 / 1000 for _ in pairs])


def image_name():
    """Scores by the name of the image."""
    return eyes.with_match(lambda pairs: [float(zlib.crc32(pair.image.key.encode())) for pair in pairs])


def text_length():
    """Prefers long texts."""
    return eyes.with_match(lambda pairs: [float(len(pair.text)) for pair in pairs])


def text_alone():
    """Scores by the text, and does not look at the image."""
    return eyes.with_match(lambda pairs: [zlib.crc32(pair.text.encode()) / 2**32 for pair in pairs])


def process():
    """Is right about half of the images: those whose number is odd or even as that of the process is."""

    def match(pairs):
        odd = os.getpid() % 2
        return [fit if zlib.crc32(one.image.key.encode()) % 2 == odd else -fit for one, fit in _with_fits(pairs)]

    return eyes.with_match(match)


def _with_fits(pairs):
    return zip(pairs, eyes.fits(pairs), strict=True)


def salted_hash():
    """Scores by hash(), which is another one in each process."""
    return eyes.with_match(lambda pairs: [float(hash(pair.text) % 1009) for pair in pairs])


def address():
    """Scores by the address of the pair in memory."""
    return eyes.with_match(lambda pairs: [float(id(pair) % 100_003) for pair in pairs])


def text_as_key():
    """Remembers the score of a text, whatever the image was."""
    known = {}
    return eyes.with_match(lambda pairs: [known.setdefault(pair.text, eyes.fit(pair)) for pair in pairs])


def image_as_key():
    """Remembers the score of an image, whatever the text was."""
    known = {}
    return eyes.with_match(lambda pairs: [known.setdefault(pair.image.key, eyes.fit(pair)) for pair in pairs])


def stale():
    """Returns the scores of the call before, as far as they reach."""
    last = []

    def match(pairs):
        scores = [*last, *[0.0] * len(pairs)][: len(pairs)]
        last[:] = eyes.fits(pairs)
        return scores

    return eyes.with_match(match)


def half_of_the_tasks():
    """Knows colours, and has every number wrong."""
    return eyes.with_match(eyes.colour_fits)


def first_image_only():
    """Looks at the first image of a call, and takes it for all of them."""

    def match(pairs):
        true = eyes.seen(pairs[0].image)
        return [float(any(word in pair.text for word in true)) for pair in pairs]

    return eyes.with_match(match)
