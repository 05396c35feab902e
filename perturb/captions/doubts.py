"""How many statements and things a caption has, for what may be denied of it."""

from __future__ import annotations

from vlgate.perturb.parsing.parsed import Parsed

_SINGLE = frozenset(("one", "first", "second", "third", "former", "latter"))
# What opens a subordinate clause: "while", "where", "that", "as", "with".
_OPENING = frozenset(("IN", "WRB", "WDT", "WP", "CC"))
FINITE = frozenset(("VBZ", "VBP", "VBD", "MD"))
"""The Penn tags of finite verbs and modals."""


def runs_on(parsed: Parsed) -> bool:
    """Whether two statements stand side by side, also if a parser reads them as one: "a bear lands a bear is there"."""
    tokens = parsed.tokens
    for place, token in enumerate(tokens):
        finite = token.tag in FINITE or any(tokens[n].tag in FINITE for n in parsed.children(place, "aux", "auxpass"))
        opened = any(tokens[n].tag in _OPENING for n in parsed.children(place))
        between = tokens[token.head + 1 : place]
        if token.dep == "conj" and finite and not any(one.tag in {"CC", ",", "HYPH", ":"} for one in between):
            return True
        if token.dep == "advcl" and finite and not opened and parsed.children(place, "nsubj", "nsubjpass"):
            return True
        if token.dep in {"nsubj", "nsubjpass"} and tokens[token.head].dep == "ROOT":
            within = range(place + 1, token.head)
            if any(tokens[n].lower == token.lower for n in within):
                return True
    return False


def told_apart(parsed: Parsed, noun: int) -> bool:
    """Whether words behind a plural tell of single ones: "two plates, one with wine", "boys and one of the boys"."""
    rest = range(noun + 1, len(parsed.tokens))
    ones = (place for place in rest if parsed.tokens[place].lower in _SINGLE)
    alone = any(parsed.tokens[place].dep not in {"nummod", "det", "amod", "poss"} for place in ones)
    return alone or any(parsed.tokens[place].lemma.lower() == parsed.tokens[noun].lemma.lower() for place in rest)


def two_names(parsed: Parsed) -> bool:
    """Whether nouns are joined inside the first noun phrase: "a kitchen and dining room"."""
    tokens = parsed.tokens
    inside = range(1, parsed.chunks[0][1]) if parsed.chunks else range(0)
    return any(tokens[place].tag == "CC" and tokens[place - 1].tag in {"NN", "NNS", "NNP"} for place in inside)


def listed(parsed: Parsed) -> bool:
    """Whether a noun that is joined to another one has a description of its own, and may be a second subject."""
    joined = [place for place, token in enumerate(parsed.tokens) if token.dep == "conj" and token.pos == "NOUN"]
    return any(parsed.children(place, "acl", "relcl", "prep", "nsubj") for place in joined)


def main(parsed: Parsed, position: int) -> bool:
    """Whether a verb is finite and in no subordinate clause, so that the text is a sentence."""
    tokens = parsed.tokens
    if (
        tokens[position].tag not in {"VBZ", "VBP", "MD", "VB"} and tokens[position].lower not in {"was", "were", "had"}
    ) or tokens[position - 1].lower == "to":
        return False
    while tokens[position].head != position:
        if tokens[position].dep == "relcl" and not parsed.children(position, "nsubj", "nsubjpass"):
            return True  # "a breakfast was delivered"
        if tokens[position].dep in {"relcl", "advcl", "ccomp", "pcomp", "xcomp"}:
            return False
        position = tokens[position].head
    return True
