"""What is said where a package is missing that not everybody needs."""

from __future__ import annotations

from vlgate.errors import ModelLoadError


def missing_package(name: str, extra: str) -> ModelLoadError:
    """The error of a package that is not installed.

    >>> print(missing_package("transformers", "hf"))
    needs transformers, which is not installed; pip install 'vlgate[hf]'
    """
    return ModelLoadError(f"needs {name}, which is not installed; pip install 'vlgate[{extra}]'")
