"""Models that open no image: they compare the texts that they are asked about one image with one another.

Foils that are made by editing a caption have the caption in common, so the comparison finds it. A gate on such data
cannot tell these models from good ones by their scores; what text alone reaches must stand beside the figure.
"""

import difflib

import eyes


def _words(text):
    return set(text.lower().split())


def _choosing(score, *, remembers=True):
    """Return a model with ``score(text, others)`` of the texts about one image in a call; it may keep what it said."""
    said = {}

    def one(pair, others):
        value = float(score(pair.text, others))
        return said.setdefault((pair.image.key, pair.text), value) if remembers else value

    def match(pairs):
        about = {}
        for pair in pairs:
            about.setdefault(pair.image.key, {})[pair.text] = None
        return [one(pair, [text for text in about[pair.image.key] if text != pair.text]) for pair in pairs]

    return eyes.with_match(match)


def _shared(text, others):
    return sum(len(_words(text) & _words(other)) for other in others)


def _differing(text, others):
    return sum(len(_words(text) ^ _words(other)) for other in others)


def _letters(text, others):
    return sum(difflib.SequenceMatcher(None, text, other).ratio() for other in others)


def medoid():
    """Prefers the text that shares most words with the others, and remembers what it said."""
    return _choosing(_shared)


def forgetful_medoid():
    """Prefers the text that shares most words with the others of the call."""
    return _choosing(_shared, remembers=False)


def odd_one_out():
    """Prefers the text that shares fewest words with the others."""
    return _choosing(lambda text, others: -_shared(text, others))


def least_edited():
    """Prefers the text that differs from the others in the fewest words."""
    return _choosing(lambda text, others: -_differing(text, others))


def most_edited():
    """Prefers the text that differs from the others in the most words."""
    return _choosing(_differing)


def alike_in_letters():
    """Prefers the text whose letters are most like those of the others."""
    return _choosing(_letters)


def unlike_in_letters():
    """Prefers the text whose letters are least like those of the others."""
    return _choosing(lambda text, others: -_letters(text, others))


def longest_of_the_texts():
    """Prefers the text that is longer than more of the others."""
    return _choosing(lambda text, others: sum(len(text) > len(other) for other in others))


def shortest_of_the_texts():
    """Prefers the text that is shorter than more of the others."""
    return _choosing(lambda text, others: sum(len(text) < len(other) for other in others))


def first_in_the_alphabet():
    """Prefers the text that comes first in the alphabet."""
    return _choosing(lambda text, others: sum(text < other for other in others))


def last_in_the_alphabet():
    """Prefers the text that comes last in the alphabet."""
    return _choosing(lambda text, others: sum(text > other for other in others))


def most_common_words():
    """Prefers the text whose rarest word is in most of the others."""
    return _choosing(lambda text, others: min(sum(word in _words(other) for other in others) for word in _words(text)))
