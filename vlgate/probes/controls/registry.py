"""The controls by name. The one place where a control is registered; its module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from vlgate.errors import OptionError, UnknownNameError

if TYPE_CHECKING:  # the names are read before every run, and nothing else is needed then
    from vlgate.probes.controls.control import Control

NONE = "none"  # what ``--controls`` takes for no control
LIMIT = 100  # the most cases of a task that a control is asked about, if the user does not say
BY_DEFAULT, DEFAULT_LIMIT = ("look",), 25
"""The controls of the embedded model on the embedded scenes without an option, and their limit."""

_CONTROLS: Mapping[str, tuple[str, str]] = {
    "look": ("vlgate.probes.controls.look:LOOK", "what the model knows without the image"),
    "delivery": (
        "vlgate.probes.controls.delivery:DELIVERY",
        "whether pictures arrive as they are, and answers survive changes that nobody sees",
    ),
}


def known_controls() -> dict[str, str]:
    return {name: about for name, (_, about) in _CONTROLS.items()}


def chosen(named: Iterable[str]) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(named))
    if NONE in names and len(names) > 1:
        raise OptionError(f"--controls={','.join(names)}: leave out {NONE}, or the others")
    for name in names:
        if name != NONE and name not in _CONTROLS:
            raise UnknownNameError("control in --controls", name, [*_CONTROLS, NONE])
    return () if NONE in names else names


def control(name: str) -> Control:
    module, _, attribute = _CONTROLS[name][0].partition(":")
    found: Control = getattr(import_module(module), attribute)
    return found
