"""What the good models see, and the bad ones misuse: the colour and the number of the squares of an image.

A pair has ``.text`` and ``.image``; an image has ``.key``, a name, and ``.load()``, which returns a PIL image.
"""

from functools import lru_cache

import numpy as np

COLOURS = {"red": (220, 30, 30), "green": (30, 160, 40), "blue": (30, 60, 220), "yellow": (235, 215, 30)}
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
GREY, SQUARE = 128, 14


def seen(image):
    """Return the words that are true of an image: its colour and its number."""
    pixels = np.asarray(image.load())
    return _true_of(pixels.tobytes(), pixels.shape)


@lru_cache(maxsize=4096)
def _true_of(content, shape):
    pixels = np.frombuffer(content, np.uint8).reshape(shape).astype(np.float64)
    squares = np.abs(pixels - GREY).max(axis=2) > 60
    mean = pixels[squares].mean(axis=0) if squares.any() else np.full(3, GREY)
    colour = min(COLOURS, key=lambda name: np.abs(mean - COLOURS[name]).sum())
    count = squares.sum() / SQUARE**2
    return colour, min(NUMBERS, key=lambda name: abs(NUMBERS[name] - count))


def fit(pair):
    """Return the share of the colours and numbers of a text that are true of its image; 0.5 if it names none."""
    return _fit(seen(pair.image), pair.text)


def fits(pairs):
    """Return one score for each pair, as a list of floats."""
    return [fit(pair) for pair in pairs]


def colour_fits(pairs):
    """Return scores that know colours and have every number wrong."""
    return [1 - fit(pair) if any(word in pair.text for word in NUMBERS) else fit(pair) for pair in pairs]


def fits_between(pairs):
    """Return scores between 0 and 1, never 0 or 1."""
    return [0.1 + 0.8 * fit(pair) for pair in pairs]


def answers(questions):
    """Return the right answer to each question, or yes or no if these are the choices."""
    return [_answer(question) for question in questions]


def embedded(images):
    """Return one row for each image: 1 for the words that are true of it."""
    words = [*COLOURS, *NUMBERS]
    return np.array([[float(word in seen(image)) for word in words] for image in images])


def embedded_texts(texts):
    """Return one row for each text: 1 for the words that it names."""
    words = [*COLOURS, *NUMBERS]
    return np.array([[float(word in _words(text)) for word in words] for text in texts])


def with_match(match, **attributes):
    """Return a model whose method ``match`` is a function of the pairs, with some more attributes or methods."""
    return with_methods(match=match, **attributes)


def with_methods(**methods):
    """Return a model with these methods and attributes."""
    return type("Model", (), {name: _unbound(method) for name, method in methods.items()})()


def _unbound(one):
    return staticmethod(one) if callable(one) else one


def _words(text):
    return [word.strip('?.,"') for word in text.split()]


def _fit(true, text):
    named = [word for word in _words(text) if word in COLOURS or word in NUMBERS]
    return sum(word in true for word in named) / len(named) if named else 0.5


def _answer(question):
    true = seen(question.image)
    if set(question.choices) == {"yes", "no"}:
        return "yes" if _fit(true, question.question) == 1 else "no"
    return next(word for word in true if word in question.choices)
