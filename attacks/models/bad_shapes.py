"""Arrays of another shape than one score for each pair."""

import eyes
import numpy as np


def empty():
    """Returns an empty array."""
    return eyes.with_match(lambda pairs: np.array([]))


def one_too_few():
    """Returns no score for the last pair."""
    return eyes.with_match(lambda pairs: eyes.fits(pairs)[:-1])


def one_too_many():
    """Returns one more score than there are pairs."""
    return eyes.with_match(lambda pairs: [*eyes.fits(pairs), 0.0])


def a_column():
    """Returns the shape (n, 1)."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs))[:, None])


def a_row():
    """Returns the shape (1, n)."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs))[None])


def one_number():
    """Returns the mean of all scores."""
    return eyes.with_match(lambda pairs: np.mean(eyes.fits(pairs)))


def every_image_with_every_text():
    """Returns the shape (n, n); its diagonal is the score."""
    return eyes.with_match(lambda pairs: np.diag(eyes.fits(pairs)))


def two_classes():
    """Returns the shape (n, 2): the probabilities of both classes."""
    return eyes.with_match(lambda pairs: np.array([(1 - fit, fit) for fit in eyes.fits(pairs)]))


def ragged():
    """Returns lists of different lengths."""
    return eyes.with_match(lambda pairs: [[fit] * (1 + index % 2) for index, fit in enumerate(eyes.fits(pairs))])


def partial():
    """Returns scores for the first sixteen pairs only."""
    return eyes.with_match(lambda pairs: eyes.fits(pairs[:16]))
