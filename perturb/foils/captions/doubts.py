"""Why a noun phrase may not give a foil: the caption's form, the phrase, its noun, the other captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vlgate.perturb.foils.captions.agreement import is_person
from vlgate.perturb.foils.captions.mentions import Mentions, is_kind_of, may_be_same, say_one, say_several
from vlgate.perturb.foils.captions.noun_phrases import (
    GROUP,
    MORE,
    PAIRED,
    SUBSTANCE,
    NounPhrase,
    Reading,
    has_kind,
    reason_of,
)
from vlgate.perturb.graphs.persons import is_body_part
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.text.grammar import singular
from vlgate.perturb.text.parsed import Parsed
from vlgate.perturb.word_lists import words

# Why a noun phrase may not name a thing of the image: the caption's form, the phrase's place, its determiner.

_TOGETHER = words("together")
_FULL = words("full")
_LIMBS = words("limb")
_UNREAL = words("unreal")
# "VBP" and "VB" agree with no singular; "VBN" is what a small parser takes "oven" for.
_MAY_BE_NOUN = frozenset(("NN", "NNS", "NNP", "VB", "VBP", "VBN"))
_OF_PICTURES = "the noun names the picture"


def shared_doubts(reading: Reading, phrase: NounPhrase) -> Iterator[str]:
    tokens, noun = reading.parsed.tokens, phrase.singular_noun
    if phrase.kind in {"other", "possessor"}:
        yield "the determiner cannot be replaced"
    for doubt in (not_plain(reading.parsed), unreal(reading, phrase), _two_phrases(reading, phrase)):
        if doubt:
            yield doubt
    if not (default_ontology().knows(phrase.noun) and default_ontology().knows(phrase.other)):
        yield "the noun is not known as the name of an object"
    if any(tokens[n].tag in {"NNP", "NNPS"} for n in range(*phrase.span)):
        yield "the noun phrase has a name in it"
    if _repeated(reading, phrase):
        yield "the noun is in the caption twice"
    if _shares_a_determiner(reading, phrase):
        yield "the determiner belongs to two nouns"
    if stands_behind_of(reading, phrase) and phrase.plural:
        yield "the noun phrase says what a group consists of"
    if reason_of(noun) == _OF_PICTURES:
        yield _OF_PICTURES


def not_plain(parsed: Parsed) -> str | None:
    if any(mark in parsed.text for mark in '"“”()[]<>;:/*#'):
        return "the caption is not plain text"
    if sum(letter.isupper() for letter in parsed.text) * 3 > len(parsed.text):
        return "the caption is in capitals"
    return None


def unreal(reading: Reading, phrase: NounPhrase) -> str | None:
    """Return why what a noun phrase names may not be in the image: "without a hat", "like a bird", "a kind of"."""
    tokens, head = reading.parsed.tokens, reading.parsed.tokens[phrase.head]
    before = tokens[phrase.span[0] - 1].lower if phrase.span[0] else ""
    if before in _UNREAL:
        return "the thing may not be in the image"
    existential = head.dep == "attr" and bool(reading.dependents(head.head, "expl"))
    if before == "to" or (head.dep in {"appos", "npadvmod", "compound", "attr", "dative"} and not existential):
        return "the noun phrase does not name a thing of its own"
    return None


def says_together(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the caption has a word that needs several: "together", "in a row", "side by side"."""
    tokens, inside = reading.parsed.tokens, range(*phrase.lead)
    if any(token.lower in _TOGETHER for n, token in enumerate(tokens) if n not in inside):
        return True
    if any(
        one.text == two.text and by.tag == "IN" for one, by, two in zip(tokens, tokens[1:], tokens[2:], strict=False)
    ):
        return True
    return any(_is_limb(reading, place) for place in range(phrase.span[1], len(tokens)))


