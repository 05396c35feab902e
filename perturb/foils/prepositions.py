"""Find the prepositions of captions: sequences of one to three words that say where something is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from vlgate.perturb.foils.contrasts import contrasts
from vlgate.perturb.parsing.parsed import Parsed, Span

LEAST_ATTESTED = 3
"""How often a sequence must occur in a collection, so that a slip of one annotator does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preposition:
    """A preposition of a text: its words in lower case, its tokens, and what it relates.

    ``thing`` is the position of the noun behind it, ``head`` that of the word it belongs to; None if there is none.
    """

    name: str
    span: Span
    head: int | None
    thing: int | None


def prepositions(parsed: Parsed) -> tuple[Preposition, ...]:
    """Return the prepositions of a text, in its order; particles of verbs ("sit down") are not among them."""
    return tuple(_prepositions(parsed))


def attested(captions: Iterable[Parsed], least: int = LEAST_ATTESTED) -> Mapping[str, int]:
    """Count the preposition sequences of a collection of captions, as VALSE's list of attested ones.

    Args:
        captions: parsed captions.
        least: how often a sequence must occur.

    Returns: the counts by sequence, the most frequent first.
    """
    counts = Counter(one.name for caption in captions for one in prepositions(caption) if one.thing is not None)
    return {name: count for name, count in counts.most_common() if count >= least}


def _prepositions(parsed: Parsed) -> Iterator[Preposition]:
    children = _objects(parsed)
    place = 0
    while place < len(parsed.tokens):
        length = _length(parsed, place)
        if not length:
            place += 1
            continue
        span = (place, place + length)
        yield Preposition(
            name=" ".join(token.lower for token in parsed.tokens[slice(*span)]),
            span=span,
            head=_head(parsed, span),
            thing=children.get(place + length - 1, _thing_of_slope(parsed, place)),
        )
        place += length


def _length(parsed: Parsed, place: int) -> int:
    """Return how many tokens from ``place`` are one preposition; 0 for none."""
    tokens = parsed.tokens
    for sequence in contrasts().sequences.get(tokens[place].lower, ()):
        found = tokens[place : place + len(sequence)]
        if tuple(one.lower for one in found) == sequence:
            return len(sequence) if found[-1].dep in {"prep", "pcomp"} else 0
    if _thing_of_slope(parsed, place) is not None:
        return 1
    return int(tokens[place].dep == "prep" and tokens[place].pos != "ADV")


def _thing_of_slope(parsed: Parsed, place: int) -> int | None:
    """Return the noun behind "up" or "down" that a parser takes for the verb's object: "skis down a hill"."""
    token = parsed.tokens[place]
    if token.lower not in {"up", "down"} or token.dep not in {"prep", "prt"}:
        return None
    thing = next((end - 1 for first, end in parsed.chunks if first == place + 1), None)
    if thing is None or parsed.tokens[thing].head != token.head:
        return None
    noun, verb = parsed.tokens[thing], parsed.tokens[token.head].lemma.lower()
    found = contrasts().opposite(token.lower, noun.lemma.lower(), several=noun.tag == "NNS", head=verb)
    return thing if found else None


def _objects(parsed: Parsed) -> Mapping[int, int]:
    found: dict[int, int] = {}
    for place, token in enumerate(parsed.tokens):
        if token.dep == "pobj" and token.head < place:
            found.setdefault(token.head, place)
    return found


def _head(parsed: Parsed, span: Span) -> int | None:
    for place in range(*span):
        head = parsed.tokens[place].head
        if not span[0] <= head < span[1]:
            return head
    return None
