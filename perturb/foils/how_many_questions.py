"""Take how-many questions apart, and word the counted noun for one thing or for several."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from vlgate.perturb.text.fitness import first
from vlgate.perturb.text.grammar import forms, may_be_plural, plural, singular, with_article
from vlgate.perturb.text.parsed import Parsed, Token
from vlgate.perturb.word_lists import words

BE = frozenset({"is", "are", "was", "were"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had"})
MODALS = frozenset({"can", "could", "may", "might", "will", "would", "should", "must"})
_AUXILIARIES = BE | DO | HAVE | MODALS
_COMPARED = frozenset({"more", "less", "fewer", "much"})
_MEASURES = words("measure of an answer")
_TOTAL = (("in", "total"), ("all", "together"), ("in", "all"), ("altogether",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The parts of a how-many question: a part of its tokens each, without "how many" and the mark."""

    front: tuple[Token, ...]  # what stands before "how many" ("in this photo")
    noun: tuple[Token, ...]  # what is counted, with the "of" behind it ("slices of pizza")
    head: int  # of the noun
    after: tuple[Token, ...]  # what follows the noun before the verb ("on the boat")
    verb: Token | None  # None if there is none ("How many wheels on the bus?")
    rest: tuple[Token, ...]  # what follows the verb
    group: bool  # whether a part of what ``noun`` names is counted ("How many of the animals are giraffes?")


def asked(question: Parsed) -> Asked | str:
    """Take a question apart; a reason if it cannot be turned into a statement."""
    tokens = question.tokens
    while tokens and (tokens[-1].text in {"?", ".", "!", '"', "'"} or not tokens[-1].text.strip()):
        tokens = tokens[:-1]
    indexes = [n for n in range(len(tokens) - 1) if (tokens[n].lower, tokens[n + 1].lower) == ("how", "many")]
    if not indexes:
        return "not a how-many question"
    front, words = tokens[: indexes[0]], _without_total(tokens[indexes[0] + 2 :])
    if front and front[-1].text == ",":
        front = front[:-1]
    stops = any(token.pos in {"PUNCT", "SYM", "INTJ", "SPACE"} and token.text != "-" for token in (*front, *words))
    late = bool(front) and (front[0].tag != "IN" or front[0].lower in _APPROXIMATE)
    checks = (
        (question.text.isupper(), "all capitals"),
        (bool(_MARKS.search(question.text.strip(' "'))), "marks that are not words"),
        (late, "the question does not begin with how many"),
        (len(indexes) > 1 or stops, "more than one clause"),
        (any(one.lower == two.lower for one, two in pairwise(words)), "a word twice"),
        (any(word.lower in {"n't", "n\u2019t"} for word in words), "negated"),
        (_is_said_twice(words), "two verbs"),
    )
    return first(*checks) or _parts(front, words)


def _is_said_twice(words: Sequence[Token]) -> bool:
    """Return whether a question has two finite verbs and no clause for the second: "people are pictured are there"."""
    finite = [token for token in words if token.tag in {"VBP", "VBZ", "VBD", "MD"}]
    joined = any(token.tag in {"WDT", "WP", "WRB", "CC"} or token.lower == "that" for token in words)
    return len(finite) > 1 and not joined and finite[-1].lower in BE


_APPROXIMATE = frozenset({"about", "around", "like"})
_MARKS = re.compile(r"[;:()\[\]<>/\\\"“”{}=*#@|_\n\t\0]")


def written(tokens: Sequence[Token]) -> str:
    return "".join(token.text + token.space for token in tokens).strip()


def _without_total(words: tuple[Token, ...]) -> tuple[Token, ...]:
    for total in _TOTAL:
        if tuple(word.lower for word in words[-len(total) :]) == total:
            return words[: -len(total)]
        for index in range(len(words) - len(total)):
            behind = words[index + len(total)].lower
            # "in all the pictures" is a place
            if tuple(word.lower for word in words[index : index + len(total)]) == total and behind in _AUXILIARIES:
                return words[:index] + words[index + len(total) :]
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


def _participle(words: Sequence[Token], index: int) -> bool:
    """Whether a past tense is a participle taken for one: "How many cars parked?"; a past tense has an object."""
    word = words[index]
    following = words[index + 1].tag if index + 1 < len(words) else "IN"
    past = word.tag == "VBD" and (word.lower.endswith("ed") or word.lower in _IRREGULAR)
    return past and following in {"IN", "RB", "VBG", "TO", "RP"}


_ENDS = frozenset({"IN", "TO", "WDT", "WP", "WRB", "RP", "EX", "DT", "PRP", "PRP$"})


def _noun_end(words: Sequence[Token], start: int) -> int:
    # It ends before a preposition, an auxiliary, or a verb or adverb behind a noun.
    nouns = 0
    for index in range(start, len(words)):
        word = words[index]
        ends = word.lower in _AUXILIARIES or word.tag in _ENDS
        if ends and not (word.tag in {"DT", "PRP$"} and nouns == 0):
            return index
        # A plural may be taken for a verb, "How many flower pots?", but a counted noun has no such verb.
        verb = word.tag == "VBZ" and (word.lower in _AUXILIARIES or singular(word.lower) is None)
        noun = word.tag[:2] == "NN" or (word.tag == "VBZ" and not verb)
        # "How many vegetables green?", but not "How many kid size bikes?"
        late = word.tag[:2] == "JJ" and not any(after.tag[:2] == "NN" for after in words[index + 1 : index + 2])
        if nouns and not noun and (word.tag[:2] in {"VB", "RB"} or late):
            return index
        nouns += noun
    return len(words)


