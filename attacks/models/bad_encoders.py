"""Models that encode images and texts separately, and wrongly."""

import eyes
import numpy as np


def _encoders(images=eyes.embedded, texts=eyes.embedded_texts, **more):
    return eyes.with_methods(encode_images=images, encode_texts=texts, **more)


def nan_rows():
    """Returns rows of NaN for images, as a division by a norm of 0 does."""
    return _encoders(images=lambda images: np.full((len(images), 8), np.nan))


def zero_rows():
    """Returns rows of zeros for images."""
    return _encoders(images=lambda images: np.zeros((len(images), 8)))


def other_lengths():
    """Returns rows of different lengths for images and texts."""
    return _encoders(texts=lambda texts: np.ones((len(texts), 5)))


def no_rows():
    """Returns one dimension instead of two."""
    return _encoders(images=lambda images: np.ones(len(images)))


def turned():
    """Returns the shape (d, n)."""
    return _encoders(images=lambda images: eyes.embedded(images).T)


def too_few_rows():
    """Returns no row for the last image."""
    return _encoders(images=lambda images: eyes.embedded(images)[:-1])


def one_row():
    """Returns the row of the first image for every image."""
    return _encoders(images=lambda images: np.repeat(eyes.embedded(images[:1]), len(images), axis=0))


def by_position():
    """Returns rows that follow the position."""
    return _encoders(images=lambda images: np.arange(8.0 * len(images)).reshape(-1, 8))


def match_disagrees():
    """Has encoders that are right, and a method match() that is the wrong way round and comes first."""
    return _encoders(match=lambda pairs: [-fit for fit in eyes.fits(pairs)])


def masked_rows():
    """Masks the row of the first image."""
    return _encoders(images=lambda images: np.ma.masked_array(eyes.embedded(images), mask=_first(len(images))))


def masked_rows_in_a_list():
    """Returns a list of rows that are masked."""
    return _encoders(texts=lambda texts: [np.ma.masked_array(row, mask=True) for row in eyes.embedded_texts(texts)])


def _first(n):
    return np.repeat(np.arange(n)[:, None] == 0, 8, axis=1)
