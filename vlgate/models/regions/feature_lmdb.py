"""VOLTA's databases of features: an LMDB that a process of its own reads, and pickles that run no code."""

import io
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.load_errors import missing_package
from vlgate.models.regions.feature_records import AGAIN, KINDS, Record, Records, from_base64

DATA = "data.mdb"  # the data file of a database that is a folder
_SCRIPT = Path(__file__).with_name("lmdb_process.py")
_DIED = "the process that read it was killed, so a page of the file is damaged"


def _received(process: subprocess.Popen[bytes]) -> bytes | None:
    """The next content; None for no entry. Raises ValueError with the message of the process, or if it dies."""
    stream = process.stdout
    head = stream.read(9) if stream is not None else b""
    length = int.from_bytes(head[1:], "big")
    content = stream.read(length) if stream is not None and len(head) == 9 else b""
    if len(head) < 9 or len(content) < length:
        process.kill()
        process.wait()
        raise ValueError(_DIED)
    if head[:1] == b"-":
        raise ValueError(content.decode(errors="replace"))
    return content if head[:1] == b"+" else None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()


# A pickle of plain values and arrays is read without running any code that it names: each name in it gets a stand-in
# from this module or is refused; not even numpy's own functions can be called. Arrays are built here, from their bytes,
# their shape and a numeric type.

_TYPES = frozenset(
    {"f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "float32", "float64", "int32", "int64"}
)
_BROKEN = (
    pickle.UnpicklingError, ValueError, TypeError, KeyError, IndexError, AttributeError, EOFError, ImportError,
    OverflowError, MemoryError, RecursionError,
)  # fmt: skip


def plain_values(content: bytes) -> object:
    try:
        return _finished(_PlainUnpickler(io.BytesIO(content)).load(), {})
    except _BROKEN as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


class _PlainUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        package, _, inner = module.partition(".")
        wanted = f"numpy.{name}" if package == "numpy" and (not inner or _CORE.get(name) == inner.lstrip("_")) else ""
        stand_in = _STAND_INS.get(wanted or f"{module}.{name}")
        if stand_in is None:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which is neither a plain value nor an array")
        return _Callable(stand_in)


class _Callable:
    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __call__(self, *arguments: object) -> object:
        return self._function(*arguments)

    def __setstate__(self, state: object) -> NoReturn:
        raise pickle.UnpicklingError("it sets the state of a function")


class _Type:
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
        return np.dtype(self.name).newbyteorder(self.order)  # type: ignore[arg-type]  # one of two


class _Array:
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


def _bytes(content: str | bytes = b"", encoding: str = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1") or not isinstance(content, str | bytes):
        raise pickle.UnpicklingError(f"it holds bytes of {type(content).__name__} in {encoding!r}")
    return content.encode("latin1") if isinstance(content, str) else content


_STAND_INS: Mapping[str, Callable[..., object]] = {
    "numpy.dtype": _Type,
    "numpy.ndarray": _Array,
    "numpy._reconstruct": lambda *_: _Array(),
    "numpy._frombuffer": _from_buffer,
    "numpy.scalar": lambda kind, content: _array(content, kind, (1,), "C")[0].item(),
    "_codecs.encode": _bytes,
    "__builtin__.bytes": _bytes,
    "__builtin__.bytearray": _bytes,
    "builtins.bytearray": _bytes,
    # A row of csv.DictReader before Python 3.8, which is what VOLTA's scripts pickle.
    "collections.OrderedDict": lambda items=(): dict(items),
}
_CORE = {"_reconstruct": "core.multiarray", "scalar": "core.multiarray", "_frombuffer": "core.numeric"}


def _finished(value: object, done: dict[int, object]) -> object:
    if id(value) in done:  # nested lists that share their parts take no time
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


# A database of VOLTA (e-bug/volta, and vilbert before it) has one pickled dictionary per image, under its number as
# text: img_h, img_w, num_boxes, boxes and features, the last two in base64 or as arrays, boxes in pixels.

_LIST_OF_KEYS = "keys"  # the entry that lists all keys and is not an image
_NAMES = {
    "objects": "objects_id", "object_scores": "objects_conf", "attributes": "attrs_id", "attribute_scores": "attrs_conf"
}  # fmt: skip


class Volta(Records):
    """A database, open for reading. If its process dies of an entry, the next entry is read by another one."""

    def __init__(self, path: Path) -> None:
        if find_spec("lmdb") is None:
            raise missing_package("lmdb", "lmdb")
        self._path = path
        try:
            self._process, listed = self._started()
            keys = [bytes.fromhex(key).decode() for key in listed.decode().split("\n") if key]
        except (OSError, ValueError) as error:
            raise ModelLoadError(f"{path}: cannot be read as an LMDB ({error}); {AGAIN}") from None
        self._places = {key: key for key in keys if key != _LIST_OF_KEYS}

    def _record(self, key: str) -> Record:
        if self._process.poll() is not None:
            self._process, _ = self._started()
        try:
            self._process.stdin.write(key.encode().hex().encode() + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise ValueError(_DIED) from None
        content = _received(self._process)
        if content is None:
            raise ValueError("its key leads to no entry")
        item = plain_values(content)
        if not isinstance(item, Mapping):
            raise TypeError(f"it is a {type(item).__name__}, expected a dictionary")
        count = int(item["num_boxes"])
        arrays = {name: _numbers(item[name], np.float32) for name in ("features", "boxes")}
        # A 2-d array keeps all its rows, though vilbert-multi-task counts only certain boxes.
        arrays = {name: rows if rows.ndim == 2 else rows.reshape(count, -1) for name, rows in arrays.items()}
        arrays["boxes"] = arrays["boxes"][:, :4]
        arrays |= {name: _numbers(item[own], KINDS[name]) for name, own in _NAMES.items() if own in item}
        height, width = (float(item[f"img_{side}" if f"img_{side}" in item else f"image_{side}"]) for side in "hw")
        return self._path, arrays, (height, width)

    def _started(self) -> tuple[subprocess.Popen[bytes], bytes]:
        command = [sys.executable, "-P", str(_SCRIPT), str(self._path), str(int(self._path.is_dir()))]
        process = subprocess.Popen(  # noqa: S603  # our own script
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the run
        )
        weakref.finalize(self, _end, process)
        return process, _received(process) or b""


def _numbers(value: object, kind: type[np.generic]) -> NDArray[Any]:
    if isinstance(value, str | bytes | bytearray):
        return from_base64(bytes(value) if isinstance(value, bytearray) else value, kind)
    if isinstance(value, np.ndarray):
        return value.astype(kind)
    raise TypeError(f"it holds a {type(value).__name__}, expected numbers")
