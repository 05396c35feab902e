"""What a question says, read from its text with a grammar of its own: the first half of the second check of truth.

It knows English question forms and the ontology's words, and nothing of the templates. A text that fits no rule is an
error, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vlgate.perturb.ontology import Ontology


@dataclass(frozen=True, slots=True)
class Phrase:
    """A thing as the text names it: "red cup", and perhaps "on" another thing."""

    kind: str
    relation: str = ""
    other: Phrase | None = None


@dataclass(frozen=True, slots=True)
class Existence:
    """Whether there is one of the things, or ("and") whether there are both."""

    things: tuple[Phrase, ...]
    joined: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Predication:
    """Whether the thing is so."""

    thing: Phrase
    attribute: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the choices the thing is.

    They are kinds of things or values of ``category``, if the text names one.
    """

    thing: Phrase
    choices: tuple[str, ...]
    kinds: bool
    category: str


Sense = tuple[tuple[str, ...], str]
Question = Existence | Predication | Choice


class NotUnderstoodError(ValueError):
    """The text fits no rule, or two that disagree."""


class Lexicon:
    """The words of an ontology: what may be a noun, an attribute (by how it reads), and a relation."""

    def __init__(self, ontology: Ontology) -> None:
        self.nouns = frozenset(ontology.nouns)
        self.readings: dict[str, set[str]] = {}
        for name, attribute in ontology.attributes.items():
            for text in {name, attribute.after} - {""} if attribute.before or attribute.after else ():
                self.readings.setdefault(text, set()).add(name)
        self.relations = {
            text for relation in ontology.relations.values() for text in (relation.text, relation.inverse)
        } - {""}

    def senses(self, kind: str) -> list[Sense]:
        """All ways to read "light brown coffee table" as attributes and a noun, that in the fewest pieces first."""
        found: list[Sense] = [((), kind)] if kind in self.nouns else []
        for cut in (at for at, sign in enumerate(kind) if sign == " "):
            if kind[:cut] in self.readings:
                found += [((kind[:cut], *attributes), noun) for attributes, noun in self.senses(kind[cut + 1 :])]
        return sorted(found, key=lambda sense: len(sense[0]))


_IMAGE = r"(?:the|this) (?:picture|photo|image)"
_IN_IT = re.compile(rf"(?: anywhere)? in {_IMAGE}(?=$|[ ,])| shown here(?=$|[ ,])")
_BEFORE = re.compile(rf"^(?:in|looking at|judging by|judging from|from) {_IMAGE}, ")
_FINE, _WRONG = "(?:true|correct|right)", "(?:false|untrue|incorrect|wrong)"
_SAID = re.compile(
    rf"(?:is it {_FINE} that|would it be {_FINE} to say that|would you say(?: that)?|do you think(?: that)?"
    r"|does it (?:look|seem) (?:like|as if)|do you agree that) "
)
_DENIED = re.compile(
    rf"(?:(?:is it|does it seem) {_WRONG} that|would it be {_WRONG} to say that"
    r"|would you deny that|do you disagree that) "
)
_UNABLE = re.compile(r"(?:are you unable|is it impossible) to (?=(?:see|find) )")

