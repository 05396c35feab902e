"""What models do to the process they are in: each function is called once, at the first call of a model."""

import locale
import os
import random
import signal
import sys
import threading
import time
import warnings

import eyes
import numpy as np


def good(habit):
    """Return a model that is right, and has a habit."""
    return _first(habit, eyes.fits)


def bad(habit):
    """Return a model that has its scores the wrong way round, and a habit."""
    return _first(habit, lambda pairs: [-fit for fit in eyes.fits(pairs)])


def _first(habit, match):
    done = []

    def first(pairs):
        if not done:
            done.append(habit)
            habit()
        return match(pairs)

    return eyes.with_match(first)


def changes_folder():
    """Go to another folder."""
    os.chdir("/")


def strict_arithmetic():
    """Let numpy raise if a result is rounded to 0 or to infinity."""
    np.seterr(all="raise")


def strict_warnings():
    """Let warnings raise."""
    warnings.simplefilter("error")


def seeds():
    """Seed the generators that a process shares, as careless code does."""
    random.seed(0)
    np.random.seed(0)


def changes_locale():
    """Write numbers and times as in another country."""
    for name in ("de_DE.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_ALL, name)
            break
        except locale.Error:
            continue
    os.environ["TZ"] = "Asia/Kathmandu"
    time.tzset()


def empties_environment():
    """Forget the environment."""
    os.environ.clear()


def handles_signals():
    """Ignore the signals that end a process."""
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD):
        signal.signal(one, signal.SIG_IGN)


def starts_threads():
    """Start threads that sleep until the process ends."""
    for _ in range(4):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


def forks():
    """Fork a child that ends at once."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def forks_and_goes_on():
    """Fork a child that goes on as if it were the parent."""
    os.fork()


def closes_streams():
    """Close the streams of Python."""
    sys.stdout.close()
    sys.stderr.close()


def closes_descriptors():
    """Close the descriptors of the standard output and the standard error."""
    os.close(1)
    os.close(2)


def few_frames():
    """Allow very few frames."""
    sys.setrecursionlimit(90)
