"""The images that the perturbations are tried on."""

import numpy as np
import pytest
from PIL import Image


def clouds(height, width, seed=0):
    """Noise at every scale: the statistics of a photograph."""
    random = np.random.default_rng(seed)
    layers = []
    for level in range(1, 8):
        coarse = random.integers(0, 256, ((height >> level) + 2, (width >> level) + 2, 3), dtype=np.uint8)
        layers.append(np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC), float))
    return np.mean(layers, axis=0).astype(np.uint8)


@pytest.fixture(scope="session")
def photograph():
    image = clouds(120, 161)
    image.flags.writeable = False  # a perturbation that writes into what it is given fails
    return image
