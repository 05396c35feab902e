"""Models that never return: a gate needs a limit of time for a call to end them."""

import time

import eyes

ALONE = True
LIMIT = True


def asleep():
    """Sleeps for ever at its first call."""
    return eyes.with_match(lambda pairs: time.sleep(3600))


def busy():
    """Counts for ever at its first call."""

    def match(pairs):
        number = 0
        while True:
            number += 1

    return eyes.with_match(match)


def later():
    """Is right, and hangs at its third call."""
    calls = []

    def match(pairs):
        calls.append(1)
        if len(calls) > 2:
            time.sleep(3600)
        return eyes.fits(pairs)

    return eyes.with_match(match)
