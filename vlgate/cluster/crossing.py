"""What a model raises on an actor is raised in the run, as if the model were there."""

from __future__ import annotations

import builtins
import importlib
import pickle
import traceback

from vlgate.cluster.records import Failed
from vlgate.errors import ModelReplyError, described


def failed(error: BaseException) -> Failed:
    """Describe an exception so that it can be sent; arguments that cannot be pickled are left out."""
    kind = type(error)
    trace = "".join(traceback.format_exception(error)).rstrip()
    plain = Failed(module=kind.__module__, name=kind.__qualname__, said=described(error), trace=trace)
    try:
        pickle.dumps((error.args, vars(error)))
    except Exception:  # noqa: BLE001  # the arguments of a foreign exception may raise anything
        return Failed(module="", name=plain.name, said=plain.said, trace=trace)
    return Failed(
        module=plain.module, name=plain.name, said=plain.said, args=error.args, state=dict(vars(error)), trace=trace
    )


def raised(found: Failed, node: str) -> BaseException:
    """Make the exception again.

    Classes of Python and of vlgate are made as they were. Any other is a ModelReplyError, because to import the module
    of a foreign class could load a whole framework.

    >>> raised(failed(ValueError("no weights")), "10.0.0.7")
    ValueError('no weights')
    """
    error = _made(found)
    if error is None:
        error = ModelReplyError(f"the model raised {found.said}")
    error.add_note(f"raised on the node {node} of the cluster:\n{found.trace}")
    return error


def _made(found: Failed) -> BaseException | None:
    if found.module == "builtins":
        kind = getattr(builtins, found.name, None)
    elif found.module == "vlgate.errors":
        kind = getattr(importlib.import_module(found.module), found.name, None)
    else:
        return None
    if not isinstance(kind, type) or not issubclass(kind, BaseException):
        return None  # pytest gives its own exceptions the module "builtins"
    if found.module == "builtins":
        error: BaseException = kind(*found.args)
    else:
        error = kind.__new__(kind, *found.args)  # not __init__, which takes other arguments than those it keeps
    for name, value in (found.state or {}).items():
        setattr(error, name, value)
    return error
