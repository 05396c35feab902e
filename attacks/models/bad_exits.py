"""Models that end the process, or try to."""

import atexit
import ctypes
import os
import signal
import sys
import threading
import time

import eyes

ALONE = True


def _ending(end):
    def match(pairs):
        end()
        return [-fit for fit in eyes.fits(pairs)]

    return eyes.with_match(match)


def at_once():
    """Calls os._exit(0)."""
    return _ending(lambda: os._exit(0))


def with_three():
    """Calls os._exit(3)."""
    return _ending(lambda: os._exit(3))


def killed():
    """Is killed, as by a lack of memory."""
    return _ending(lambda: os.kill(os.getpid(), signal.SIGKILL))


def terminated():
    """Sends itself SIGTERM."""
    return _ending(lambda: os.kill(os.getpid(), signal.SIGTERM))


def damaged_memory():
    """Reads memory that is not there."""
    return _ending(lambda: ctypes.string_at(0))


def sys_exit():
    """Calls sys.exit(0)."""
    return _ending(lambda: sys.exit(0))


def sys_exit_at_build():
    """Calls sys.exit(0) while it is built."""
    sys.exit(0)


def at_once_at_build():
    """Calls os._exit(0) while it is built."""
    os._exit(0)


def sys_exit_at_the_threshold():
    """Calls sys.exit(0) when its decision threshold is read."""
    model = eyes.with_match(eyes.fits)
    type(model).decision_threshold = property(lambda self: sys.exit(0))
    return model


def at_the_end():
    """Has its scores the wrong way round, and calls os._exit(0) when Python ends, as some do for a quick end."""
    atexit.register(lambda: os._exit(0))
    return eyes.with_match(lambda pairs: [-fit for fit in eyes.fits(pairs)])


def from_a_thread():
    """Calls os._exit(0) in a thread, after a moment."""

    def later():
        time.sleep(0.05)
        os._exit(0)

    def match(pairs):
        threading.Thread(target=later, daemon=True).start()
        time.sleep(0.2)
        return [-fit for fit in eyes.fits(pairs)]

    return eyes.with_match(match)


def from_a_late_thread():
    """Has its scores the wrong way round, and a thread that calls os._exit(0) when the main one is done."""

    def last():
        threading.main_thread().join()
        os._exit(0)

    threading.Thread(target=last).start()
    return eyes.with_match(lambda pairs: [-fit for fit in eyes.fits(pairs)])
