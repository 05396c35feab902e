"""A lexicon of ``wn``, which must be installed: nothing is downloaded."""

from __future__ import annotations

from typing import Any

from vlgate.errors import OptionError


def lexicon(name: str) -> Any:
    """Return a lexicon of ``wn`` by its name, such as ``oewn:2024``.

    Raises: OptionError, which says how to get one, if it is not installed.
    """
    import wn

    try:
        return wn.Wordnet(name)
    except wn.Error as error:
        raise OptionError(
            f"--wordnet {name}: {error}; run python -m wn download oewn:2024 once, or name one that is installed"
        ) from None
