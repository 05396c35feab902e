"""Errors of loading: a package that is missing, a file that is damaged, parts that fail a trial request."""

import pickle
import struct
from importlib import import_module
from typing import Any, TypeVar

from vlgate.errors import ModelLoadError, ModelReplyError, NoReplyError
from vlgate.types import Answerer, Ask, LazyImage, Match, Matcher


def missing_package(name: str, extra: str) -> ModelLoadError:
    return ModelLoadError(f"needs {name}, which is not installed; pip install 'vlgate[{extra}]'")


def library(name: str, extra: str = "hf") -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise missing_package(error.name or name, extra) from None


# A truncated pickle stops the unpickler at an arbitrary byte, so it can raise almost any of the built-in exceptions.
DAMAGED: tuple[type[Exception], ...] = (
    OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError, EOFError, AssertionError,
    ArithmeticError, StopIteration, struct.error, pickle.PickleError,
)  # fmt: skip


def damaged() -> tuple[type[Exception], ...]:
    from huggingface_hub import errors
    from safetensors import SafetensorError

    # StrictDataclassError: a value of a wrong type in a configuration. Versions of huggingface_hub too old for
    # transformers 5 do not have it.
    return (*DAMAGED, SafetensorError, getattr(errors, "StrictDataclassError", SafetensorError))


def one_line(error: BaseException) -> str:
    line = " ".join(str(error).split()) or type(error).__name__
    return line if len(line) <= 300 else f"{line[:300]}..."


M = TypeVar("M", bound=Matcher | Answerer)
_MISFITS = (RuntimeError, ValueError, LookupError, TypeError, AttributeError, NoReplyError, ModelReplyError)


def tried(model: M, asked: str) -> M:
    from PIL import Image

    image = LazyImage(key="drawn", load=lambda: Image.new("RGB", (64, 64)))
    what = "answer a question" if isinstance(model, Answerer) else "score an image and a text"
    try:
        if isinstance(model, Answerer):
            model.answer([Ask(image=image, question="a")])
        else:
            model.match([Match(image=image, text="a")])
    except _MISFITS as error:
        raise ModelLoadError(
            f"{asked} cannot {what} ({type(error).__name__}: {one_line(error)}); check that its configuration, "
            "image processor and tokenizer belong to one model"
        ) from error
    return model
