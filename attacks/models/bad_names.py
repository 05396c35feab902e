"""Models that know by heart which file shows what, and never look at an image: the names must not reach them."""

import re
import zlib
from itertools import permutations

import eyes

COLOURS = [colour for colour, _ in permutations(eyes.COLOURS, 2)] * 2
NUMBERS = [number for number, _ in permutations(eyes.NUMBERS, 2)] * 2
NUMBERS = NUMBERS[7:] + NUMBERS[:7]


def _by_heart(named):
    """Return a model that knows the words of an image by the number in what ``named`` returns of it."""

    def match(pairs):
        return [_known(str(named(pair.image)), pair.text) for pair in pairs]

    return eyes.with_match(match)


def _known(name, text):
    numbers = [int(number) for number in re.findall(r"(?<!\d)1[0-2]\d(?!\d)", name) if int(number) < 124]
    words = (COLOURS[numbers[-1] - 100], NUMBERS[numbers[-1] - 100]) if numbers else ()
    return float(any(word in text for word in words))


def key():
    """Reads the image's key."""
    return _by_heart(lambda image: image.key)


def path():
    """Reads the path of the image's file."""
    return _by_heart(lambda image: image.where)


def representation():
    """Reads what the image prints as."""
    return _by_heart(repr)


def loader():
    """Reads what the loader prints as."""
    return _by_heart(lambda image: repr(image.load))


def attributes_of_the_loader():
    """Reads all attributes of the loader."""
    return _by_heart(lambda image: {name: getattr(image.load, name) for name in dir(image.load)})


def recipe():
    """Reads what the loader says that its pixels depend on."""
    return _by_heart(lambda image: getattr(image.load, "recipe", str)())


def slots():
    """Reads the fields of the image, and those of what loads it."""
    return _by_heart(
        lambda image: [getattr(one, name, "") for one in (image, image.load) for name in getattr(one, "__slots__", ())]
    )


def made():
    """Reads the image that a loader hands over."""
    return _by_heart(lambda image: getattr(image.load, "made", getattr(image.load, "image", "")))


def key_of_the_pair():
    """Reads what the pair prints as."""

    def match(pairs):
        return [_known(repr(pair).replace(pair.text, ""), pair.text) for pair in pairs]

    return eyes.with_match(match)


def file_name_of_the_pixels():
    """Reads the file name of the decoded image."""
    return _by_heart(lambda image: (getattr(image.load(), "filename", ""), image.load().info))


def encoder():
    """Encodes an image by its name."""

    def encode_images(images):
        words = [*eyes.COLOURS, *eyes.NUMBERS]
        return [[_known(image.key, word) for word in words] for image in images]

    return eyes.with_methods(encode_images=encode_images, encode_texts=eyes.embedded_texts)


def perturbation():
    """Says no to every image whose name tells that something was hidden in it."""
    return eyes.with_methods(
        answer=lambda questions: ["no" if "#" in question.image.key else "yes" for question in questions]
    )


def noise():
    """Scores by a hash of the image's name and the text."""
    return eyes.with_match(_noise)


def noise_of_the_original():
    """Scores by a hash of the text and the image's name without its perturbation, and says that it needs names."""
    return eyes.with_match(lambda pairs: _noise(pairs, "#"), image_names=True)


def _noise(pairs, until="\0"):
    return [float(zlib.crc32((pair.image.key.split(until)[0] + pair.text).encode())) for pair in pairs]
