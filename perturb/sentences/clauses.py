"""Clauses of a subject, a verb and an object, in either voice.

The subject and the object are whole noun phrases with their determiners ("the man"), and the verb agrees with the
number of what stands before it.
"""

from __future__ import annotations

from vlgate.perturb.ontology.nouns import Number
from vlgate.perturb.sentences.verbs import Verb


def active(subject: str, verb: Verb, other: str, *, number: Number, progressive: bool = False) -> str:
    """Return a clause in the active voice; ``number`` is the subject's.

    >>> active("the men", Verb(base="look", rest="at"), "the child", number="plural")
    'the men look at the child'
    >>> active("a man", Verb(base="ride"), "a horse", number="singular", progressive=True)
    'a man is riding a horse'
    """
    said = verb.progressive(number) if progressive else verb.present(number)
    return f"{subject} {said} {other}"


def passive(subject: str, verb: Verb, agent: str, *, number: Number) -> str:
    """Return a clause in the passive voice; ``subject`` is what the verb is done to, ``number`` its number.

    >>> passive("the children", Verb(base="look", rest="at"), "the man", number="plural")
    'the children are looked at by the man'
    """
    return f"{subject} {verb.passive(number)} by {agent}"
