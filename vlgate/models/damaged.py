"""What reading a checkpoint raises where a file of it is torn or is another than its name says."""

from __future__ import annotations

import pickle
import struct

# A torn pickle can stop the unpickler at any place, which then raises whatever it stumbles over.
DAMAGED: tuple[type[Exception], ...] = (
    OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError, EOFError, AssertionError,
    ArithmeticError, StopIteration, struct.error, pickle.PickleError,
)  # fmt: skip
_MOST_LETTERS = 300


def damaged() -> tuple[type[Exception], ...]:
    """``DAMAGED``, and the classes that safetensors and the hub's library raise in place of those."""
    from huggingface_hub import errors
    from safetensors import SafetensorError

    # Of a configuration's value that is of the wrong type; versions that transformers 5 does not take lack it.
    return (*DAMAGED, SafetensorError, getattr(errors, "StrictDataclassError", SafetensorError))


def one_line(error: BaseException) -> str:
    """What an exception of a library says, on one line of bounded length.

    >>> one_line(RuntimeError("two sizes     differ"))
    'two sizes differ'
    """
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= _MOST_LETTERS else f"{said[:_MOST_LETTERS]}..."
