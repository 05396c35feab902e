"""Seeded random numbers: every random choice has a name, and depends on that name only.

A name begins with the run's seed, as in ``"0:limit:valse/existence"``. So a choice is the same in every process and in
every order of calls, and no choice uses up the random numbers of another.
"""

from hashlib import sha256
from random import Random

import numpy as np


def seed_of(name: str, n_bytes: int = 8) -> int:
    """Return the seed for a name: the first bytes of the SHA-256 of its UTF-8 form, as a big-endian integer."""
    return int.from_bytes(sha256(name.encode()).digest()[:n_bytes], "big")


def generator(name: str, n_bytes: int = 8) -> np.random.Generator:
    """Return a numpy generator for a name."""
    return np.random.default_rng(seed_of(name, n_bytes))


def quick_generator(name: str) -> Random:
    """Return a generator of the standard library for a name; a single draw takes a tenth of the time of numpy's."""
    # Python hashes the name with SHA-512, so the draws do not depend on PYTHONHASHSEED.
    return Random(name)  # noqa: S311  # nothing here is secret
