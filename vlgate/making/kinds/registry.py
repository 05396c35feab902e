"""The kinds by name. A kind is one line here and a record of the class ``Kind`` in a module of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from vlgate.errors import UnknownNameError
from vlgate.making.kinds.kind import Kind

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "questions": "vlgate.making.kinds.questions:QUESTIONS",
    }
)
"""The place of each kind's record, ``module:NAME``; nothing is imported before it is used."""


def kind(name: str) -> Kind:
    """Return the kind with a name.

    Raises: UnknownNameError, which names the nearest kind, if there is none.
    """
    if name not in KINDS:
        raise UnknownNameError("kind", name, KINDS)
    module, _, constant = KINDS[name].partition(":")
    found: Kind = getattr(import_module(module), constant)
    return found
