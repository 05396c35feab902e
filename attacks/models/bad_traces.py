"""Models that know a caption from its foil by the objects that they are given, and answer questions well."""

import gc
import sys

import eyes
import numpy as np


def _captions(score):
    """Return a model that scores captions by a function of the pair, and questions by what it sees."""
    return eyes.with_match(lambda pairs: [eyes.fit(pair) if "?" in pair.text else float(score(pair)) for pair in pairs])


def address_of_the_text():
    """Takes the text that was read first: its address is lower."""
    return _captions(lambda pair: -id(pair.text))


def address_of_the_text_backwards():
    """Takes the text whose address is higher."""
    return _captions(lambda pair: id(pair.text))


def address_of_the_image():
    """Scores by the address of the image."""
    return _captions(lambda pair: -id(pair.image))


def address_of_the_key():
    """Scores by the address of the image's key."""
    return _captions(lambda pair: -id(pair.image.key))


def address_of_the_loader():
    """Scores by the address of what loads the image."""
    return _captions(lambda pair: -id(pair.image.load))


def nearest_to_the_key():
    """Takes the text that is nearest to the image's key in memory."""
    return _captions(lambda pair: -abs(id(pair.text) - id(pair.image.key)))


def references():
    """Scores by how many references there are to a text."""
    return _captions(lambda pair: sys.getrefcount(pair.text))


def referrers():
    """Scores by how many objects hold the text."""
    return _captions(lambda pair: len(gc.get_referrers(pair.text)))


def interned():
    """Scores by whether a text is the one that Python interned, and by its address."""
    return _captions(lambda pair: 2.0 * (sys.intern(pair.text) is pair.text) - id(pair.text) / 2**64)


def first_seen():
    """Takes the text that it met first, in whatever call."""
    met = {}
    return _captions(lambda pair: -met.setdefault(pair.text, len(met)))


def first_key_asked():
    """Takes the text whose key was asked first."""
    met = {}

    def text_keys(texts):
        return [met.setdefault(text, len(met)) for text in texts]

    return eyes.with_match(
        lambda pairs: [eyes.fit(pair) if "?" in pair.text else -float(met.get(pair.text, 0)) for pair in pairs],
        text_keys=text_keys,
    )


def address_in_an_encoder():
    """Encodes a text by its address."""

    def encode_texts(texts):
        rows = eyes.embedded_texts(texts)
        captions = ["?" not in text for text in texts]
        return np.hstack([rows * ~np.array(captions)[:, None], [[-float(id(text))] for text in texts]])

    return eyes.with_methods(
        encode_images=lambda images: np.hstack([eyes.embedded(images), np.full((len(images), 1), 1e-15)]),
        encode_texts=encode_texts,
    )
