"""Take how-many questions apart: what is counted, the verb, and what follows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vlgate.perturb.inflection import may_be_plural, singular
from vlgate.perturb.parsing.parsed import Parsed, Token

BE = frozenset({"is", "are", "was", "were"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had"})
MODALS = frozenset({"can", "could", "may", "might", "will", "would", "should", "must"})
_AUXILIARIES = BE | DO | HAVE | MODALS
_COMPARED = frozenset({"more", "less", "fewer", "much"})
_MEASURES = frozenset(
    (
        *("time", "times", "year", "years", "month", "months", "week", "weeks", "day", "days", "hour", "hours"),
        *("minute", "minutes", "second", "seconds", "mile", "miles", "inch", "inches", "meters", "pounds", "degrees"),
        *("percent", "dollars", "cents", "o'clock", "points", "kilometers", "mph", "ounces", "acres"),
    )
)
_TOTAL = (("in", "total"), ("all", "together"), ("in", "all"), ("altogether",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parts of a how-many question; each is a part of the question's tokens, without "how many" and the mark.

    ``front`` is what stands before "how many" ("in this photo"). ``noun`` is what is counted, from its first adjective
    to its head at ``head``, with the "of" behind it ("slices of pizza"). ``after`` follows the noun before the verb
    ("on the boat"), ``verb`` is None if there is none ("How many wheels on the bus?"), and ``rest`` follows the verb.
    ``group`` says that a part of what ``noun`` names is counted ("How many of the animals are giraffes?").
    """

    front: tuple[Token, ...]
    noun: tuple[Token, ...]
    head: int
    after: tuple[Token, ...]
    verb: Token | None
    rest: tuple[Token, ...]
    group: bool


def asked(question: Parsed) -> Asked | str:
    """Take a question apart.

    Returns: its parts, or a short reason why it cannot be turned into a statement.
    """
    tokens = _unmarked(question.tokens)
    places = [n for n in range(len(tokens) - 1) if (tokens[n].lower, tokens[n + 1].lower) == ("how", "many")]
    if not places:
        return "not a how-many question"
    front, words = tokens[: places[0]], _without_total(tokens[places[0] + 2 :])
    if front and front[-1].text == ",":
        front = front[:-1]
    checks = (
        (question.text.isupper(), "all capitals"),
        (_MARKS.search(question.text.strip(' "')), "marks that are not words"),
        (
            front and (front[0].tag != "IN" or front[0].lower in _APPROXIMATE),
            "the question does not begin with how many",
        ),
        (len(places) > 1 or any(_stops(token) for token in (*front, *words)), "more than one clause"),
        (any(one.lower == two.lower for one, two in pairwise(words)), "a word twice"),
        (any(word.lower in {"n't", "n\u2019t"} for word in words), "negated"),
    )
    return next((reason for found, reason in checks if found), None) or _parts(front, words)


def _stops(token: Token) -> bool:
    return token.pos in {"PUNCT", "SYM", "INTJ", "SPACE"} and token.text != "-"


_APPROXIMATE = frozenset({"about", "around", "like"})
_MARKS = re.compile(r"[;:()\[\]<>/\\\"“”{}=*#@|_\n\t\0]")


def written(tokens: Sequence[Token]) -> str:
    """Return the text of tokens that stood next to each other."""
    return "".join(token.text + token.space for token in tokens).strip()