def _is_limb(reading: Reading, place: int) -> bool:
    """Whether several do something with their limbs, which have no determiner: "shaking hands", "crossing tusks"."""
    token = reading.parsed.tokens[place]
    bare = not reading.dependents(place, "det", "poss", "nummod", "amod")
    return token.tag == "NNS" and token.dep == "dobj" and bare and singular(token.lower) in _LIMBS


def why_not_one(reading: Reading, phrase: NounPhrase) -> str | None:
    if says_together(reading, phrase):
        return "the caption says that several are together"
    if _fills(reading, phrase):
        return "one does not fill or cover a thing"
    tokens = reading.parsed.tokens
    later = (one for one in tokens[phrase.span[1] :] if one.lower == "their")
    if any(tokens[one.head].tag == "NNS" for one in later):
        return "one would have the things of several"
    return None


def _fills(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it says what something is full of, also behind "and": "filled with apples and pears"."""
    tokens, place = reading.parsed.tokens, phrase.head
    before = tokens[max(phrase.span[0] - 2, 0) : phrase.span[0]]
    if len(before) > 1 and before[0].lower in _FULL and before[1].tag == "IN":
        return True
    while tokens[place].dep == "conj":
        place = tokens[place].head
    over = tokens[place].head
    return tokens[place].dep == "pobj" and tokens[tokens[over].head].lower in _FULL


def _two_phrases(reading: Reading, phrase: NounPhrase) -> str | None:
    """Return why two phrases may be one, or one two: "bathroom | sink", "the stove | cooking green beans"."""
    if _first_of_a_name(reading, phrase):
        return "the noun may be the first part of a name"
    tokens, first = reading.parsed.tokens, phrase.lead[1]
    within = range(first + 1, phrase.head)
    two = phrase.kind != "none" and any(tokens[n].tag == "VBG" and tokens[n - 1].tag == "NN" for n in within)
    return "the noun phrase may be two" if two else None


def _first_of_a_name(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a noun follows a singular, also one that a parser may call a verb: "bathroom sink", "microwave oven"."""
    after = reading.parsed.tokens[phrase.span[1] : phrase.span[1] + 1]
    if phrase.plural or not after:
        return False
    return after[0].tag in _MAY_BE_NOUN and default_ontology().knows(after[0].lower)


def _repeated(reading: Reading, phrase: NounPhrase) -> bool:
    forms = {phrase.noun, phrase.other}
    return sum(token.lower in forms for token in reading.parsed.tokens) > 1


def _shares_a_determiner(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a noun without a determiner is joined to it: "a cup and saucer"."""
    tokens = reading.parsed.tokens
    for joined in reading.dependents(phrase.head, "conj"):
        bare = not reading.dependents(joined, "det", "poss", "nummod")
        if bare and phrase.kind != "none" and (tokens[joined].tag in {"NNS", "NNPS"}) == phrase.plural:
            return True
    following = tokens[phrase.span[1] : phrase.span[1] + 2]
    if len(following) > 1 and following[0].tag == "CC" and following[1].tag == tokens[phrase.head].tag != "NNS":
        return True
    token = tokens[phrase.head]
    return token.dep == "conj" and phrase.kind == "none" and not phrase.plural


def stands_behind_of(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it stands behind "of": "a group of people", "slices of apples"."""
    tokens = reading.parsed.tokens
    return phrase.span[0] > 0 and tokens[phrase.span[0] - 1].lower == "of"


# Why a noun phrase may not give a foil if its number is changed: the caption, the noun, or the other captions.

_ALONE = words("alone")
_LOOSE = words("loose")
_LANDSCAPES = words("landscape")
_VIEWS = words("view")
_PLACING = frozenset(("in", "on", "at", "inside", "into", "onto", "upon", "atop", "through", "under", "outside"))
_SIDES = frozenset(("top", "inside", "outside", "front"))  # "on top of a bed"
_HIS = frozenset(("his", "her", "its"))
_WORN = words("worn")
_OWN_THINGS = ("clothing", "footwear", "seat", "vehicle", "sports equipment", "board", "accessory", "costume", "horse")


def doubts_of(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> tuple[str, ...]:
    """Why the foil of a noun phrase may be ungrammatical or true, most certain reasons first."""
    own = _plural_doubts if phrase.plural else _singular_doubts
    return tuple(dict.fromkeys((*shared_doubts(reading, phrase), *own(reading, phrase, others))))


def _singular_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.noun
    yield from _by_kind(noun)
    behind_of = stands_behind_of(reading, phrase)
    viewed = reading.parsed.tokens[max(phrase.span[0] - 2, 0)].lower in _VIEWS
    reasons = (
        (SUBSTANCE, has_kind(noun, SUBSTANCE) and phrase.kind not in {"a", "number"}),
        (MORE, has_kind(noun, MORE)),
        ("the singular noun has no article", phrase.kind == "none"),
        ("the noun phrase says what a part belongs to", behind_of and not viewed),
        ("the caption says that it is one", _says_alone(reading, phrase)),
        ("each of several things may have one", _within_several(reading, phrase)),
        ("the noun names a part of a body", is_body_part(noun)),
        ("one thing is not in several places", _is_place_of_one(reading, phrase)),
        ("several would have the thing of one", _has_a_thing(reading, phrase)),
        ("another caption speaks of several", bool(others) and say_several(noun, others)),
        ("no other caption speaks of one", not say_one(noun, others)),
    )
    yield from (why for why, holds in reasons if holds)


def _plural_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.singular_noun
    yield from _by_kind(noun)
    if any(reading.parsed.tokens[n].tag == "CC" for n in range(*phrase.span)):
        yield "the noun has joined adjectives"
    if why := why_not_one(reading, phrase):
        yield why
    if _is_landscape(reading, phrase) or noun in _LOOSE:
        yield "the plural does not count"
    several = any(say_several(noun, [one], sure=True) for one in others)
    if any(_says_one(noun, one) and not say_several(noun, [one], sure=True) for one in others):
        yield "another caption speaks of one"
    if others and not several:
        yield "no other caption speaks of several"
    if has_things(reading, phrase):
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


def _says_one(noun: str, other: Mentions) -> bool:
    """Whether a caption speaks of one thing that may be called ``noun``; of persons, of one by any name."""
    if is_person(noun):
        return sum(is_person(one) for one in other.one) == 1
    return any(may_be_same(noun, one) for one in other.one)


def _is_place_of_one(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it says where one thing is: nobody lies on several beds, and nothing is in several rooms."""
    tokens = reading.parsed.tokens
    over = tokens[phrase.head].head
    if tokens[over].lower == "of" and tokens[tokens[over].head].lower in _SIDES:
        over = tokens[tokens[over].head].head
    if tokens[phrase.head].dep != "pobj" or tokens[over].lower not in _PLACING:
        return False
    above = tokens[over].head
    while tokens[above].dep == "prep":
        above = tokens[above].head
    subjects = (above, *reading.dependents(above, "nsubj", "nsubjpass"), tokens[above].head)
    return not any(tokens[one].tag in {"NNS", "NNPS"} for one in subjects)


def _has_a_thing(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether one garment or part of a body follows, or a thing that is "his" or "its": "a man in a hat"."""
    tokens = reading.parsed.tokens
    for one in reading.phrases.values():
        worn = is_kind_of(one.singular_noun, "clothing") or is_body_part(one.singular_noun) or one.noun in _WORN
        if one.head > phrase.head and not one.plural and (worn or tokens[one.span[0]].lower in _HIS):
            return True
    return False


def has_things(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether several clothes, seats or vehicles follow, one for each: "two men in suits", "people on bikes"."""
    later = (one for one in reading.phrases.values() if one.head > phrase.head and one.plural)
    names = [one.singular_noun for one in later]
    return not _WORN.isdisjoint(names) or any(is_kind_of(one, kind) for one in names for kind in _OWN_THINGS)


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