# "How many wear goggles?" counts nobody; a parser takes "wear goggles" for a noun now and then.
_VERBS = frozenset({"wear", "get", "take", "make", "play", "ride", "hold", "eat", "sit", "walk", "do", "come", "go"})


def _head(noun: Sequence[Token], *, group: bool) -> int | str:
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
        (bool(unnamed) or not (head.tag[:2] == "NN" or may_be_plural(head.lower)), "no noun is counted"),
        (any(word.lower == "or" for word in noun), "two nouns are counted"),
    )
    return first(*checks) or len(noun) - 1


def _verb_place(words: Sequence[Token], start: int) -> int | str:
    for index in range(start, len(words)):
        word = words[index]
        if word.tag in {"WDT", "WP", "WRB"} or (word.lower == "that" and words[index + 1 : index + 2]):
            return "a relative clause before the verb"
        if word.lower in _AUXILIARIES or (word.tag in {"VBP", "VBZ", "VBD", "MD"} and not _participle(words, index)):
            return index
        if word.tag == "CC" and index == start:
            return "two nouns are counted"
    return len(words)


KINDS = frozenset({"kinds", "types", "sorts", "varieties", "species"})
"""Nouns that count kinds of something: "one kind of fruit", "two kinds of fruits"."""

# "Pieces of carrots": one of them is a piece of a carrot.
_PORTIONS = frozenset({"pieces", "slices", "halves", "bites", "parts"})
_PLURAL = frozenset({"cattle", "people", "police", "poultry"})
_SEVERAL = frozenset({"different", "various", "several", "separate", "matching", "identical"})
# Words about several things together, without a wording for one.
_COLLECTIVE = frozenset({"together", "other", "apart", "different", "same", "each", "both", "row", "circle", "pairs"})
# What is worn in pairs: one person wears gloves, but one hat.
_PAIRS = words("worn in pairs")
# One person is in one suit and on one horse, but on skis, and a tree stands in bushes.
_ONE_EACH = frozenset({"wearing", "riding", "wear", "ride", "in", "on"})
_MANY_OF_ONE = words("many of one")
# One person holding umbrellas may hold one or several, so that the number of the other noun is not known.
_EITHER = frozenset({"holding", "carrying", "using", "flying", "hold", "carry", "use", "having", "with", "playing"})


def in_plural(noun: Sequence[Token], head: int) -> str | None:
    word = noun[head].text
    if singular(word.lower()) in _PLURAL:
        return _with(noun, head, singular(word))
    ends = may_be_plural(word) or word.lower().endswith("s")
    only_plural = plural(word) is None and noun[head].tag in {"NNS", "NNPS"} and ends
    if word.lower() in _PLURAL or singular(word) is not None or only_plural:
        return written(noun)
    return _with(noun, head, plural(word))


def in_singular(noun: Sequence[Token], head: int) -> str | None:
    if noun[head].lower in _PORTIONS and any(word.tag == "NNS" for word in noun[head + 1 :]):
        return None
    owned = any(owner.tag in {"NNS", "NNPS"} and mark.tag == "POS" for owner, mark in pairwise(noun))
    if owned or noun[0].lower in _SEVERAL | KINDS or any(word.tag == "CC" for word in noun[: head + 1]):
        return None
    word = noun[head].text
    single = singular(word)
    if single in _PLURAL:
        return None
    return _with(noun, head, single if single is not None else word if plural(word) is not None else None)


def one_of(tail: Sequence[Token], verb: str = "") -> str | None:
    """Words about several things ("wearing hats") as they are about one ("wearing a hat"), behind a finite ``verb``."""
    words: list[str] = []
    for index, token in enumerate(tail):
        if token.lower in _COLLECTIVE or token.tag in {"WDT", "WP", "WP$"} or token.lower in {"their", "they", "them"}:
            return None
        before = tail[index - 1].lower if index else ""
        last = index + 1 == len(tail) or tail[index + 1].tag[:2] != "NN"
        bare = token.tag == "NNS" and last
        if bare and before in {"and", "or"}:
            return None
        start = _adjectives(tail, index)
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


def _adjectives(tail: Sequence[Token], index: int) -> int:
    while index and tail[index - 1].tag[:2] in {"JJ", "NN"} and tail[index - 1].tag != "NNS":
        index -= 1
    return index


def third_person(verb: Token) -> tuple[str | None, str | None]:
    word = verb.lower
    if word in BE:
        return ("were", "was") if word in {"was", "were"} else ("are", "is")
    if word in HAVE - {"had"}:
        return "have", "has"
    if verb.tag == "VBD":
        return word, word
    return verb_form(verb.lemma.lower(), "VBP"), verb_form(verb.lemma.lower(), "VBZ")


def verb_form(lemma: str, tag: str) -> str | None:
    inflected = forms(lemma, "VERB").get(tag, ())
    if not inflected and lemma in {"have", "do"}:
        inflected = forms(lemma, "AUX").get(tag, ())
    return inflected[0] if inflected else None


def _with(noun: Sequence[Token], head: int, form: str | None) -> str | None:
    if form is None:
        return None
    return "".join((form if n == head else word.text) + word.space for n, word in enumerate(noun)).strip()
