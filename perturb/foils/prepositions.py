"""The spatial prepositions of captions: their places, their contradictions, and what captions say."""

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from vlgate.perturb.text.parsed import Parsed, Span
from vlgate.perturb.word_lists import words


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Prepositions of a caption and of its foil about the same thing, after a noun or one of the verbs ``heads``."""

    things: frozenset[str]
    heads: frozenset[str]
    captions: tuple[str, ...]
    foils: tuple[str, ...]
    singular: bool  # whether it does not hold for several things: nobody sits on horses
    subjects: frozenset[str]  # if there are any, it holds for these only: a man may sit at a table, but not a cup


@dataclass(frozen=True, slots=True, kw_only=True)
class Absurd:
    """Prepositions of foils that nobody would say of such a subject and such a thing: "a bus inside cars"."""

    subjects: frozenset[str]
    things: frozenset[str]
    foils: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts:
    sequences: Mapping[str, tuple[tuple[str, ...], ...]]  # of several words, by their first word, the longest first
    spatial: frozenset[str]
    together: Mapping[str, frozenset[str]]  # what may be true of one photograph together
    not_somewhere: frozenset[str]
    rows: tuple[Contrast, ...]
    absurd: tuple[Absurd, ...] = ()

    def is_absurd(self, subject: str, name: str, thing: str) -> bool:
        return any(name in one.foils and thing in one.things and subject in one.subjects for one in self.absurd)

    def compatible(self, one: str, other: str) -> bool:
        return one == other or other in self.together.get(one, frozenset())

    def opposite(
        self, name: str, thing: str, *, several: bool, head: str | None, subjects: Collection[str] = ()
    ) -> tuple[str, ...]:
        # Those that contradict ``name`` before ``thing``, behind the verb ``head`` (None for a noun) and ``subjects``.
        rows = [
            row.foils
            for row in self.rows
            if name in row.captions
            and thing in row.things
            and (head is None or head in row.heads)
            and not (row.singular and several)
            and (not row.subjects or not row.subjects.isdisjoint(subjects))
        ]
        return tuple(dict.fromkeys(foil for foils in rows for foil in foils))


@cache
def contrasts() -> Contrasts:
    raw = tomllib.loads(files(__package__).joinpath("prepositions.toml").read_text(encoding="utf-8"))
    sequences: dict[str, tuple[tuple[str, ...], ...]] = {}
    for sequence in sorted((tuple(one.split()) for one in raw["sequences"]), key=len, reverse=True):
        sequences[sequence[0]] = (*sequences.get(sequence[0], ()), sequence)
    groups = [frozenset(row.split("|")) for row in raw["together"]]
    return Contrasts(
        sequences=MappingProxyType(sequences),
        spatial=frozenset(raw["spatial"]),
        together=MappingProxyType(
            {name: frozenset().union(*(group for group in groups if name in group)) for name in set().union(*groups)}
        ),
        not_somewhere=frozenset(raw["not_somewhere"].split()),
        rows=tuple(
            Contrast(
                things=_listed(raw["things"], one["things"]),
                heads=_listed(raw["heads"], one["heads"]),
                captions=tuple(one["captions"].split("|")),
                foils=tuple(one["foils"].split("|")),
                singular=bool(one.get("singular", False)),
                subjects=_listed(raw["things"], one["subjects"]) if "subjects" in one else frozenset(),
            )
            for one in raw["contrasts"]
        ),
        absurd=tuple(
            Absurd(
                subjects=_listed(raw["things"], one["subjects"]),
                things=_listed(raw["things"], one["things"]),
                foils=frozenset(one["foils"].split("|")),
            )
            for one in raw["absurd"]
        ),
    )


def _listed(lists: Mapping[str, str], names: str) -> frozenset[str]:
    return frozenset(word for name in names.split("|") for word in lists[name].split())


LEAST_ATTESTED = 3  # how often a sequence must occur in a collection, so that a slip of one annotator does not count


@dataclass(frozen=True, slots=True, kw_only=True)
class Preposition:
    name: str  # its words in lower case
    span: Span
    head: int | None  # the position of the word that it belongs to
    thing: int | None  # the position of the noun behind it


def prepositions(parsed: Parsed) -> tuple[Preposition, ...]:
    """The prepositions of a text, in its order; particles of verbs ("sit down") are not among them."""
    objects: dict[int, int] = {}
    for index, token in enumerate(parsed.tokens):
        if token.dep == "pobj" and token.head < index:
            objects.setdefault(token.head, index)
    found: list[Preposition] = []
    index = 0
    while index < len(parsed.tokens):
        length = _length(parsed, index)
        if length:
            span = (index, index + length)
            heads = (parsed.tokens[inside].head for inside in range(*span))
            name = " ".join(token.lower for token in parsed.tokens[slice(*span)])
            head = next((head for head in heads if not span[0] <= head < span[1]), None)
            thing = objects.get(index + length - 1, _thing_of_slope(parsed, index))
            found.append(Preposition(name=name, span=span, head=head, thing=thing))
        index += length or 1
    return tuple(found)


def attested(captions: Iterable[Parsed], least: int = LEAST_ATTESTED) -> Mapping[str, int]:
    every = (preposition for caption in captions for preposition in prepositions(caption))
    counts = Counter(preposition.name for preposition in every if preposition.thing is not None)
    return {name: count for name, count in counts.most_common() if count >= least}


def _length(parsed: Parsed, index: int) -> int:
    tokens = parsed.tokens
    for sequence in contrasts().sequences.get(tokens[index].lower, ()):
        following = tokens[index : index + len(sequence)]
        if tuple(one.lower for one in following) == sequence:
            return len(sequence) if following[-1].dep in {"prep", "pcomp"} else 0
    if _thing_of_slope(parsed, index) is not None:
        return 1
    return int(tokens[index].dep == "prep" and tokens[index].pos != "ADV")


def _thing_of_slope(parsed: Parsed, index: int) -> int | None:
    """Return the noun behind "up" or "down" that a parser takes for the verb's object: "skis down a hill"."""
    token = parsed.tokens[index]
    if token.lower not in {"up", "down"} or token.dep not in {"prep", "prt"}:
        return None
    thing = next((end - 1 for first, end in parsed.chunks if first == index + 1), None)
    if thing is None or parsed.tokens[thing].head != token.head:
        return None
    noun, verb = parsed.tokens[thing], parsed.tokens[token.head].lemma.lower()
    opposites = contrasts().opposite(token.lower, noun.lemma.lower(), several=noun.tag == "NNS", head=verb)
    return thing if opposites else None


