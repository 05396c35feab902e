"""The kinds by name. A kind is one line here and a record of the class ``Kind`` in a module of this folder."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

from vlgate.errors import UnknownNameError
from vlgate.making.kinds.kind import Kind

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "existence": "vlgate.making.kinds.answers:EXISTENCE",
        "plurality": "vlgate.making.kinds.captions:PLURALITY",
        "counting-balanced": "vlgate.making.kinds.answers:COUNTING_BALANCED",
        "counting-small": "vlgate.making.kinds.answers:COUNTING_SMALL",
        "counting-adversarial": "vlgate.making.kinds.answers:COUNTING_ADVERSARIAL",
        "counting-captions": "vlgate.making.kinds.captions:COUNTING_CAPTIONS",
        "relations": "vlgate.making.kinds.relations:RELATIONS",
        "action-replacement": "vlgate.making.kinds.frames:ACTION_REPLACEMENT",
        "actant-swap": "vlgate.making.kinds.frames:ACTANT_SWAP",
        "coreference": "vlgate.making.kinds.answers:COREFERENCE",
        "foil-it": "vlgate.making.kinds.captions:FOIL_IT",
        "active-passive": "vlgate.making.kinds.bla:ACTIVE_PASSIVE",
        "coordination": "vlgate.making.kinds.bla:COORDINATION",
        "relative-clause": "vlgate.making.kinds.bla:RELATIVE_CLAUSE",
        "object": "vlgate.making.kinds.checklist:OBJECT",
        "attribute": "vlgate.making.kinds.checklist:ATTRIBUTE",
        "relation": "vlgate.making.kinds.checklist:RELATION",
        "word-swap": "vlgate.making.kinds.word_swap:WORD_SWAP",
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
