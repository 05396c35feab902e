"""An image and its encodings, which the tests of decoding share."""

from io import BytesIO

import numpy as np
from PIL import Image

BLOCKS = np.kron(np.random.default_rng(0).integers(0, 255, (4, 5, 3)), np.ones((8, 8, 1))).astype(np.uint8)
PHOTO = Image.fromarray(BLOCKS)
ORIENTATION = 0x0112


def encoded(image, form, **options):
    stream = BytesIO()
    image.save(stream, form, **options)
    return stream.getvalue()


def rotated(orientation):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return exif
