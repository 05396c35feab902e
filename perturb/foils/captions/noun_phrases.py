"""The noun phrases of a parsed caption (head, determiner, number), and nouns whose number says little."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from vlgate.perturb.text.grammar import plural, singular
from vlgate.perturb.text.parsed import Parsed, Span
from vlgate.perturb.text.rewriting import NUMBER_WORDS
from vlgate.perturb.word_lists import words

GROUP = "the noun names a quantity or a group"
IMAGE = "the noun names the picture"
SUBSTANCE = "the noun may name a substance"
MORE = "more of it may be there than the caption tells"
PAIRED = "the noun comes in pairs or has two halves"

_LISTS = MappingProxyType(
    {
        GROUP: "group",
        "the noun names a part or a side": "part",
        IMAGE: "image",
        "the noun names an event, a time or something abstract": "abstract",
        MORE: "unbounded",
        SUBSTANCE: "substance",
        PAIRED: "paired",
    }
)


def reason_of(noun: str) -> str | None:
    """Why the number of a noun in the singular says little, or None if it is a countable object."""
    return next((reason for reason in _LISTS if has_kind(noun, reason)), None)


def has_kind(noun: str, reason: str) -> bool:
    return noun in words(_LISTS[reason])


Lead = Literal["none", "a", "the", "this", "number", "quantity", "possessive", "possessor", "other"]
"""What a noun phrase begins with: "two" is a number, "several" a quantity, "his" possessive, "a man's" a possessor."""

_QUANTITIES = words("quantity")
_LEADS: dict[str, Lead] = {
    **dict.fromkeys(("a", "an"), "a"),
    "the": "the",
    **dict.fromkeys(("this", "that", "these", "those"), "this"),
    **dict.fromkeys(("all", "both"), "quantity"),
    **dict.fromkeys(_QUANTITIES, "quantity"),
}
_VAGUE = words("vague")
_DEGREES = frozenset({"very", "so", "quite", "too", "rather", "pretty"})
_SAME = frozenset({"fish", "sheep", "deer", "moose", "bison", "shrimp", "salmon", "tuna", "aircraft"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NounPhrase:
    """A base noun phrase whose head is a common noun."""

    span: Span
    head: int  # the place of its head
    lead: Span  # its determiner, possessive and numeral, which another quantifier replaces; may be empty
    kind: Lead
    plural: bool
    noun: str
    other: str  # the head in the other number
    count: int | None = None

    @property
    def singular_noun(self) -> str:
        return (self.other if self.plural else self.noun).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A parsed caption with its noun phrases by the place of their heads, and the dependents of each token."""

    parsed: Parsed
    children: tuple[tuple[int, ...], ...]
    phrases: dict[int, NounPhrase]
    refused: tuple[str, ...] = ()

    def dependents(self, position: int, *labels: str) -> tuple[int, ...]:
        return tuple(index for index in self.children[position] if self.parsed.tokens[index].dep in labels)


def read(parsed: Parsed) -> Reading:
    """Find the noun phrases of a caption with a common noun; ``refused`` has the reason for each chunk that is none."""
    children: list[list[int]] = [[] for _ in parsed.tokens]
    for index, token in enumerate(parsed.tokens):
        if token.head != index:
            children[token.head].append(index)
    outcomes = [_phrase(parsed, span) for span in parsed.chunks]
    return Reading(
        parsed=parsed,
        children=tuple(map(tuple, children)),
        phrases={outcome.head: outcome for outcome in outcomes if isinstance(outcome, NounPhrase)},
        refused=tuple(outcome for outcome in outcomes if isinstance(outcome, str)),
    )


def _phrase(parsed: Parsed, span: Span) -> NounPhrase | str:
    index = span[1] - 1
    head = parsed.tokens[index]
    if head.tag in {"PRP", "WP", "WDT", "EX", "DT", "CD"}:
        return "a pronoun"
    starts = index == 0 or index in {start for start, _ in parsed.sentences}
    plain = head.tag in {"NN", "NNS"} and head.text.isalpha() and head.text.isascii()
    if not plain or head.text != (head.lower.capitalize() if starts and head.text[0].isupper() else head.lower):
        return "not a common noun"
    noun, several = head.lower, head.tag == "NNS"
    stop, kind, count = _lead(parsed, span)
    if noun in _SAME:
        if kind not in {"a", "number", "quantity"}:
            return "one and several are the same word"
        several = kind != "a" and count != 1
    other = singular(noun) if several else plural(noun)
    if other is None:
        return "the noun has no singular" if several else "the noun has no plural"
    first = parsed.tokens[span[0]].lower
    says_one = kind == "a" or count == 1 or first in {"this", "that"}
    says_several = kind == "quantity" or (count or 1) > 1 or first in {"these", "those"}
    if says_one if several else says_several:
        return "the determiner does not agree with the noun"
    return NounPhrase(
        span=span, head=index, lead=(span[0], stop), kind=kind, plural=several, noun=noun, other=other, count=count
    )


def _lead(parsed: Parsed, span: Span) -> tuple[int, Lead, int | None]:
    # The place behind the words before the modifiers, their kind, and the number that they name.
    first, head = span[0], span[1] - 1
    index, kind, count = first, "none", None
    possessor = [n for n in range(first, head) if parsed.tokens[n].tag == "POS"]
    if possessor:
        return possessor[-1] + 1, "possessor", None
    while index < head:
        token = parsed.tokens[index]
        word_kind = _kind(parsed, index, head)
        if word_kind is None:
            break
        if token.tag == "CD":
            count = number(token.lower)
        kind = word_kind if kind in {"none", "the", "this", "a"} or word_kind == "other" else kind
        index += 1
    if first > 0 and parsed.tokens[first - 1].lower in _VAGUE - {"at", "around", "over", "up", "about", "than"}:
        kind = "other"
    return index, kind, count  # type: ignore[return-value]


def _kind(parsed: Parsed, index: int, head: int) -> Lead | None:
    token = parsed.tokens[index]
    if token.lower in _LEADS:
        return _LEADS[token.lower]
    if index + 1 < head and token.lower in _DEGREES and parsed.tokens[index + 1].lower in _QUANTITIES:
        return "quantity"
    if token.tag == "PRP$":
        return "possessive"
    if token.tag == "CD":
        return "number" if token.head == head else "other"  # "two way signs", and "two motorcycle riders" misread
    if token.tag in {"DT", "PDT", "WDT", "WP$"} or token.lower in _VAGUE or token.lower == "another":
        return "other"
    return None


def number(word: str) -> int | None:
    """Return the number that a word in lower case, or one digit or two, stands for."""
    if word in NUMBER_WORDS:
        return NUMBER_WORDS.index(word)
    return int(word) if word.isascii() and word.isdigit() and len(word) < 3 else None
