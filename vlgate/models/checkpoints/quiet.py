"""Suppress the progress bars of transformers, which would clutter the output of a test run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_bars() -> Iterator[None]:
    """Suppress progress bars of transformers within a ``with`` block.

    This sets the hook for new bars, because ``disable_progress_bar()`` also hides the download progress of
    huggingface_hub. Versions of transformers without that hook still draw their bars.
    """
    from transformers.utils import logging

    if not hasattr(logging, "set_tqdm_hook"):
        yield
        return
    before = logging.set_tqdm_hook(_hidden)
    try:
        yield
    finally:
        logging.set_tqdm_hook(before)


def _hidden(bar: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return bar(*args, **{**kwargs, "disable": True})
