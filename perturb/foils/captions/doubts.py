"""Why a noun phrase may not give a foil: the caption's form, the phrase, its noun, the other captions."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise

from vlgate.perturb.foils.captions.agreement import is_person
from vlgate.perturb.foils.captions.mentions import Mentions, is_kind_of, may_be_same, say_one, say_several
from vlgate.perturb.foils.captions.noun_phrases import (
    GROUP,
    IMAGE,
    MORE,
    PAIRED,
    SUBSTANCE,
    NounPhrase,
    Reading,
    has_kind,
    reason_of,
)
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.text.fitness import holding
from vlgate.perturb.text.grammar import singular
from vlgate.perturb.word_lists import is_body_part, words

_TOGETHER = words("together")
_FULL = words("full")
_LIMBS = words("limb")
_UNREAL = words("unreal")
_NAMES = frozenset(("NNP", "NNPS"))
# "VBP" and "VB" agree with no singular; "VBN" is what a small parser takes "oven" for.
_MAY_BE_NOUN = frozenset(("NN", "NNS", "NNP", "VB", "VBP", "VBN"))


def shared_doubts(reading: Reading, phrase: NounPhrase) -> Iterator[str]:
    tokens, ontology = reading.parsed.tokens, default_ontology()
    if phrase.kind in {"other", "possessor"}:
        yield "the determiner cannot be replaced"
    if why := not_plain(reading.parsed.text) or unreal(reading, phrase) or _two_phrases(reading, phrase):
        yield why
    noun, both = phrase.singular_noun, {phrase.noun, phrase.other}
    owned = phrase.kind == "possessive" or not phrase.plural  # in "two noses" there are as many bodies
    yield from holding(
        ("the noun is not known as the name of an object", lambda: not all(map(ontology.knows, both))),
        ("the noun phrase has a name in it", lambda: any(one.tag in _NAMES for one in tokens[slice(*phrase.span)])),
        ("other words tell the number, too", lambda: _tells_a_number(reading, phrase)),
        ("the noun is in the caption twice", lambda: sum(token.lower in both for token in tokens) > 1),
        ("the determiner belongs to two nouns", lambda: _shares_a_determiner(reading, phrase)),
        ("the noun phrase says what a group consists of", lambda: phrase.plural and stands_behind_of(reading, phrase)),
        (IMAGE, lambda: reason_of(noun) == IMAGE),
        ("the noun names a part of a body", lambda: owned and (is_body_part(noun) or noun in _LIMBS)),
    )


def _tells_a_number(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a numeral of no noun stands outside the phrase, or a word such as "trio": "two of which", "the first"."""
    outside = (one for index, one in enumerate(reading.parsed.tokens) if not phrase.span[0] <= index < phrase.span[1])
    return any(one.lower in _NUMBERS or (one.tag == "CD" and one.dep not in {"nummod", "compound"}) for one in outside)


@lru_cache(maxsize=1)
def not_plain(text: str) -> str | None:
    if any(mark in text for mark in '"“”()[]<>;:/*#'):
        return "the caption is not plain text"
    if sum(map(str.isupper, text)) * 3 > len(text):
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
    tokens, inside = reading.parsed.tokens, range(*phrase.lead)
    said = any(token.lower in _TOGETHER for n, token in enumerate(tokens) if n not in inside)
    three = zip(tokens, tokens[1:], tokens[2:], strict=False)
    beside = any(one.text == other.text and by.tag == "IN" for one, by, other in three)  # "side by side"
    return said or beside or any(_is_limb(reading, index) for index in range(phrase.span[1], len(tokens)))


def _is_limb(reading: Reading, index: int) -> bool:
    """Whether several do something with their limbs, which have no determiner: "shaking hands", "crossing tusks"."""
    token = reading.parsed.tokens[index]
    bare = not reading.dependents(index, "det", "poss", "nummod", "amod")
    return token.tag == "NNS" and token.dep == "dobj" and bare and singular(token.lower) in _LIMBS


def why_not_one(reading: Reading, phrase: NounPhrase) -> str | None:
    tokens = reading.parsed.tokens
    later = (token for token in tokens[phrase.span[1] :] if token.lower == "their")
    reasons = holding(
        ("the caption says that several are together", lambda: says_together(reading, phrase)),
        ("one does not fill or cover a thing", lambda: _fills(reading, phrase)),
        ("one would have the things of several", lambda: any(tokens[one.head].tag == "NNS" for one in later)),
    )
    return next(reasons, None)


