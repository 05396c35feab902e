"""Sentences with a place for a quantifier: "There are # cups", "The man has # cups", "# of the cups are red"."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from vlgate.perturb.foils.how_many.asked import BE, DO, MODALS, Asked, written
from vlgate.perturb.foils.how_many.noun_number import one_of, third_person
from vlgate.perturb.foils.how_many.tails import unsayable
from vlgate.perturb.parsing.parsed import Token

Form = Literal["there", "object", "objects", "clause", "group"]

Frame = tuple[str, str]
"""What stands before and behind the quantifier of a statement, without the blanks around it."""

Frames = tuple[Frame | None, Frame, Form]
"""A sentence for one, if it has a wording, the sentence for every other number, and its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nouns:
    """What is counted, in the plural and in the singular; the singular is None if it is not known."""

    many: str
    one: str | None


# Adjectives that may stand behind their noun without a complement: "two boats visible", "a man asleep".
_LATE = frozenset(
    (
        *("visible", "present", "available", "open", "alone", "asleep", "awake", "alive", "afloat", "apart", "ajar"),
        *("airborne", "upright", "missing", "outside", "inside", "outdoors", "indoors", "aboard", "unseen"),
        *("underwater", "barefoot", "adrift", "aloft"),
    )
)
# Adjectives that say nothing of a noun without a complement: "three people close to the car", not "three close people".
_OF_ANOTHER = frozenset(
    (
        *("close", "near", "next", "similar", "alike", "able", "unable", "ready", "afraid", "aware", "capable"),
        *("ashamed", "fond", "likely", "adjacent", "parallel", "opposite", "equal", "identical", "related"),
    )
)


def there(parts: Asked, nouns: Nouns, tail: tuple[Token, ...], before: str = "") -> Frames | str:
    """Say "There are # nouns tail"; ``before`` are adjectives that go before the noun."""
    bare = bool(tail) and tail[-1].tag == "JJ" and tail[-1].lower not in _LATE
    bare = bare and all(word.tag[:2] in {"RB", "JJ", "PD", "DT", "NN"} for word in tail[:-1])
    reason = "an adjective behind its noun" if bare else unsayable(tail)
    if reason:
        return reason
    many, one = tailed(tail, parts.front), one_of(tail)
    ahead = f"{before} " if before else ""
    one_text = None if nouns.one is None or one is None else f"{ahead}{nouns.one}{_blank(one)}{_front(parts.front)}"
    return (
        None if one_text is None else ("there is", one_text),
        ("there are", f"{ahead}{nouns.many}{many}"),
        "there",
    )


_FIRST = frozenset({"not", "n't", "next"})


def with_adjective(parts: Asked, nouns: Nouns) -> Frames | str:
    """Put a predicate adjective before the noun, or leave it behind it if it may stand there."""
    rest = parts.rest
    end = next((n for n, word in enumerate(rest) if word.tag[:2] not in {"JJ", "RB", "CC"}), len(rest))
    adjectives = [word.lower for word in rest[:end] if word.tag[:2] == "JJ"]
    last = rest[end - 1] if end else rest[0]
    stays = not adjectives or adjectives[-1] in _LATE - {"open"} or last.tag == "RB" or rest[0].lower in _FIRST
    follows = rest[end].tag if end < len(rest) else ""
    if adjectives and rest[0].lower in {"not", "n't"}:
        return "a negated adjective"
    if adjectives and adjectives[-1] in _OF_ANOTHER and last.tag != "RB":
        complement = follows in {"IN", "TO"}
        return there(parts, nouns, (*parts.after, *rest)) if complement else "an adjective without its complement"
    if stays or (follows == "IN" and (last.tag == "JJR" or rest[end].lower in {"than", "as", "of", "for", "from"})):
        return there(parts, nouns, (*parts.after, *rest))
    if follows in {"VBG", "VBN", "NN", "NNS", "TO"} or parts.after:
        return "an adjective with a complement"
    return there(parts, nouns, rest[end:], before=written(rest[:end]))


