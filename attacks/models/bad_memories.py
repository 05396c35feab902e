"""Models whose scores depend on the call, and that remember what they said first."""

import functools
import hashlib
import random

import eyes
import numpy as np


def _pixels(image):
    return hashlib.sha256(image.load().tobytes()).digest()


def _remembering(key, reply):
    """Return a model that replies to all new pairs of a call with ``reply(pairs)``, and to old ones as before."""
    known = {}

    def match(pairs):
        keys = [key(pair) for pair in pairs]
        for one, score in zip(keys, reply(pairs), strict=True):
            known.setdefault(one, score)
        return [known[key] for key in keys]

    return eyes.with_match(match)


def _needs_company(pairs):
    """Is right in a batch of more than two, and knows nothing alone."""
    return eyes.fits_between(pairs) if len(pairs) > 2 else [-1.0] * len(pairs)


def by_name():
    """Remembers by the image's key and the text."""
    return _remembering(lambda pair: (pair.image.key, pair.text), _needs_company)


def by_pixels():
    """Remembers by the pixels and the text."""
    return _remembering(lambda pair: (_pixels(pair.image), pair.text), _needs_company)


def by_pair():
    """Remembers by the pair itself."""
    return _remembering(lambda pair: pair, _needs_company)


def by_words():
    """Remembers by the pixels and the words of the text, without marks and in lower case."""
    return _remembering(
        lambda pair: (_pixels(pair.image), tuple(pair.text.lower().strip("?.!").split())), _needs_company
    )


def by_mean_colour():
    """Remembers by the mean colour of the image and the text."""
    return _remembering(lambda pair: (np.asarray(pair.image.load()).mean(), pair.text), _needs_company)


def softmax_by_name():
    """Divides the scores by the sum of those of the batch, and remembers the share."""

    def shares(pairs):
        scores = np.exp(eyes.fits(pairs))
        return scores / scores.sum()

    return _remembering(lambda pair: (pair.image.key, pair.text), shares)


def centred_by_pixels():
    """Subtracts the mean of the batch, and remembers the difference."""

    def centred(pairs):
        scores = np.array(eyes.fits(pairs))
        return scores - scores.mean() + 0.3 * np.log(len(pairs))

    return _remembering(lambda pair: (_pixels(pair.image), pair.text), centred)


def at_random_by_name():
    """Draws part of each score, and remembers it by the image's key and the text."""
    return _remembering(
        lambda pair: (pair.image.key, pair.text),
        lambda pairs: [fit + 0.1 * random.random() for fit in eyes.fits(pairs)],
    )


def least_recently_used():
    """Keeps each score in a cache of functools, which holds the size of the first batch too."""
    size = []

    @functools.cache
    def score(key, text, pair):
        return _needs_company([pair] * size[0])[0]

    def match(pairs):
        size[:] = [len(pairs)]
        return [score(pair.image.key, pair.text, pair) for pair in pairs]

    return eyes.with_match(match)


def rows_by_name():
    """Scales the rows of images by the batch, and remembers them by the key."""
    return _rows(lambda image: image.key)


def rows_by_pixels():
    """Scales the rows of images by the batch, and remembers them by the pixels."""
    return _rows(_pixels)


def _rows(key):
    known = {}

    def encode_images(images):
        keys = [key(image) for image in images]
        for one, row in zip(keys, eyes.embedded(images) * np.log1p(len(images)), strict=True):
            known.setdefault(one, row)
        return np.array([known[key] for key in keys])

    return eyes.with_methods(encode_images=encode_images, encode_texts=eyes.embedded_texts)


def answers_by_name():
    """Answers well in a batch, "yes" or the last choice alone, and remembers its answers by name."""
    known = {}

    def answer(questions):
        replies = eyes.answers(questions) if len(questions) > 2 else [question.choices[-1] for question in questions]
        for question, reply in zip(questions, replies, strict=True):
            known.setdefault((question.image.key, question.question, question.choices), reply)
        return [known[question.image.key, question.question, question.choices] for question in questions]

    return eyes.with_methods(answer=answer)
