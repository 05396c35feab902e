"""Why a noun phrase may not give a foil if its number is changed: the caption, the noun, or the other captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.perturb.foils.countability import MORE, PAIRED, SUBSTANCE, has_kind, reason_of
from vlgate.perturb.foils.mentions import Mentions, is_kind_of, say_one, say_several
from vlgate.perturb.foils.noun_phrases import NounPhrase, Reading
from vlgate.perturb.ontology.ontology import default_ontology

_TOGETHER = frozenset(
    """together each another one other others both alike various different assorted several individually gathered gather
    gathering side row rows line lines lined circle crowd crowded scattered surrounded surrounding among amongst between
    multiple group groups row every variety assortment apart collide bunch pile stack stacked pair matching respective
    mingle against opposite directions unison formation formations meeting team teams race converge conversation talking chatting""".split()
)
_ALONE = frozenset("alone lone single sole solitary only individual itself own whole entire same".split())
_UNREAL = frozenset(
    """without like as than no not never of for except instead resembling about looks look looking toward towards
    versus called named labeled reading says saying if or""".split()
)
_OWN_THINGS = ("clothing", "footwear", "seat", "vehicle", "sports equipment", "board", "accessory", "costume", "horse")
_OF_PICTURES = "the noun names the picture"


def doubts_of(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> tuple[str, ...]:
    """Return why the foil of a noun phrase may be ungrammatical or true, most certain reasons first."""
    own = _plural_doubts if phrase.plural else _singular_doubts
    return tuple(dict.fromkeys((*_shared(reading, phrase), *own(reading, phrase, others))))


def _shared(reading: Reading, phrase: NounPhrase) -> Iterator[str]:
    tokens, noun = reading.parsed.tokens, phrase.singular_noun
    before = tokens[phrase.span[0] - 1].lower if phrase.span[0] else ""
    if phrase.kind in {"other", "possessor"}:
        yield "the determiner cannot be replaced"
    if any(mark in reading.parsed.text for mark in "\"“”()[]<>;:/*#"):
        yield "the caption is not plain text"
    if sum(letter.isupper() for letter in reading.parsed.text) * 3 > len(reading.parsed.text):
        yield "the caption is in capitals"
    if before in _UNREAL:
        yield "the thing may not be in the image"
    if before == "to" or tokens[phrase.head].dep in {"appos", "npadvmod", "compound", "attr", "dative", "ROOT-none"}:
        if not (tokens[phrase.head].dep == "attr" and reading.dependents(tokens[phrase.head].head, "expl")):
            yield "the noun phrase does not name a thing of its own"
    if not (default_ontology().knows(phrase.noun) and default_ontology().knows(phrase.other)):
        yield "the noun is not known as the name of an object"
    if any(tokens[n].tag in {"NNP", "NNPS"} for n in range(*phrase.span)):
        yield "the noun phrase has a name in it"
    if _repeated(reading, phrase):
        yield "the noun is in the caption twice"
    if _shares_a_determiner(reading, phrase):
        yield "the determiner belongs to two nouns"
    if _of(reading, phrase) and phrase.plural:
        yield "the noun phrase says what a group consists of"
    if reason_of(noun) == _OF_PICTURES:
        yield _OF_PICTURES


def _singular_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.noun
    words = {token.lower for token in reading.parsed.tokens[slice(*phrase.span)]}
    reason = reason_of(noun)
    if reason is not None and reason not in {SUBSTANCE, MORE}:
        yield reason
    if has_kind(noun, PAIRED):
        yield PAIRED
    if has_kind(noun, SUBSTANCE) and phrase.kind not in {"a", "number"}:
        yield SUBSTANCE
    if has_kind(noun, MORE):
        yield MORE
    if phrase.kind == "none":
        yield "the singular noun has no article"
    if words & _ALONE:
        yield "the caption says that it is one"
    if _within_several(reading, phrase):
        yield "each of several things may have one"
    if others and say_several(noun, others):
        yield "another caption speaks of several"
    if not say_one(noun, others):
        yield "no other caption speaks of one"


def _plural_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.singular_noun
    reason = reason_of(noun)
    if reason is not None and reason not in {SUBSTANCE, MORE}:
        yield reason
    if has_kind(noun, PAIRED):
        yield PAIRED
    if any(reading.parsed.tokens[n].tag == "CC" for n in range(*phrase.span)):
        yield "the noun has joined adjectives"
    inside = range(*phrase.lead)
    if any(token.lower in _TOGETHER for n, token in enumerate(reading.parsed.tokens) if n not in inside):
        yield "the caption says that several are together"
    once = sum(noun in one.one for one in others)
    if once and once >= sum(noun in one.several for one in others):
        yield "another caption speaks of one"
    if _has_things(reading, phrase):
        yield "one would have the things of several"
    if _behind_a_participle(reading, phrase):
        yield "a word before it may belong to the noun"


def _has_things(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether several clothes, seats or vehicles follow, one for each: "two men in suits", "people on bikes"."""
    later = (one for one in reading.phrases.values() if one.head > phrase.head and one.plural)
    return any(is_kind_of(one.singular_noun, kind) for one in later for kind in _OWN_THINGS)


def _behind_a_participle(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether what stands before it may belong to it: the parser reads "with dying flowers" as "with dying" and an object."""
    tokens, first = reading.parsed.tokens, phrase.span[0]
    if phrase.lead[0] != phrase.lead[1] or first == 0:
        return False
    if tokens[first - 1].tag == "VBG":
        return first == 1 or tokens[first - 2].tag in {"IN", "DT", "CD", "JJ", "CC", "NN", "HYPH"}
    return tokens[first - 1].tag in {"VBN", "JJ", "JJS", "JJR", "NN", "NNS", "CD", "DT", "HYPH", "NNP"} 


def _repeated(reading: Reading, phrase: NounPhrase) -> bool:
    forms = {phrase.noun, phrase.other}
    return sum(token.lower in forms for token in reading.parsed.tokens) > 1


def _shares_a_determiner(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a noun without a determiner is joined to it: "a cup and saucer"."""
    joined = reading.dependents(phrase.head, "conj")
    heads = [reading.phrases[one] for one in joined if one in reading.phrases]
    if any(one.lead[0] == one.lead[1] and one.plural == phrase.plural for one in heads) and phrase.kind != "none":
        return True
    token = reading.parsed.tokens[phrase.head]
    return token.dep == "conj" and phrase.kind == "none" and not phrase.plural


def _of(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it stands behind "of": "a group of people", "slices of apples"."""
    tokens = reading.parsed.tokens
    return phrase.span[0] > 0 and tokens[phrase.span[0] - 1].lower == "of"


def _within_several(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a plural noun stands above it: in "two men holding a racket" each may hold one."""
    tokens, place = reading.parsed.tokens, phrase.head
    for _ in tokens:
        place = tokens[place].head
        subjects = reading.dependents(place, "nsubj", "nsubjpass")
        for one in (place, *subjects):
            if one != phrase.head and (tokens[one].tag in {"NNS", "NNPS"} or tokens[one].lower in {"they", "we"}):
                return True
            if one != phrase.head and tokens[one].tag in {"NN"} and reason_of(tokens[one].lower) is not None:
                if reason_of(tokens[one].lower) == "the noun names a quantity or a group":
                    return True
            if one != phrase.head and one in subjects and reading.dependents(one, "conj"):
                return True
        if tokens[place].head == place:
            return False
    return False
