"""Models that read texts only, or whose yes and no cannot be used."""

import eyes
import numpy as np


def perplexity():
    """Says how surprising a text is, and sees no image."""
    return eyes.with_methods(perplexity=lambda texts: np.array([1.0 + len(text) for text in texts]))


def nan_perplexity():
    """Returns NaN for the perplexity of every text."""
    return eyes.with_methods(perplexity=lambda texts: np.full(len(texts), np.nan))


def negative_perplexity():
    """Returns the logarithm of a perplexity with the wrong sign."""
    return eyes.with_methods(perplexity=lambda texts: -np.array([1.0 + len(text) for text in texts]))


def nan_threshold():
    """Is right, and has NaN for its decision threshold."""
    return eyes.with_match(eyes.fits, decision_threshold=float("nan"))


def infinite_threshold():
    """Is right, and has infinity for its decision threshold."""
    return eyes.with_match(eyes.fits, decision_threshold=float("inf"))


def threshold_in_words():
    """Is right, and has a string for its decision threshold."""
    return eyes.with_match(eyes.fits, decision_threshold="0.5")


def broken_threshold():
    """Is right, and raises when its decision threshold is read."""
    model = eyes.with_match(eyes.fits)
    type(model).decision_threshold = property(lambda self: 1 / 0)
    return model


def probabilities_for_yes():
    """Is right, and returns probabilities instead of yes or no."""
    return eyes.with_match(eyes.fits, accepts=eyes.fits_between)


def abstains():
    """Says yes or no for none of the pairs, and has its scores the wrong way round."""
    return eyes.with_match(
        lambda pairs: [-fit for fit in eyes.fits(pairs)], accepts=lambda pairs: [np.nan] * len(pairs)
    )
