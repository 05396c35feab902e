"""Slips of the pen in a caption: words that are doubled, misspelt, cut or missing, and a wrong comma."""

from __future__ import annotations

from itertools import pairwise

from vlgate.perturb.captions.spelling import misspelt
from vlgate.perturb.parsing.parsed import Parsed, Token

_WITHOUT_OBJECT = frozenset(("sit", "stand", "lie", "sleep", "kneel", "crouch", "squat", "lean", "smile", "arrive"))
_ITS = ("it", "'s")
_OPEN = frozenset(("NOUN", "VERB"))


def slipped(parsed: Parsed) -> bool:
    """Whether a word is doubled, misspelt, cut or missing, "it's" stands for "its", or a comma is wrong."""
    tokens = parsed.tokens
    twice = any(one.lower == after.lower and one.text.isalpha() for one, after in pairwise(tokens))
    its = (place for place in range(1, len(tokens) - 1) if (tokens[place].lower, tokens[place + 1].lower) == _ITS)
    if twice or any(tokens[place - 1].tag in {"IN", "VBG", "VB", "VBZ", "VBP"} for place in its):
        return True
    cut = any(map(_cut, tokens, tokens[1:])) or any(_cuts_off(parsed, place) for place in range(1, len(tokens)))
    if cut or any(_lacks_preposition(parsed, *span) for span in parsed.chunks):
        return True
    return any(misspelt(one.text) for one in tokens if one.pos in _OPEN and one.text.isascii() and one.text.islower())


def _cut(token: Token, after: Token) -> bool:
    """Whether a letter is all that is left of a word: "n the snow", "o the top"."""
    return token.text in {"n", "o"} and token.space != "" and not after.text.startswith("'")


def _cuts_off(parsed: Parsed, verb: int) -> bool:
    """Whether one comma stands between a subject and its verb: "a train with steam, passes by"."""
    tokens = parsed.tokens
    subjects = [place for place in parsed.children(verb, "nsubj", "nsubjpass") if place < verb - 1]
    if tokens[verb - 1].text != "," or not subjects:
        return False
    return sum(one.text == "," or one.tag == "CC" for one in tokens[subjects[0] : verb]) == 1


def _lacks_preposition(parsed: Parsed, start: int, end: int) -> bool:
    """Whether a noun phrase stands right behind a verb that takes none: "standing a home plate", "sitting a table"."""
    head, verb = parsed.tokens[end - 1], start - 1
    inverted = any(place < verb for place in parsed.children(verb, "prep"))  # "on a table sits a cat"
    stands = head.dep == "dobj" and head.head == verb and not inverted
    return stands and parsed.tokens[verb].lemma.lower() in _WITHOUT_OBJECT
