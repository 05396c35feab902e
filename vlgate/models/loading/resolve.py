"""Import the callable ``package.module:name``, call it with the arguments that it takes, and check what it returns.

The code is not vlgate's: whatever it raises becomes a ModelLoadError that names the module or the callable.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import PathFinder
from pathlib import Path

from vlgate.errors import ModelLoadError, described, nearest

METHODS = (("match",), ("encode_images", "encode_texts"), ("answer",), ("compare",), ("perplexity",))
_NEEDED = (
    "match(pairs), encode_images(images) with encode_texts(texts), answer(questions), compare(questions) or "
    "perplexity(texts)"
)


def can_be_found(module: str, folder: Path) -> bool:
    """Return whether a module's top-level package is on the path or in ``folder``; imports nothing."""
    top = module.partition(".")[0]
    try:
        spec = importlib.util.find_spec(top)
    except ValueError:  # a module without a spec, such as __main__
        return True
    return spec is not None or PathFinder.find_spec(top, [str(folder)]) is not None


def put_on_path(folder: Path) -> None:
    """Put ``folder`` first on the import path, unless it is on the path already."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def import_target(target: str, what: str) -> Callable[..., object]:
    """Import the callable that ``module:name`` names; ``name`` may have dots.

    Raises: ModelLoadError, beginning with ``what``, if the module or something that it imports is missing, if
        importing it raises, if it lacks the name (the nearest one is given), or if the name is not callable.
    """
    module_name, _, path = target.partition(":")
    found: object = _import(module_name, what)
    for name in path.split("."):
        if not hasattr(found, name):
            known = [other for other in dir(found) if not other.startswith("_")]
            raise ModelLoadError(f"{what}: {module_name!r} has no {path!r}; {nearest(name, known)}")
        found = getattr(found, name)
    if not callable(found):
        problem = f"{target!r} is of type {type(found).__name__}, which cannot be called"
        raise ModelLoadError(f"{what}: {problem}; name a function that returns the model, or its class")
    return found


def _import(module: str, what: str) -> object:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            why = f"there is no module {error.name!r}; start in the folder that contains it, or install its package"
        else:
            why = f"{module!r} imports {error.name!r}, which is not installed ({error})"
        raise ModelLoadError(f"{what}: {why}") from error
    except KeyboardInterrupt:
        raise
    # A foreign module can raise anything, such as pytest.skip(), and a script without a main guard exits.
    except BaseException as error:
        raise ModelLoadError(f"{what}: importing {module!r} raised {described(error)}") from error


def named_arguments(made_by: Callable[..., object], weights: str, what: str) -> tuple[str, ...]:
    """Return which of the arguments that vlgate passes a callable takes.

    Args:
        made_by: the callable that builds the model.
        weights: what the user wrote after the colon; empty for nothing.
        what: the beginning of the messages.

    Returns: names out of ``device, dtype, seed, weights, folder``.
    Raises: ModelLoadError if the callable requires another argument, requires weights and none were given, or takes
        no weights and some were given.
    """
    offered = {"device", "dtype", "seed", "folder"} | ({"weights"} if weights else set())
    parameters = _parameters(made_by)
    named = tuple(name for name in parameters if name in offered)
    if weights and "weights" not in named:
        raise ModelLoadError(f"{what}: it takes no weights, but {weights!r} stands after the colon; leave it out")
    for name, parameter in parameters.items():
        if name == "weights" and name not in named and parameter.default is parameter.empty:
            raise ModelLoadError(f"{what}: it needs weights; write them after a colon")
        if name not in named and parameter.default is parameter.empty:
            passed = "device, dtype, seed, weights and folder"
            raise ModelLoadError(
                f"{what}: it requires the argument {name!r}; vlgate passes {passed}; give it a default"
            )
    return named


def _parameters(made_by: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    try:
        parameters = inspect.signature(made_by).parameters
    except (TypeError, ValueError):  # a built-in without a signature
        return {}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: parameter for name, parameter in parameters.items() if parameter.kind not in several}


def call(made_by: Callable[..., object], arguments: Mapping[str, object], what: str) -> object:
    """Build the model.

    Raises: ModelLoadError if the callable raises (a ModelLoadError of its own passes through), or if what it returns
        has none of the methods of a model.
    """
    try:
        model = made_by(**arguments)
    except ModelLoadError:
        raise
    except KeyboardInterrupt:
        raise
    # A foreign callable can raise anything, and may exit.
    except BaseException as error:
        raise ModelLoadError(f"{what}: building it raised {described(error)}") from error
    if isinstance(model, type):
        raise ModelLoadError(f"{what}: it returned the class {model.__name__}; return an instance of it")
    if not any(all(callable(getattr(model, name, None)) for name in way) for way in METHODS):
        raise ModelLoadError(
            f"{what}: it returned an object of type {type(model).__name__}, which has none of the methods {_NEEDED}"
        )
    return model
