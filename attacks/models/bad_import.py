"""A module that ends the process while it is imported."""

import sys

ALONE = True


def build():
    """Is in a module that calls sys.exit(0) while it is imported."""


sys.exit(0)
