"""A module that ends the process at once while it is imported."""

import os

ALONE = True


def build():
    """Is in a module that calls os._exit(0) while it is imported."""


os._exit(0)
