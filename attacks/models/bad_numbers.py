"""Scores that are not numbers, or say nothing."""

import random

import eyes
import numpy as np


def one_nan():
    """Returns NaN for one pair of each call."""
    return eyes.with_match(lambda pairs: [float("nan"), *eyes.fits(pairs[1:])])


def all_nan():
    """Returns NaN for every pair."""
    return eyes.with_match(lambda pairs: np.full(len(pairs), np.nan))


def one_infinite():
    """Returns infinity for a pair that fits."""
    return eyes.with_match(lambda pairs: [float("inf") if fit == 1 else fit for fit in eyes.fits(pairs)])


def minus_infinite():
    """Returns minus infinity for a pair that does not fit, as log(0) does."""
    return eyes.with_match(lambda pairs: [float("-inf") if fit == 0 else fit for fit in eyes.fits(pairs)])


def beyond_floats():
    """Returns whole numbers that are too large for a float."""
    return eyes.with_match(lambda pairs: [10**400 * round(4 * fit) for fit in eyes.fits(pairs)])


def complex_numbers():
    """Returns complex numbers."""
    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs)) * 1j)


def strings():
    """Returns numbers as strings."""
    return eyes.with_match(lambda pairs: [str(fit) for fit in eyes.fits(pairs)])


def objects_that_are_strings():
    """Returns numbers as strings in an array of objects."""
    return eyes.with_match(lambda pairs: np.array([str(fit) for fit in eyes.fits(pairs)], dtype=object))


def holes():
    """Returns None for a pair that it is not sure of."""
    return eyes.with_match(lambda pairs: [fit if fit == 1 else None for fit in eyes.fits(pairs)])


def nothing():
    """Returns None."""
    return eyes.with_match(lambda pairs: None)


def a_dictionary():
    """Returns a dictionary from positions to scores."""
    return eyes.with_match(lambda pairs: dict(enumerate(eyes.fits(pairs))))


def a_generator():
    """Returns a generator of scores."""
    return eyes.with_match(lambda pairs: (fit for fit in eyes.fits(pairs)))


def a_set():
    """Returns a set of scores."""
    return eyes.with_match(lambda pairs: set(eyes.fits(pairs)))


def constant():
    """Returns the same score for every pair."""
    return eyes.with_match(lambda pairs: np.zeros(len(pairs)))


def always_true():
    """Says True to every pair."""
    return eyes.with_match(lambda pairs: np.ones(len(pairs), dtype=bool))


def at_random():
    """Returns random scores."""
    return eyes.with_match(lambda pairs: [random.random() for _ in pairs])


def the_wrong_way_round():
    """Returns distances: a lower number means a better fit."""
    return eyes.with_match(lambda pairs: [-fit for fit in eyes.fits(pairs)])


def underflow():
    """Returns probabilities that are all rounded to 0."""
    return eyes.with_match(lambda pairs: [1e-320 * fit * 1e-10 for fit in eyes.fits(pairs)])


def all_masked():
    """Masks every score, and has the right ones below."""
    return eyes.with_match(lambda pairs: np.ma.masked_array(eyes.fits(pairs), mask=np.ones(len(pairs), dtype=bool)))


def one_masked():
    """Masks one score of each call."""
    return eyes.with_match(lambda pairs: np.ma.masked_array(eyes.fits(pairs), mask=np.arange(len(pairs)) == 0))


def masked_below_a_limit():
    """Masks the scores of texts that do not fit."""
    return eyes.with_match(lambda pairs: np.ma.masked_less(np.float32(eyes.fits(pairs)), 0.5))


def masked_in_a_list():
    """Returns a list of numbers that are masked each."""
    return eyes.with_match(lambda pairs: [np.ma.masked_array(fit, mask=True) for fit in eyes.fits(pairs)])


def masked_constants():
    """Returns numpy's own constant for a masked number in a tuple."""
    return eyes.with_match(lambda pairs: tuple(fit if fit == 1 else np.ma.masked for fit in eyes.fits(pairs)))


def masked_objects():
    """Returns an array of objects, some of them masked."""
    return eyes.with_match(
        lambda pairs: np.ma.masked_array(np.array(eyes.fits(pairs), dtype=object), mask=np.arange(len(pairs)) % 2 == 1)
    )


def objects_that_are_masked():
    """Returns a plain array of objects that are masked arrays."""

    def match(pairs):
        scores = np.empty(len(pairs), dtype=object)
        scores[:] = [np.ma.masked_array(fit, mask=fit == 0) for fit in eyes.fits(pairs)]
        return scores

    return eyes.with_match(match)


def masked_by_another_class():
    """Returns an array of a class of its own that has a mask."""

    class Masked(np.ndarray):
        mask = np.array([True])

    return eyes.with_match(lambda pairs: np.array(eyes.fits(pairs)).view(Masked))


def masked_when_converted():
    """Returns an object that becomes a masked array."""

    class Later:
        def __init__(self, scores):
            self.scores = scores

        def __array__(self, dtype=None, copy=None):
            return np.ma.masked_array(self.scores, mask=True)

    return eyes.with_match(lambda pairs: Later(eyes.fits(pairs)))


def masked_and_filled_in():
    """Returns a masked array of a class that says it is filled when it is converted."""

    class Filled(np.ma.MaskedArray):
        def __array__(self, dtype=None, copy=None):
            return np.array(self.data)

    return eyes.with_match(lambda pairs: Filled(eyes.fits(pairs), mask=True))


def masked_by_whole_numbers():
    """Returns an object that becomes an array, and has a mask of whole numbers."""

    class Marked:
        def __init__(self, scores):
            self.scores, self.mask = np.array(scores), np.ones(len(scores), dtype=np.uint8)

        def __array__(self, dtype=None, copy=None):
            return self.scores

    return eyes.with_match(lambda pairs: Marked(eyes.fits(pairs)))


def masked_rows_in_a_sequence():
    """Returns rows that are masked in a sequence of a class of its own, which numpy reads as a list."""

    class Rows:
        def __init__(self, rows):
            self.rows = rows

        def __len__(self):
            return len(self.rows)

        def __getitem__(self, place):
            return np.ma.masked_array(self.rows[place], mask=True)

    return eyes.with_methods(encode_images=eyes.embedded, encode_texts=lambda texts: Rows(eyes.embedded_texts(texts)))
