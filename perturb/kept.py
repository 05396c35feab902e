"""Methods that answer each question once: their answers are kept in the object, which goes with them."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Keeping(Protocol):
    @property
    def _kept(self) -> dict[Any, Any]: ...


Self = TypeVar("Self", bound=Keeping)
_UNKNOWN: Any = object()


def kept(
    method: Callable[Concatenate[Self, Arguments], Answer],
) -> Callable[Concatenate[Self, Arguments], Answer]:
    """A method whose answers are kept in the dictionary ``_kept`` of its object, by its name and its arguments."""
    # functools.cache would keep the objects themselves as long as the program runs.
    name = method.__name__

    @wraps(method)
    def answered(self: Self, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        key = (name, args, *kwargs.items()) if kwargs else (name, args)
        known = self._kept
        answer: Answer = known.get(key, _UNKNOWN)  # looked up once, since a tuple's hash is not kept
        if answer is _UNKNOWN:
            answer = known[key] = method(self, *args, **kwargs)
        return answer

    return answered
