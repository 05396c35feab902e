"""Reads a pickle of plain values and arrays without running any code that it names.

Each name in the pickle gets a stand-in from this module or is refused; not even numpy's own functions can be called.
Arrays are built here, from their bytes, their shape and a numeric type.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

_TYPES = frozenset(
    {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "float32", "float64", "int32", "int64"}
)
_BROKEN = (
    pickle.UnpicklingError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, ImportError,
    OverflowError, MemoryError, RecursionError,
)  # fmt: skip


def plain_values(content: bytes) -> object:
    """Unpickle numbers, strings, bytes, lists, tuples, dictionaries and numpy's arrays and numbers.

    >>> plain_values(pickle.dumps({"img_id": 7, "boxes": np.zeros((1, 2), dtype=np.float32)}))
    {'img_id': 7, 'boxes': array([[0., 0.]], dtype=float32)}

    Raises: ValueError if the pickle is damaged, or asks for anything else, which the message names.
    """
    try:
        return _finished(_PlainUnpickler(io.BytesIO(content)).load(), {})
    except _BROKEN as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Return the stand-in of a name."""
        package, _, inner = module.partition(".")
        wanted = f"numpy.{name}" if package == "numpy" and (not inner or _CORE.get(name) == inner.lstrip("_")) else ""
        stand_in = _STAND_INS.get(wanted or f"{module}.{name}")
        if stand_in is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is neither a plain value nor an array")
        return _Callable(stand_in)


class _Callable:
    """A function that a pickle can call but not change."""

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __call__(self, *arguments: object) -> object:
        return self._function(*arguments)

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("it sets the state of a function")


class _Type:
    """Stands for a numeric numpy.dtype."""

    __slots__ = ("name", "order")

    def __init__(self, name: object, *_: object) -> None:
        if name not in _TYPES:
            raise pickle.UnpicklingError(f"it holds an array of {name!r}, which is not a numeric type")
        self.name, self.order = str(name), "<"

    def __setstate__(self, state: tuple[object, ...]) -> None:
        if state[1] not in ("<", "|", ">", "=") or any(state[2:5]):
            raise pickle.UnpicklingError(f"it holds an array of type {state!r}, which is not a numeric type")
        self.order = ">" if state[1] == ">" else "<"

    def dtype(self) -> np.dtype[Any]:
        """The numpy type with its byte order."""
        return np.dtype(self.name).newbyteorder(self.order)  # type: ignore[arg-type]  # one of two


class _Array:
    """Stands for a numpy.ndarray until its bytes are read."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value: NDArray[Any] = np.zeros(0)

    def __setstate__(self, state: tuple[int, tuple[int, ...], _Type, bool, bytes]) -> None:
        _, shape, kind, by_columns, content = state
        self.value = _array(content, kind, shape, "F" if by_columns else "C")


def _array(content: object, kind: _Type, shape: tuple[int, ...], order: str) -> NDArray[Any]:
    if isinstance(content, str):  # as Python 2 wrote bytes
        content = content.encode("latin1")
    if not isinstance(content, bytes | bytearray) or not isinstance(kind, _Type) or order not in ("C", "F"):
        raise pickle.UnpicklingError("it holds an array without bytes or without a type")
    return np.frombuffer(bytes(content), kind.dtype()).reshape(shape, order=order)  # type: ignore[call-overload,no-any-return]


def _from_buffer(content: object, kind: _Type, shape: tuple[int, ...], order: str = "C") -> _Array:
    made = _Array()
    made.value = _array(content, kind, shape, order)
    return made


def _scalar(kind: _Type, content: object) -> object:
    return _array(content, kind, (1,), "C")[0].item()


def _bytes(content: str | bytes = b"", encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1") or not isinstance(content, str | bytes):
        raise pickle.UnpicklingError(f"it holds bytes of {type(content).__name__} in {encoding!r}")
    return content.encode("latin1") if isinstance(content, str) else content


_STAND_INS: Mapping[str, Callable[..., object]] = {
    "numpy.dtype": _Type,
    "numpy.ndarray": _Array,
    "numpy._reconstruct": lambda *_: _Array(),
    "numpy._frombuffer": _from_buffer,
    "numpy.scalar": _scalar,
    "_codecs.encode": _bytes,
    "__builtin__.bytes": _bytes,
    "__builtin__.bytearray": _bytes,
    "builtins.bytearray": _bytes,
    # A row of csv.DictReader before Python 3.8, which is what VOLTA's scripts pickle.
    "collections.OrderedDict": lambda items=(): dict(items),
}
_CORE = {"_reconstruct": "core.multiarray", "scalar": "core.multiarray", "_frombuffer": "core.numeric"}


def _finished(value: object, done: dict[int, object]) -> object:
    """Replace the stand-ins of arrays by the arrays, and check that all else is a plain value.

    ``done`` holds the values visited, so that nested lists that share their parts take no time.
    """
    if id(value) in done:
        return done[id(value)]
    made = value
    if isinstance(value, _Array):
        made = value.value
    elif isinstance(value, dict):
        made = {_finished(key, done): _finished(inner, done) for key, inner in value.items()}
    elif isinstance(value, list | tuple):
        made = type(value)([_finished(inner, done) for inner in value])
    elif value is not None and not isinstance(value, bool | int | float | str | bytes | bytearray):
        problem = f"it holds a {type(value).__name__}, which is neither a plain value nor an array"
        raise pickle.UnpicklingError(problem)
    return done.setdefault(id(value), made)