_PUTTING = frozenset("on in at of inside into onto atop under underneath beneath over above".split())


def may_be_of_another(parsed: Parsed, head: int | None, first: int) -> bool:
    """Return whether a phrase at ``first`` may be of another noun than ``head``: "girls cook beans on the stove"."""
    # Women next to the stove cook beans on it, and the driver of "a man driving past people behind a fence" may be
    # behind the fence. A place behind "a woman with spoons" may be that of the spoons.
    tokens = parsed.tokens
    if head is None:
        return False
    while tokens[head].dep == "pobj" and tokens[tokens[head].head].lower == "of":
        head = tokens[tokens[head].head].head
        if tokens[head].lower in words("image"):
            return True  # "a picture of a cat on a wall"
    noun, before = tokens[head], tokens[max(first - 1, 0)]
    joined = noun.dep == "conj" and noun.pos == "NOUN"
    with_another = before.dep == "pobj" and tokens[before.head].lower not in _PUTTING
    return joined or with_another or noun.dep in {"pobj", "dobj", "dative"} or bool(parsed.children(head, "dobj"))


AROUND = "around"  # what ``said_of`` notes of a thing that surrounds another one
SEVERAL = "several"  # what ``said_of`` notes of a thing that a caption has in the plural

Said = Mapping[str, frozenset[str]]  # the prepositions that captions of an image say before a noun, by the noun's lemma


def said_of(captions: Iterable[Parsed]) -> Said:
    said: dict[str, set[str]] = {}
    for text in captions:
        for preposition in prepositions(text):
            if preposition.thing is not None:
                said.setdefault(text.tokens[preposition.thing].lemma.lower(), set()).add(preposition.name)
        for token in text.tokens:
            if token.tag == "NNS":
                said.setdefault(token.lemma.lower(), set()).add(SEVERAL)
        for thing, name in (*((index, AROUND) for index in _around(text)), *_next_to(text)):
            said.setdefault(text.tokens[thing].lemma.lower(), set()).add(name)
    return {thing: frozenset(names) for thing, names in said.items()}


def _around(text: Parsed) -> Iterator[int]:
    for preposition in prepositions(text):
        head = preposition.head
        if preposition.name == "around" and head is not None and text.tokens[head].pos == "NOUN":
            yield head
    for index, token in enumerate(text.tokens):
        by = text.tokens[token.head]
        if token.dep == "pobj" and by.lower == "by" and text.tokens[by.head].lower == "surrounded":
            yield index


def _next_to(text: Parsed) -> Iterator[tuple[int, str]]:
    """Yield the noun behind each "next to"; a parser may take "next to open luggage" for an infinitive."""
    tokens = text.tokens
    for index in range(len(tokens) - 1):
        if (tokens[index].lower, tokens[index + 1].lower) == ("next", "to"):
            nouns = [n for n in range(index + 2, len(tokens)) if tokens[n].pos == "NOUN"]
            yield from ((n, "next to") for n in nouns[:1])