_SEE = "(?:see|find|spot|notice)"
_THERE = [
    re.compile(text)
    for text in (
        r"(?:is|are) there (?P<q>.+?)(?: to be seen)?",
        r"there (?:is|are) (?P<q>.+)",
        rf"(?:(?:do|can|would) you |you )?{_SEE} (?P<q>.+)",
        r"can (?P<q>.+) be (?:seen|found)",
        r"(?P<q>.+) can be (?:seen|found)",
        r"(?:is|are) (?P<q>.+) (?:visible|shown|present)",
        r"(?P<q>.+) (?:is|are) (?:visible|shown|present)",
        r"(?:do|does) (?P<q>.+) appear",
        r"(?P<q>.+) appears?",
        rf"does (?:{_IMAGE}|it) (?:show|contain|include) (?P<q>.+)",
        rf"(?:{_IMAGE}|it) (?:shows|contains|includes) (?P<q>.+)",
    )
]
_LACKS = re.compile(rf"(?:does {_IMAGE} lack|is {_IMAGE} missing) (?P<a>[^,]+), (?P<b>[^,]+), or both")
_IS_SO = [
    re.compile(text)
    for text in (
        r"(?:is|are) (?P<d>the .+)(?P<p>)",
        r"(?:do|does) (?P<d>the .+) (?:appear|seem)(?P<n> not)? to be (?P<p>.+)",
        r"(?P<d>the .+) (?:is|are)(?P<n> not)? (?P<p>.+)",
    )
]
_DOING = " made of| doing| in| engaged in"
_CATEGORY = r"(?:what|which)(?: (?P<c>\w+(?: \w+)?))?"
_SORT = "(?:what|which) (?:kind|sort|type) of"
_WHICH = [
    re.compile(text)
    for text in (
        r"what would you call the (?P<c>\w+(?: \w+)?) of (?P<d>the .+?),",
        rf"what would you call the (?P<c>\w+(?: \w+)?) that (?P<d>the .+?) (?:is|are)(?:{_DOING}),",
        r"what would you call (?P<d>the .+?),",
        r"(?:does )?the (?P<c>color) of (?P<d>the .+?) (?:is|seem) more",
        rf"{_SORT} (?P<c>\w+(?: \w+)?) (?:is|are) (?P<d>the .+?)(?:{_DOING}),",
        rf"{_SORT} (?P<c>\w+(?: \w+)?) (?:do|does) (?P<d>the .+?) (?:have|appear to be(?:{_DOING})),",
        r"(?:what )?is the (?P<c>\w+(?: \w+)?) of (?P<d>the .+?),?",
        r"(?:is|are) (?P<d>the .+)",
        r"(?:do|does) (?P<d>the .+) (?:(?:appear|seem) to be|look like)",
        r"would you (?:call|describe) (?P<d>the .+?)(?: as)?",
        r"(?P<d>the .+) (?:is|are)",
        r"(?:what|which)(?: best)? describes (?P<d>the .+?)(?: best)?,",
        rf"{_CATEGORY} (?:is|are) (?P<d>the .+?)(?:{_DOING})?,",
        rf"{_CATEGORY} (?:do|does) (?P<d>the .+?)(?: (?:appear|seem) to)? (?:have|show|look like|be(?:{_DOING})?),",
        rf"{_CATEGORY} would you say (?P<d>the .+?) (?:is|are)(?:{_DOING})?,",
        r"(?:what|which) (?:kind|sort|type) of (?P<k>.+?) (?:do|can) you see,",
        r"(?:what|which) (?:kind|sort|type) of (?P<k>.+?) (?:is|are)(?P<r> .+?)?,",
    )
]


def parse(question: str, choices: Sequence[str], lexicon: Lexicon) -> Question:
    """Return what ``question`` asks.

    Raises: NotUnderstoodError if no rule fits, or several meanings do.
    """
    for text in _without_image(question.strip().removesuffix("?").lower()):
        body, negated = _peeled(text)
        rules = _chosen(body, choices, lexicon) if set(choices) - {"yes", "no"} else _answered(body, lexicon, negated)
        for meanings in rules:
            if len(meanings) == 1:
                return meanings.pop()
            if meanings:
                raise NotUnderstoodError(f"{question!r} may mean {meanings}")
    raise NotUnderstoodError(f"{question!r} fits no rule")


def _without_image(text: str) -> Iterator[str]:
    """Without "in the image"; then as it stands, since an image may be one of the things."""
    bare = _IN_IT.sub("", _BEFORE.sub("", text))
    yield bare
    if bare != text:
        yield text


def _peeled(text: str) -> tuple[str, bool]:
    """The text without "is it true that" and the like, and whether that turned its answer round."""
    negated = False
    while found := _SAID.match(text) or _DENIED.match(text) or _UNABLE.match(text):
        negated ^= found.re is not _SAID
        text = text[found.end() :]
    return text, negated


def _answered(body: str, lexicon: Lexicon, negated: bool) -> Iterator[set[Question]]:
    if match := _LACKS.fullmatch(body):
        yield {Existence(both, "and", not negated) for both in _pairs(match["a"], match["b"], lexicon)}
    for rule in _THERE:
        if match := rule.fullmatch(body):
            yield {Existence(things, joined, no ^ negated) for things, joined, no in _quantified(match["q"], lexicon)}
    for rule in _IS_SO:
        if match := rule.fullmatch(body):
            yield set(_predications(match, lexicon, negated))


