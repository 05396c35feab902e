"""What pytest sends and prints of failed tests: halves of surrogate pairs escaped, and one cause printed once."""

from __future__ import annotations

import warnings

from vlgate.errors import halved


def cleaned(value: object) -> object:
    """Return what a report holds with the halves of surrogate pairs escaped, which execnet refuses to send."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode() if halved(value) else value
    if isinstance(value, dict):
        return {cleaned(name): cleaned(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(cleaned, value))
    return value


def cleaned_warning(recorded: warnings.WarningMessage) -> None:
    """Escape the halves of surrogate pairs in a warning, in place: pytest-xdist sends the text as it is."""
    if isinstance(recorded.message, Warning):
        recorded.message.args = tuple(cleaned(part) for part in recorded.message.args)
