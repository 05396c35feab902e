"""List the exceptions that reading a damaged or mislabelled checkpoint can raise."""

from __future__ import annotations

import pickle
import struct

# A truncated pickle stops the unpickler at an arbitrary byte, so it can raise almost any of the built-in exceptions.
DAMAGED: tuple[type[Exception], ...] = (
    OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError, EOFError, AssertionError,
    ArithmeticError, StopIteration, struct.error, pickle.PickleError,
)  # fmt: skip
_MOST_LETTERS = 300


def damaged() -> tuple[type[Exception], ...]:
    """Return ``DAMAGED`` with the classes that safetensors and huggingface_hub raise instead of those."""
    from huggingface_hub import errors
    from safetensors import SafetensorError

    # StrictDataclassError: a value of a wrong type in a configuration. Versions of huggingface_hub too old for
    # transformers 5 do not have it.
    return (*DAMAGED, SafetensorError, getattr(errors, "StrictDataclassError", SafetensorError))


def one_line(error: BaseException) -> str:
    """Return the message of a library's exception on one line of at most 300 characters.

    >>> one_line(RuntimeError("two sizes     differ"))
    'two sizes differ'
    """
    said = " ".join(str(error).split()) or type(error).__name__
    return said if len(said) <= _MOST_LETTERS else f"{said[:_MOST_LETTERS]}..."
