"""Why a noun phrase may not give a foil if its number is changed: the caption, the noun, or the other captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.perturb.foils.captions.countability import GROUP, MORE, PAIRED, SUBSTANCE, has_kind, reason_of
from vlgate.perturb.foils.captions.mentions import Mentions, is_kind_of, say_one, say_several
from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading
from vlgate.perturb.foils.captions.phrase_doubts import shared_doubts, stands_behind_of, why_not_one
from vlgate.perturb.foils.captions.word_lists import words

_ALONE = words("alone")
_LANDSCAPES = words("landscape")
_VIEWS = words("view")
_OWN_THINGS = ("clothing", "footwear", "seat", "vehicle", "sports equipment", "board", "accessory", "costume", "horse")


def doubts_of(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> tuple[str, ...]:
    """Return why the foil of a noun phrase may be ungrammatical or true, most certain reasons first."""
    own = _plural_doubts if phrase.plural else _singular_doubts
    return tuple(dict.fromkeys((*shared_doubts(reading, phrase), *own(reading, phrase, others))))


def _singular_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.noun
    yield from _by_kind(noun)
    if has_kind(noun, SUBSTANCE) and phrase.kind not in {"a", "number"}:
        yield SUBSTANCE
    if has_kind(noun, MORE):
        yield MORE
    if phrase.kind == "none":
        yield "the singular noun has no article"
    if stands_behind_of(reading, phrase) and reading.parsed.tokens[max(phrase.span[0] - 2, 0)].lower not in _VIEWS:
        yield "the noun phrase says what a part belongs to"
    if _says_alone(reading, phrase):
        yield "the caption says that it is one"
    if _within_several(reading, phrase):
        yield "each of several things may have one"
    if others and say_several(noun, others):
        yield "another caption speaks of several"
    if not say_one(noun, others):
        yield "no other caption speaks of one"


def _plural_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.singular_noun
    yield from _by_kind(noun)
    if any(reading.parsed.tokens[n].tag == "CC" for n in range(*phrase.span)):
        yield "the noun has joined adjectives"
    if why := why_not_one(reading, phrase):
        yield why
    if _is_landscape(reading, phrase):
        yield "the plural does not count"
    several = sum(say_several(noun, [one]) for one in others)
    once = sum(say_one(noun, [one]) and not say_several(noun, [one]) for one in others)
    if once and once >= several:
        yield "another caption speaks of one"
    if _has_things(reading, phrase):
        yield "one would have the things of several"
    if _behind_a_participle(reading, phrase):
        yield "a word before it may belong to the noun"


def _by_kind(noun: str) -> Iterator[str]:
    reason = reason_of(noun)
    if reason is not None and reason not in {SUBSTANCE, MORE}:
        yield reason
    if has_kind(noun, PAIRED):
        yield PAIRED


def _is_landscape(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a plural names a landscape or its parts and no number of things: "choppy seas", "on the streets"."""
    noun, before = phrase.singular_noun, reading.parsed.tokens[max(phrase.span[0] - 1, 0)]
    of_a_place = phrase.kind == "the" and before.tag == "IN" and has_kind(noun, MORE)
    return of_a_place or noun in _LANDSCAPES


def _says_alone(reading: Reading, phrase: NounPhrase) -> bool:
    inside = {token.lower for token in reading.parsed.tokens[slice(*phrase.span)]}
    return bool(inside & _ALONE) or any(token.lower == "alone" for token in reading.parsed.tokens)


def _has_things(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether several clothes, seats or vehicles follow, one for each: "two men in suits", "people on bikes"."""
    later = (one for one in reading.phrases.values() if one.head > phrase.head and one.plural)
    return any(is_kind_of(one.singular_noun, kind) for one in later for kind in _OWN_THINGS)


def _behind_a_participle(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a word before it may belong to it: the parser may read "dying flowers" as a verb with its object."""
    tokens, first = reading.parsed.tokens, phrase.span[0]
    if phrase.lead[0] != phrase.lead[1] or first == 0:
        return False
    if tokens[first - 1].tag == "VBG":
        return first == 1 or tokens[first - 2].tag in {"IN", "DT", "CD", "JJ", "CC", "NN", "HYPH"}
    return tokens[first - 1].tag in {"VBN", "JJ", "JJS", "JJR", "NN", "NNS", "CD", "DT", "HYPH", "NNP"}


def _within_several(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a plural noun stands above it: in "two men holding a racket" each may hold one."""
    tokens, place = reading.parsed.tokens, phrase.head
    for _ in tokens:
        place = tokens[place].head
        subjects = reading.dependents(place, "nsubj", "nsubjpass")
        for one in (place, *subjects):
            if one != phrase.head and (tokens[one].tag in {"NNS", "NNPS"} or tokens[one].lower in {"they", "we"}):
                return True
            if one != phrase.head and tokens[one].tag == "NN" and has_kind(tokens[one].lower, GROUP):
                return True
            if one != phrase.head and one in subjects and reading.dependents(one, "conj"):
                return True
        if tokens[place].head == place:
            return False
    return False
