"""Which controls a run asks: those that the user names, or those of the embedded model on the embedded scenes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from vlgate.controls.registry import BY_DEFAULT, DEFAULT_LIMIT, LIMIT, chosen
from vlgate.errors import VlgateError
from vlgate.run.options import DEFAULT_MODEL


def controls_of(named: Sequence[str], *, model: str, scenes: bool) -> tuple[str, ...]:
    """Return the names of the controls, each once.

    Args:
        named: what ``--controls`` names; empty if it is not given.
        model: the model of the run.
        scenes: whether the whole run is about the embedded scenes.

    Raises: pytest.UsageError if there is no such control, or if ``none`` is named with others.

    >>> controls_of([], model="tiny-lxmert", scenes=True), controls_of(["none"], model="tiny-lxmert", scenes=True)
    (('look',), ())
    """
    if not named:
        return BY_DEFAULT if scenes and model == DEFAULT_MODEL else ()
    try:
        return chosen(named)
    except VlgateError as error:
        raise pytest.UsageError(str(error)) from None


def limit_of(named: Sequence[str]) -> int:
    """Return the most cases of a task if ``--controls-limit`` is not given; ``named`` is as in ``controls_of``."""
    return LIMIT if named else DEFAULT_LIMIT
