"""Find the torch module inside an adapter, so that tests need not know the attribute that holds it."""

from functools import partial

from torch import nn


def network(held):
    """Return the torch module that an adapter holds, in an attribute of its own or of an object that it holds."""
    return next(_modules(held))


def _modules(held):
    if isinstance(held, nn.Module):
        yield held
    elif isinstance(held, partial):
        for argument in held.args:
            yield from _modules(argument)
    elif type(held).__module__.startswith("vlgate.models."):
        for value in getattr(held, "__dict__", {}).values():
            yield from _modules(value)
