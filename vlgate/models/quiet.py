"""Loading without progress bars: a test run's output is read by people and by machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_bars() -> Iterator[None]:
    """Keep transformers from drawing progress bars; what was set before holds again afterwards.

    The hook on new bars is used, since ``disable_progress_bar()`` also settles whether the hub's library shows the
    progress of downloads. A version of transformers without that hook draws its bars.
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