def _fills(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it says what something is full of, also behind "and": "filled with apples and pears"."""
    tokens, index = reading.parsed.tokens, phrase.head
    before = tokens[max(phrase.span[0] - 2, 0) : phrase.span[0]]
    if len(before) > 1 and before[0].lower in _FULL and before[1].tag == "IN":
        return True
    while tokens[index].dep == "conj":
        index = tokens[index].head
    over = tokens[index].head
    return tokens[index].dep == "pobj" and tokens[tokens[over].head].lower in _FULL


def _two_phrases(reading: Reading, phrase: NounPhrase) -> str | None:
    """Return why two phrases may be one, or one two: "bathroom | sink", "the stove | cooking green beans"."""
    tokens, first = reading.parsed.tokens, phrase.lead[1]
    following = tokens[phrase.span[1] : phrase.span[1] + 1]  # a parser may take "oven" in "microwave oven" for a verb
    names = (after.tag in _MAY_BE_NOUN and default_ontology().knows(after.lower) for after in following)
    if not phrase.plural and any(names):
        return "the noun may be the first part of a name"
    within = range(first + 1, phrase.head)
    two = phrase.kind != "none" and any(tokens[n].tag == "VBG" and tokens[n - 1].tag == "NN" for n in within)
    return "the noun phrase may be two" if two else None


def _shares_a_determiner(reading: Reading, phrase: NounPhrase) -> bool:
    tokens = reading.parsed.tokens
    for joined in reading.dependents(phrase.head, "conj"):
        bare = not reading.dependents(joined, "det", "poss", "nummod")
        if bare and phrase.kind != "none" and (tokens[joined].tag in {"NNS", "NNPS"}) == phrase.plural:
            return True
    following = tokens[phrase.span[1] : phrase.span[1] + 2]
    if len(following) > 1 and following[0].tag == "CC" and following[1].tag == tokens[phrase.head].tag != "NNS":
        return True
    return tokens[phrase.head].dep == "conj" and phrase.kind == "none" and not phrase.plural


def stands_behind_of(reading: Reading, phrase: NounPhrase) -> bool:
    tokens = reading.parsed.tokens
    return phrase.span[0] > 0 and tokens[phrase.span[0] - 1].lower == "of"


_ALONE = words("alone")
_LOOSE = words("loose")
_LANDSCAPES = words("landscape")
_VIEWS = words("view")
_PLACING = frozenset(("in", "on", "at", "inside", "into", "onto", "upon", "atop", "through", "under", "outside"))
_SIDES = frozenset(("top", "inside", "outside", "front"))  # "on top of a bed"
_HAVING = frozenset(("with", "in"))
_RIDING = frozenset("ride drive mount straddle sail row paddle steer pedal".split())
_NUMBERS = words("number of several")
_HIS = frozenset(("his", "her", "its"))
_WORN = words("worn")
_OWN_THINGS = ("clothing", "footwear", "seat", "vehicle", "sports equipment", "board", "accessory", "costume", "horse")


def doubt_of(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> str | None:
    """Why the foil of a noun phrase may be ungrammatical or true, the most certain reason if there are several."""
    own = _plural_doubts if phrase.plural else _singular_doubts
    return next(chain(shared_doubts(reading, phrase), own(reading, phrase, others)), None)


def _singular_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun = phrase.noun
    yield from _by_kind(noun)
    tokens = reading.parsed.tokens
    viewed = tokens[max(phrase.span[0] - 2, 0)].lower in _VIEWS
    inside = tokens[slice(*phrase.span)]
    joined = any(one.tag == "CC" and before.tag in {"NN", "NNS"} for before, one in pairwise(inside))
    yield from holding(
        ("the noun is joined with another one", lambda: joined),
        (SUBSTANCE, lambda: has_kind(noun, SUBSTANCE) and phrase.kind not in {"a", "number"}),
        (MORE, lambda: has_kind(noun, MORE)),
        ("the singular noun has no article", lambda: phrase.kind == "none"),
        ("the noun phrase says what a part belongs to", lambda: not viewed and stands_behind_of(reading, phrase)),
        ("the caption says that it is one", lambda: any(one.lower in _ALONE for one in inside)),
        ("the caption says that it is one", lambda: any(one.lower == "alone" for one in tokens)),
        ("each of several things may have one", lambda: _within_several(reading, phrase)),
        ("one thing is not in several places", lambda: _is_place_of_one(reading, phrase)),
        ("several would have the thing of one", lambda: _has_a_thing(reading, phrase)),
        ("another caption speaks of several", lambda: say_several(noun, others)),
        ("no other caption speaks of one", lambda: not say_one(noun, others)),
    )


def _plural_doubts(reading: Reading, phrase: NounPhrase, others: Sequence[Mentions]) -> Iterator[str]:
    noun, inside = phrase.singular_noun, reading.parsed.tokens[slice(*phrase.span)]
    yield from _by_kind(noun)
    if any(token.tag == "CC" for token in inside):
        yield "the noun has joined adjectives"
    if why := why_not_one(reading, phrase):
        yield why
    several = [say_several(noun, [other], sure=True) for other in others]
    one = (not many and _says_one(noun, other) for many, other in zip(several, others, strict=True))
    before = reading.parsed.tokens[max(phrase.span[0] - 1, 0)]
    of_a_place = phrase.kind == "the" and before.tag == "IN" and has_kind(noun, MORE)  # "on the streets"
    yield from holding(
        ("the plural does not count", lambda: of_a_place or noun in _LANDSCAPES or noun in _LOOSE),
        ("another caption speaks of one", lambda: any(one)),
        ("no other caption speaks of several", lambda: several and not any(several)),
        ("one would have the things of several", lambda: has_things(reading, phrase)),
        ("each of several things may have one", lambda: _is_own(noun) and _within_several(reading, phrase)),
        ("a word before it may belong to the noun", lambda: _behind_a_participle(reading, phrase)),
    )


def _by_kind(noun: str) -> Iterator[str]:
    reason = reason_of(noun)
    if reason is not None and reason not in {SUBSTANCE, MORE}:
        yield reason
    if has_kind(noun, PAIRED):
        yield PAIRED


def _says_one(noun: str, other: Mentions) -> bool:
    """Whether a caption speaks of one thing that may be called ``noun``; of persons, of one by any name."""
    if is_person(noun):
        return sum(is_person(one) for one in other.one) == 1
    return any(may_be_same(noun, one) for one in other.one)


def _is_place_of_one(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether it says where one thing is: nobody lies on several beds or rides several horses."""
    tokens = reading.parsed.tokens
    over = tokens[phrase.head].head
    if tokens[over].lower == "of" and tokens[tokens[over].head].lower in _SIDES:
        over = tokens[tokens[over].head].head
    ridden = tokens[phrase.head].dep == "dobj" and tokens[over].lemma in _RIDING
    if not ridden and (tokens[phrase.head].dep != "pobj" or tokens[over].lower not in _PLACING):
        return False
    above = over if ridden else tokens[over].head
    while tokens[above].dep == "prep":
        above = tokens[above].head
    subjects = (above, *reading.dependents(above, "nsubj", "nsubjpass"), tokens[above].head)
    return not any(tokens[subject].tag in {"NNS", "NNPS"} for subject in subjects)


def _has_a_thing(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether one garment or part of a body follows, or a thing that is "his" or "its": "a man in a hat"."""
    tokens = reading.parsed.tokens
    for one in reading.phrases.values():
        own = _is_own(one.singular_noun) or tokens[one.span[0]].lower in _HIS
        if one.head > phrase.head and not one.plural and own:
            return True
    return False


def has_things(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether several things follow, one for each: "two men in suits", "two dogs on leashes", "kids with rackets"."""
    later = [one for one in reading.phrases.values() if one.head > phrase.head and one.plural]
    names = [one.singular_noun for one in later]
    if not _WORN.isdisjoint(names) or any(is_kind_of(name, kind) for name in names for kind in _OWN_THINGS):
        return True
    living = is_person(phrase.singular_noun) or is_kind_of(phrase.singular_noun, "animal")
    return living and any(one.kind == "none" and _has(reading, phrase, one) for one in later)


def _has(reading: Reading, phrase: NounPhrase, thing: NounPhrase) -> bool:
    """Whether a verb or preposition joins the thing to the phrase: "players swinging bats"."""
    tokens, index = reading.parsed.tokens, thing.head
    if tokens[index].dep == "pobj":
        index = tokens[index].head
        if tokens[index].lower not in _HAVING:
            return False
    elif tokens[index].dep != "dobj":
        return False
    over = tokens[index].head
    return phrase.head in {over, tokens[over].head, *reading.dependents(over, "nsubj", "nsubjpass")}


def _is_own(noun: str) -> bool:
    return noun in _WORN or is_kind_of(noun, "clothing") or is_body_part(noun)


def _behind_a_participle(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a word before it may belong to it: the parser may read "dying flowers" as a verb with its object."""
    tokens, first = reading.parsed.tokens, phrase.span[0]
    if phrase.lead[0] != phrase.lead[1] or first == 0:
        return False
    if tokens[first - 1].tag == "VBG":
        before = tokens[first - 2]
        return first == 1 or before.lemma == "have" or before.tag in {"IN", "DT", "CD", "JJ", "CC", "NN", "HYPH"}
    return tokens[first - 1].tag in {"VBN", "JJ", "JJS", "JJR", "NN", "NNS", "CD", "DT", "HYPH", "NNP"}


def _within_several(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether a plural noun stands above it: in "two men holding a racket" each may hold one."""
    tokens, index = reading.parsed.tokens, phrase.head
    for _ in tokens:
        index = tokens[index].head
        subjects = reading.dependents(index, "nsubj", "nsubjpass")
        for noun in {index, *subjects} - {phrase.head}:
            several = tokens[noun].tag in {"NNS", "NNPS"} or tokens[noun].lower in {"they", "we"}
            group = tokens[noun].tag == "NN" and has_kind(tokens[noun].lower, GROUP)
            if several or group or (noun in subjects and reading.dependents(noun, "conj")):
                return True
        if tokens[index].head == index:
            return False
    return False