def _unmarked(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    while tokens and (tokens[-1].text in {"?", ".", "!", '"', "'"} or not tokens[-1].text.strip()):
        tokens = tokens[:-1]
    return tokens


def _without_total(words: tuple[Token, ...]) -> tuple[Token, ...]:
    for total in _TOTAL:
        if tuple(word.lower for word in words[-len(total) :]) == total:
            return words[: -len(total)]
        for place in range(len(words) - len(total)):
            behind = words[place + len(total)].lower
            # "in all the pictures" is a place
            if tuple(word.lower for word in words[place : place + len(total)]) == total and behind in _AUXILIARIES:
                return words[:place] + words[place + len(total) :]
    return tuple(word for word in words if word.lower != "total")


def _parts(front: tuple[Token, ...], words: tuple[Token, ...]) -> Asked | str:
    group = bool(words) and words[0].lower == "of"
    end = _noun_end(words, 2 if group else 0)
    head = _head(words[:end], group=group)
    if isinstance(head, str):
        return head
    while end < len(words) and words[end].lower == "of" and not group:
        end = _noun_end(words, end + 1)
    verb = _verb_place(words, end)
    if isinstance(verb, str):
        return verb
    after, rest = words[end:verb], words[verb + 1 :]
    if any(word.tag in {"WDT", "WP", "WRB", "WP$"} for word in after):
        return "a relative clause before the verb"
    if any(word.tag in {"WP", "WRB"} and word.lower != "who" for word in rest):
        return "more than one clause"
    return Asked(
        front=front,
        noun=words[:end],
        head=head,
        after=after,
        verb=words[verb] if verb < len(words) else None,
        rest=rest,
        group=group,
    )


_IRREGULAR = frozenset({"shown", "set", "cut", "lit", "hung", "built", "made", "worn", "put", "left", "bent", "held"})


def _participle(words: Sequence[Token], place: int) -> bool:
    """Whether a past tense is a participle taken for one: "How many cars parked?"; a past tense has an object."""
    following = words[place + 1].tag if place + 1 < len(words) else "IN"
    return (
        words[place].tag == "VBD"
        and (words[place].lower.endswith("ed") or words[place].lower in _IRREGULAR)
        and following in {"IN", "RB", "VBG", "TO", "RP"}
    )


_ENDS = frozenset({"IN", "TO", "WDT", "WP", "WRB", "RP", "EX", "DT", "PRP", "PRP$"})


def _noun_end(words: Sequence[Token], start: int) -> int:
    """Return the end of a noun phrase: before a preposition, an auxiliary, or a verb or adverb behind a noun."""
    nouns = 0
    for place in range(start, len(words)):
        word = words[place]
        ends = word.lower in _AUXILIARIES or word.tag in _ENDS
        if ends and not (word.tag in {"DT", "PRP$"} and nouns == 0):
            return place
        noun = word.tag[:2] == "NN" or _plural_taken_for_a_verb(word)
        if nouns and not noun and (word.tag[:2] in {"VB", "RB"} or _late_adjective(words, place)):
            return place
        nouns += noun
    return len(words)


def _plural_taken_for_a_verb(word: Token) -> bool:
    """Whether a parser takes a noun for a verb: "How many flower pots?"; a counted noun has no such verb."""
    return word.tag == "VBZ" and word.lower not in _AUXILIARIES and singular(word.lower) is not None


def _late_adjective(words: Sequence[Token], place: int) -> bool:
    """Whether an adjective stands behind its noun: "How many vegetables green?"; not "How many kid size bikes?"."""
    return words[place].tag[:2] == "JJ" and not any(word.tag[:2] == "NN" for word in words[place + 1 : place + 2])


# "How many wear goggles?" counts nobody; a parser takes "wear goggles" for a noun now and then.
_VERBS = frozenset({"wear", "get", "take", "make", "play", "ride", "hold", "eat", "sit", "walk", "do", "come", "go"})


def _head(noun: Sequence[Token], *, group: bool) -> int | str:
    """Return the place of the noun that is counted, or why there is none."""
    if not noun:
        return "no noun is counted"
    head, inner = noun[-1], noun[2:] if group else noun
    unnamed = inner[:1] and inner[0].lower in _VERBS
    unnamed = unnamed or any(
        word.tag in {"PRP", "DT", "CD"} or (word.tag == "VBP" and word.dep == "ROOT") for word in inner
    )
    checks = (
        (group and (len(noun) < 3 or noun[1].tag not in {"DT", "PRP$"}), "a part of a group without a name"),
        (noun[0].lower in _COMPARED, "a comparison"),
        (head.lower in _MEASURES and len(noun) == 1, "a measure"),
        (unnamed or not (head.tag[:2] == "NN" or may_be_plural(head.lower)), "no noun is counted"),
        (any(word.lower == "or" for word in noun), "two nouns are counted"),
    )
    return next((reason for found, reason in checks if found), None) or len(noun) - 1


def _verb_place(words: Sequence[Token], start: int) -> int | str:
    """Return the place of the finite verb, or the end if there is none; participles are not finite."""
    for place in range(start, len(words)):
        word = words[place]
        if word.tag in {"WDT", "WP", "WRB"} or (word.lower == "that" and words[place + 1 : place + 2]):
            return "a relative clause before the verb"
        if word.lower in _AUXILIARIES or (word.tag in {"VBP", "VBZ", "VBD", "MD"} and not _participle(words, place)):
            return place
        if word.tag == "CC" and place == start:
            return "two nouns are counted"
    return len(words)