def with_object(parts: Asked, nouns: Nouns, subject: str, tail: tuple[Token, ...]) -> Frames | str:
    """Say "The man has # nouns"; of several men the number may be meant of each."""
    reason = unsayable(tail)
    if reason:
        return reason
    several = parts.verb is not None and parts.verb.lower in {"are", "were", "do"}
    if parts.after:
        nouns = Nouns(
            many=f"{nouns.many} {written(parts.after)}",
            one=None if nouns.one is None else f"{nouns.one} {written(parts.after)}",
        )
    behind = tailed(tail, parts.front)
    one = None if nouns.one is None or several else (subject, f"{nouns.one}{behind}")
    return one, (subject, f"{nouns.many}{behind}"), "objects" if several else "object"


def as_clause(parts: Asked, nouns: Nouns, verbs: tuple[str, str]) -> Frames | str:
    """Say "# nouns have been broken"; ``verbs`` are the auxiliary in the plural and in the singular."""
    after = f" {written(parts.after)}" if parts.after else ""
    behind = f"{written(parts.rest)}{_front(parts.front)}"
    one = None
    if nouns.one is not None and one_of(parts.rest) is not None:
        one = ("", f"{nouns.one}{after} {verbs[1]} {behind}")
    return one, ("", f"{nouns.many}{after} {verbs[0]} {behind}"), "clause"


_PERSONS = frozenset(
    {"people", "men", "women", "persons", "boys", "girls", "children", "kids", "players", "adults", "guys", "ladies"}
)


def with_relative(parts: Asked, nouns: Nouns) -> Frames | str:
    """Say "# nouns that surround the tower", for "How many nouns surround the tower?"."""
    if parts.verb is None or not parts.rest or parts.rest[0].tag in {"CC", "VBD"}:
        return "the question is not complete"
    head = parts.noun[parts.head].lower
    link = f"{written(parts.after)} {'who' if head in _PERSONS else 'that'}".strip()
    many_verb, one_verb = third_person(parts.verb)
    if many_verb is None or one_verb is None:
        return "a verb that is not known"
    tail, one_tail = tailed(parts.rest, parts.front), one_of(parts.rest, parts.verb.lower)
    one = None
    if nouns.one is not None and one_tail is not None:
        one = ("there is", f"{nouns.one} {link} {one_verb}{_blank(one_tail)}{_front(parts.front)}")
    return one, ("there are", f"{nouns.many} {link} {many_verb}{tail}"), "there"


def of_group(parts: Asked) -> Frames | str:
    """Say "# of the animals are giraffes"; the singular only if the predicate has no number of its own."""
    if parts.verb is None or not parts.rest or parts.rest[0].lower == "there":
        return "a part of a group without a verb"
    many_verb, one_verb = third_person(parts.verb)
    first, verb = parts.rest[0], parts.verb.lower
    unknown = many_verb is None or verb in DO | MODALS or first.tag in {"PRP", "CC", "EX"}
    if unknown or (verb in BE and first.tag in {"DT", "PRP$"}):
        return "a verb that is not known"
    subject = written((*parts.noun, *parts.after))
    alone = verb in BE and first.tag in {"VBG", "VBN", "IN", "JJ", "RB"}
    one_tail = one_of(parts.rest) if alone else None
    one = None if one_tail is None else ("", f"{subject} {one_verb} {one_tail}{_front(parts.front)}")
    return one, ("", f"{subject} {many_verb}{tailed(parts.rest, parts.front)}"), "group"


def spaced(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Return tokens with a blank behind each, to be put before others."""
    return tuple(replace(token, space=" ") for token in tokens)


def tailed(tail: tuple[Token, ...], front: tuple[Token, ...]) -> str:
    """Return what follows the noun, with what stood before the question, each with a blank before it."""
    return f"{_blank(written(tail))}{_front(front)}"


def _front(front: tuple[Token, ...]) -> str:
    text = written(front)
    return f" {text[:1].lower()}{text[1:]}" if text else ""


def _blank(text: str) -> str:
    return f" {text}" if text else ""
