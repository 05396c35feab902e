"""Make the error for an optional package that is not installed."""

from __future__ import annotations

from vlgate.errors import ModelLoadError


def missing_package(name: str, extra: str) -> ModelLoadError:
    """Return the error for a package that is not installed; ``extra`` is the extra of vlgate that installs it.

    >>> print(missing_package("transformers", "hf"))
    needs transformers, which is not installed; pip install 'vlgate[hf]'
    """
    return ModelLoadError(f"needs {name}, which is not installed; pip install 'vlgate[{extra}]'")
