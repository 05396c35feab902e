"""Why a noun phrase may not name a thing of the image: the caption's form, the phrase's place, its determiner."""

from __future__ import annotations

from collections.abc import Iterator

from vlgate.perturb.foils.captions.countability import reason_of
from vlgate.perturb.foils.captions.noun_phrases import NounPhrase, Reading
from vlgate.perturb.foils.captions.word_lists import words
from vlgate.perturb.inflection import singular
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.parsing.parsed import Parsed

_TOGETHER = words("together")
_FULL = words("full")
_LIMBS = words("limb")
_UNREAL = words("unreal")
# "VBP" and "VB" agree with no singular; "VBN" is what a small parser takes "oven" for.
_MAY_BE_NOUN = frozenset(("NN", "NNS", "NNP", "VB", "VBP", "VBN"))
_OF_PICTURES = "the noun names the picture"


def shared_doubts(reading: Reading, phrase: NounPhrase) -> Iterator[str]:
    """Yield why a noun phrase may not be one that names things of the image which can be counted."""
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
    """Return why a caption is not plain text: quotation marks, brackets, markup, or capitals throughout."""
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
    """Return why the caption makes no sense with one thing for the several of a noun phrase."""
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
