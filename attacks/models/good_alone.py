"""Good models that change the process they are in, in ways that are unusual and legitimate."""

import habits

ALONE = True


def tensors():
    """Returns a tensor of torch that needs a gradient."""
    import eyes
    import torch

    return eyes.with_match(lambda pairs: torch.tensor(eyes.fits(pairs), requires_grad=True))


def other_folder():
    """Changes the current folder."""
    return habits.good(habits.changes_folder)


def strict_arithmetic():
    """Makes numpy raise at every rounding."""
    return habits.good(habits.strict_arithmetic)


def strict_warnings():
    """Makes every warning an exception."""
    return habits.good(habits.strict_warnings)


def own_seeds():
    """Seeds the generators of random numbers."""
    return habits.good(habits.seeds)


def own_locale():
    """Changes the locale and the time zone."""
    return habits.good(habits.changes_locale)


def own_environment():
    """Empties the environment."""
    return habits.good(habits.empties_environment)


def own_signals():
    """Handles signals itself."""
    return habits.good(habits.handles_signals)


def threads():
    """Starts threads that live longer than the run."""
    return habits.good(habits.starts_threads)


def children():
    """Forks a child that ends with status 0."""
    return habits.good(habits.forks)
