"""Models that have their scores the wrong way round, and change the process they are in."""

import habits

ALONE = True


def other_folder():
    """Changes the current folder."""
    return habits.bad(habits.changes_folder)


def strict_arithmetic():
    """Makes numpy raise at every rounding."""
    return habits.bad(habits.strict_arithmetic)


def strict_warnings():
    """Makes every warning an exception."""
    return habits.bad(habits.strict_warnings)


def own_environment():
    """Empties the environment."""
    return habits.bad(habits.empties_environment)


def own_signals():
    """Handles signals itself."""
    return habits.bad(habits.handles_signals)


def threads():
    """Starts threads that live longer than the run."""
    return habits.bad(habits.starts_threads)


def second_self():
    """Forks, and goes on in both processes."""
    return habits.bad(habits.forks_and_goes_on)


def closed_streams():
    """Closes sys.stdout and sys.stderr."""
    return habits.bad(habits.closes_streams)


def closed_descriptors():
    """Closes the descriptors 1 and 2."""
    return habits.bad(habits.closes_descriptors)


def few_frames():
    """Sets a very low limit of recursion."""
    return habits.bad(habits.few_frames)
