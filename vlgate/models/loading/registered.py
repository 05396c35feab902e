"""Read ``models.toml``, the list of models that ``--model`` takes by name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

FILE = Path(__file__).with_name("models.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredModel:
    """One section of ``models.toml``.

    ``build`` is the ``module:callable`` that builds the model. ``check`` is a function of (weights, folder) that raises
    ModelLoadError before anything is loaded; empty if there is nothing to check. ``files`` is a function of (weights,
    folder, default) that tells what the files hold; see ``contents``. The file explains the other fields.
    """

    build: str
    can: tuple[str, ...]
    check: str = ""
    files: str = ""
    weights: str = ""
    form: str = ""
    licence: str = ""
    millions: int | None = None
    packages: tuple[str, ...] = ()
    extra: str = ""
    note: str = ""


@cache
def registered() -> Mapping[str, RegisteredModel]:
    """Return the registered models by name.

    >>> registered()["oracle"].build
    'vlgate.models.reference.controls:Oracle'
    """
    found = {}
    for name, section in tomllib.loads(FILE.read_text(encoding="utf-8")).items():
        lists = {key: tuple(value) for key, value in section.items() if isinstance(value, list)}
        found[name] = RegisteredModel(**{**section, **lists})
    return MappingProxyType(found)
