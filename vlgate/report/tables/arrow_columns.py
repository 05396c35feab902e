"""Columns of pyarrow, made without ``pyarrow.array``, whose first call imports pandas (0.2 s of CPU time)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vlgate.types import FloatArray


def texts(values: Sequence[str | None]) -> Any:
    """Return a column of texts; None is null.

    >>> texts(["a", None, "é"]).to_pylist()
    ['a', None, 'é']
    """
    import pyarrow as pa

    whole = "".join(filter(None, values))
    plain = whole.isascii()
    sizes = [0 if text is None else len(text) if plain else len(text.encode()) for text in values]
    content = whole.encode()
    wide = len(content) >= 2**31
    ends = np.cumsum([0, *sizes], dtype=np.int64).astype(np.int64 if wide else np.int32)
    there = np.array([text is not None for text in values]) if None in values else None
    kind = pa.large_string() if wide else pa.string()
    return pa.Array.from_buffers(kind, len(values), [_mask(there), pa.py_buffer(ends), pa.py_buffer(content)])


def numbers(values: FloatArray) -> Any:
    """Return a column of numbers from an array of shape (n,); NaN is null.

    >>> numbers(np.array([0.5, np.nan])).to_pylist()
    [0.5, None]
    """
    import pyarrow as pa

    there = ~np.isnan(values)
    content = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.float64(), len(values), [_mask(there), content])


def booleans(values: NDArray[np.bool_], there: NDArray[np.bool_]) -> Any:
    """Return a column of true and false from an array of shape (n,); null if ``there`` is false.

    >>> booleans(np.array([True, False]), np.array([True, False])).to_pylist()
    [True, None]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.bool_(), len(values), [_mask(there), _bits(values)])


def lists(values: Any, sizes: Sequence[int]) -> Any:
    """Return a column of lists of the given sizes, from a column of their values.

    >>> lists(texts(["a", "b", "c"]), [2, 1]).to_pylist()
    [['a', 'b'], ['c']]
    """
    import pyarrow as pa

    ends = np.cumsum([0, *sizes], dtype=np.int32)
    column = pa.Array.from_buffers(pa.int32(), len(ends), [None, pa.py_buffer(ends)])
    return pa.ListArray.from_arrays(column, values)


def _mask(there: NDArray[np.bool_] | None) -> Any:
    return None if there is None or there.all() else _bits(there)


def _bits(values: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.py_buffer(np.packbits(values, bitorder="little"))