def _quantified(text: str, lexicon: Lexicon) -> Iterator[tuple[tuple[Phrase, ...], str, bool]]:
    """The things that a text counts, whether all or one of them are meant, and whether it says no."""
    yield from (((thing,), "or", text.startswith("no ")) for thing in _some(text.removeprefix("no "), lexicon))
    for frame, joined, no in _JOINED:
        start, middle = frame
        if text.startswith(start):
            rest = text.removeprefix(start)
            for at in (match.start() for match in re.finditer(middle, rest)):
                for both in _pairs(rest[:at], rest[at + len(middle) :], lexicon):
                    yield both, joined, no


_JOINED = (
    (("either no ", " or no "), "and", True),
    (("no ", " and no "), "or", True),
    (("both ", " and "), "and", False),
    (("", " as well as "), "and", False),
    (("", " and also "), "and", False),
    (("", " and "), "and", False),
    (("either ", " or "), "or", False),
    (("", " or "), "or", False),
    (("neither ", " nor "), "or", True),
)


def _pairs(first: str, second: str, lexicon: Lexicon) -> list[tuple[Phrase, Phrase]]:
    return [(a, b) for a in _some(first, lexicon) for b in _some(second, lexicon)]


def _predications(found: re.Match[str], lexicon: Lexicon, negated: bool) -> Iterator[Predication]:
    if found["p"]:
        negated ^= found["n"] is not None
        if found["p"] in lexicon.readings:
            yield from (Predication(thing, found["p"], negated) for thing in _the(found["d"], lexicon))
        return
    words = found["d"].split(" ")
    for cut in range(2, len(words)):
        said = " ".join(words[cut:])
        attribute = said.removeprefix("not ")
        if attribute in lexicon.readings:
            for thing in _the(" ".join(words[:cut]), lexicon):
                yield Predication(thing, attribute, negated ^ (attribute != said))


def _chosen(body: str, choices: Sequence[str], lexicon: Lexicon) -> Iterator[set[Question]]:
    for head, listed in _heads(body, choices):
        kinds = any(bare(one) != one for one in listed) or not lexicon.readings.keys() >= set(listed)
        for rule in _WHICH:
            match = rule.fullmatch(head)
            if match is None:
                continue
            parts = match.groupdict()
            kind = parts.get("k")
            things = _some(f"{kind}{parts.get('r') or ''}", lexicon) if kind else _the(match["d"], lexicon)
            yield {Choice(thing, tuple(choices), kinds, parts.get("c") or "") for thing in things}


def _heads(body: str, choices: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """What stands before the list of exactly the choices that are offered, and the list."""
    for cut in (at for at, sign in enumerate(body) if sign == " "):
        listed = re.split(r", or | or |, ", body[cut + 1 :].removeprefix("made of "))
        if sorted(map(bare, listed)) == sorted(bare(choice.lower()) for choice in choices):
            yield body[:cut], listed


def _the(text: str, lexicon: Lexicon) -> list[Phrase]:
    return _phrases(text.removeprefix("the "), lexicon) if text.startswith("the ") else []


def _some(text: str, lexicon: Lexicon) -> list[Phrase]:
    return _phrases(bare(text), lexicon)


def bare(text: str) -> str:
    """Return "cow" of "a cow"."""
    return re.sub(r"^(?:an?|any) ", "", text)


def _phrases(text: str, lexicon: Lexicon) -> list[Phrase]:
    phrases = [Phrase(text)] if lexicon.senses(text) else []
    for at in re.finditer(r" (?=the )", text):
        before, other = text[: at.start()], text[at.end() :].removeprefix("the ")
        for cut in (index for index, sign in enumerate(before) if sign == " "):
            kind, relation = before[:cut], before[cut + 1 :].removeprefix("that is ").removeprefix("that are ")
            if relation in lexicon.relations and lexicon.senses(kind) and lexicon.senses(other):
                phrases.append(Phrase(kind, relation, Phrase(other)))
    return phrases
