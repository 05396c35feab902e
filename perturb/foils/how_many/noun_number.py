"""Word a counted noun, and what follows it, for one thing or for several."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.perturb.dictionary import forms
from vlgate.perturb.foils.how_many.asked import BE, HAVE, written
from vlgate.perturb.grammar import with_article
from vlgate.perturb.inflection import may_be_plural, plural, singular
from vlgate.perturb.parsing.parsed import Token

KINDS = frozenset({"kinds", "types", "sorts", "varieties", "species"})
"""Nouns that count kinds of something: "one kind of fruit", "two kinds of fruits"."""

# "Pieces of carrots": one of them is a piece of a carrot.
_PORTIONS = frozenset({"pieces", "slices", "halves", "bites", "parts"})
_PLURAL = frozenset({"cattle", "people", "police", "poultry"})
_SEVERAL = frozenset({"different", "various", "several", "separate", "matching", "identical"})
# Words about several things together, without a wording for one.
_COLLECTIVE = frozenset({"together", "other", "apart", "different", "same", "each", "both", "row", "circle", "pairs"})
# What is worn in pairs: one person wears gloves, but one hat.
_PAIRS = frozenset(
    (
        *(
            "shoes",
            "gloves",
            "boots",
            "socks",
            "skis",
            "sneakers",
            "goggles",
            "earrings",
            "sandals",
            "mittens",
            "heels",
        ),
        *("slippers", "skates", "pads", "kneepads", "sunglasses", "glasses", "shorts", "pants", "jeans", "clothes"),
        *(
            "trousers",
            "headphones",
            "suspenders",
            "pajamas",
            "flippers",
            "cleats",
            "snowshoes",
            "leggings",
            "stockings",
        ),
    )
)
# One person is in one suit and on one horse, but on skis, and a tree stands in bushes.
_ONE_EACH = frozenset({"wearing", "riding", "wear", "ride", "in", "on"})
_MANY_OF_ONE = frozenset(
    (
        *("wheels", "tracks", "rails", "stripes", "legs", "feet", "knees", "hands", "paws", "wings", "clouds", "woods"),
        *("bushes", "leaves", "flowers", "rocks", "trees", "waves", "ruins", "pieces", "slices", "halves", "layers"),
    )
)
# One person holding umbrellas may hold one or several, so that the number of the other noun is not known.
_EITHER = frozenset({"holding", "carrying", "using", "flying", "hold", "carry", "use", "having", "with", "playing"})


def in_plural(noun: Sequence[Token], head: int) -> str | None:
    """Return the words of a noun with its head in the plural, or None if its plural is not known."""
    word = noun[head].text
    if singular(word.lower()) in _PLURAL:
        return _with(noun, head, singular(word))
    if (
        word.lower() in _PLURAL
        or singular(word) is not None
        or (plural(word) is None and noun[head].tag in {"NNS", "NNPS"} and _ends(word))
    ):
        return written(noun)
    return _with(noun, head, plural(word))


def in_singular(noun: Sequence[Token], head: int) -> str | None:
    """Return the words of a noun with its head in the singular, or None if its singular is not known."""
    if noun[head].lower in _PORTIONS and any(word.tag == "NNS" for word in noun[head + 1 :]):
        return None
    owners = [noun[n - 1] for n, word in enumerate(noun) if word.tag == "POS" and n]
    if (
        noun[0].lower in _SEVERAL | KINDS
        or any(word.tag == "CC" for word in noun[: head + 1])
        or any(owner.tag in {"NNS", "NNPS"} for owner in owners)
    ):
        return None
    word = noun[head].text
    single = singular(word)
    if single in _PLURAL:
        return None
    return _with(noun, head, single if single is not None else word if plural(word) is not None else None)


def one_of(tail: Sequence[Token], verb: str = "") -> str | None:
    """Return words about several things ("wearing hats") as they are about one ("wearing a hat").

    ``verb`` is the finite verb before the tail, if there is one.

    Returns: the text, or None if it has no wording for one ("standing together") or needs another noun's number.
    """
    words: list[str] = []
    for place, token in enumerate(tail):
        if token.lower in _COLLECTIVE or token.tag in {"WDT", "WP", "WP$"} or token.lower in {"their", "they", "them"}:
            return None
        before = tail[place - 1].lower if place else ""
        last = place + 1 == len(tail) or tail[place + 1].tag[:2] != "NN"
        bare = token.tag == "NNS" and last
        if bare and before in {"and", "or"}:
            return None
        start = _adjectives(tail, place)
        governor = (tail[start - 1].lower if start else verb) if bare else ""
        if governor in _EITHER or (token.tag == "VBP" and before != "to"):
            return None
        words.append(token.text + token.space)
        if governor in _ONE_EACH and token.lower not in _PAIRS | _MANY_OF_ONE:
            single = singular(token.text)
            if single is None:
                return None
            phrase = "".join(words[start:-1]) + single
            words[start:] = [with_article(phrase) + token.space]
    return "".join(words).strip()


def _adjectives(tail: Sequence[Token], place: int) -> int:
    """Return the place of the first adjective before a noun."""
    while place and tail[place - 1].tag[:2] in {"JJ", "NN"} and tail[place - 1].tag != "NNS":
        place -= 1
    return place


def third_person(verb: Token) -> tuple[str | None, str | None]:
    """Return a finite verb in its plural and its singular form, in the tense it has."""
    word = verb.lower
    if word in BE:
        return ("were", "was") if word in {"was", "were"} else ("are", "is")
    if word in HAVE - {"had"}:
        return "have", "has"
    if verb.tag == "VBD":
        return word, word
    return verb_form(verb.lemma.lower(), "VBP"), verb_form(verb.lemma.lower(), "VBZ")


def verb_form(lemma: str, tag: str) -> str | None:
    """Return a form of a verb by its Penn Treebank tag, or None if the dictionary does not have the verb.

    >>> verb_form("have", "VBZ"), verb_form("hang", "VBP")
    ('has', 'hang')
    """
    found = forms(lemma, "VERB").get(tag, ())
    if not found and lemma in {"have", "do"}:
        found = forms(lemma, "AUX").get(tag, ())
    return found[0] if found else None


def _with(noun: Sequence[Token], head: int, form: str | None) -> str | None:
    if form is None:
        return None
    return "".join((form if n == head else word.text) + word.space for n, word in enumerate(noun)).strip()


def _ends(word: str) -> bool:
    return may_be_plural(word) or word.lower().endswith("s")
