"""Images in a terminal that can show them, by the package ``textual-image``, which need not be installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from vlgate.errors import ImageError
from vlgate.report.after.missed import one_line
from vlgate.report.page.pictures import UNKNOWN
from vlgate.types import LazyImage

WIDTH = 48
"""The width of an image, in cells of the terminal."""
_REAL = {"textual_image.renderable.tgp", "textual_image.renderable.sixel"}


def drawer() -> Callable[..., Any] | None:
    """Return what draws an image, None if the package is not installed or the terminal knows no protocol for images."""
    if not os.get_terminal_size().columns:  # the package divides by it
        return None
    try:
        renderable = import_module("textual_image.renderable").Image  # asks the terminal as it is imported
    except ImportError:
        return None
    return renderable if renderable.__module__ in _REAL else None


def draw(show: Callable[..., Any], images: Sequence[tuple[str, LazyImage | None]]) -> None:
    """Draw images one below the other, each below its name."""
    from rich.console import Console

    console = Console(file=getattr(sys.stdout, "terminal", None))  # not escaped
    for name, image in images:
        console.print(f"image {one_line(name)}", markup=False, highlight=False)
        try:
            problem = UNKNOWN if image is None else ""
            if image is not None:
                console.print(show(image.load(), width=WIDTH))
        except ImageError as error:
            problem = str(error)
        if problem:
            console.print(one_line(problem), markup=False, highlight=False)
