"""Put two joined things of a text in the other order, by its parse: the text says the same.

"A cat and a dog" becomes "a dog and a cat". The two are alike, so that nothing else must change: both are nouns with
the same kind of article and number, and no description behind or before them may belong to one or to both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vlgate.perturb.captions.fitness import first, unfit
from vlgate.perturb.captions.phrases import is_plural
from vlgate.perturb.certain import is_known
from vlgate.perturb.foils.captions.word_lists import words
from vlgate.perturb.inflection import plural
from vlgate.perturb.parsing.parsed import Edit, Parsed, Span, Token

_ARTICLES = frozenset(("a", "an", "the", "some", "any", "no"))
_VERBS = frozenset(("VBZ", "VBP", "VBD"))
_NAMES = frozenset(("NN", "NNS", "JJ", "VB", "VBN", "NNP"))
_DESCRIBING = frozenset(("NN", "NNS", "VBG", "VBN", "NNP", "VBD", "CC", "JJ", "VB", "MD", "CD"))
_WHOSE = "a description may belong to one of them or to both"
_OF_SENTENCE = frozenset(("ROOT", "aux", "auxpass", "advcl", "relcl", "ccomp", "conj"))
_FIXED = words("fixed pair")
_INSIDE = ("det", "amod", "compound")
_JOINED = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)
# What the words after two joined things say may be of the second one alone.
_MODIFIERS = ("prep", "acl", "relcl", "appos", "advcl", "conj", "nummod", "poss", "advmod", "nmod", "neg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """The other texts, one per pair of things, and the reasons why pairs were refused; these are constant."""

    texts: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def reordered(parsed: Parsed) -> Reordered:
    """Exchange the two things around each "and" or "or" of a text.

    Returns: the texts that say the same, and the reasons for the pairs that were refused.
    """
    joined = _JOINED.search(parsed.text)  # one search for the many texts that join nothing
    joins = [place for place, token in enumerate(parsed.tokens) if token.dep == "cc"] if joined else []
    if not joins:
        return Reordered(refused=("no things are joined",))
    made = [_exchanged(parsed, place) for place in joins]
    texts = tuple(dict.fromkeys(text for text, _ in made if text))
    why = unfit(parsed) if texts else ""  # costs more than the exchange
    if why:
        return Reordered(refused=(why,))
    return Reordered(texts=texts, refused=tuple(why for _, why in made if why))


def _exchanged(parsed: Parsed, join: int) -> tuple[str, str]:
    """The text with the two things around ``join`` exchanged, or "" and the reason."""
    tokens = parsed.tokens
    one = tokens[join].head
    others = parsed.children(one, "conj")
    if tokens[join].lower not in {"and", "or"} or len(others) != 1 or len(parsed.children(one, "cc")) != 1:
        return "", "not two things"
    other = others[0]
    if not {tokens[one].tag, tokens[other].tag} <= {"NN", "NNS"}:
        return "", "not two nouns"
    left, right = _span(parsed, one), _span(parsed, other)
    why = _unlike(parsed, one, other) or _apart(left, join, right)
    if why or left is None or right is None:
        return "", why
    shared = tokens[left[0]].lower in _ARTICLES and tokens[right[0]].lower not in _ARTICLES
    why = _unclear(parsed, left, right, shared=shared)
    return ("", why) if why else (_put(parsed, (left[0] + shared, left[1]), right), "")


def _apart(left: Span | None, join: int, right: Span | None) -> str:
    near = left is not None and right is not None and left[1] == join and right[0] == join + 1
    return "" if near else "not two noun phrases side by side"


def _unclear(parsed: Parsed, left: Span, right: Span, *, shared: bool) -> str:
    """Why the words of the two phrases do not tell what belongs to which; ``shared`` if they have one article."""
    tokens = parsed.tokens
    articles = {tokens[span[0]].lower.replace("an", "a") for span in (left, right)}
    single = tokens[left[0]].lower in {"a", "an"}
    bare = not shared and not articles & _ARTICLES
    adjectives = left[1] - left[0] - shared > 1 or right[1] - right[0] > 1
    named = left[0] > 0 and (tokens[left[0] - 1].tag in _NAMES or tokens[left[0] - 1].dep == "amod")
    after = tokens[right[1]].tag if right[1] < len(tokens) else ""
    nouns = [tokens[span[1] - 1].lower for span in (left, right)]
    return first(
        (len(articles) > 1 and articles <= _ARTICLES, "two articles of different kinds"),
        (len(articles & _ARTICLES) == 1 and len(articles) == 2 and not shared, "an article that only one has"),
        (nouns[0] == nouns[1] and not adjectives, "the two are the same"),
        (single and not all(map(plural, nouns)), "not two countable nouns"),
        (shared and tokens[left[0]].lower != "a" and tokens[left[0]].lower != "an" and after == "IN", _WHOSE),
        (bare and named, "part of a longer name"),
        ((bare or shared) and adjectives, "an adjective may belong to both"),
    )


def _unlike(parsed: Parsed, one: int, other: int) -> str:
    """Why the two cannot stand for each other."""
    tokens = parsed.tokens
    number = is_plural(parsed, one)
    pair = {f"{tokens[one].lower}-{tokens[other].lower}", f"{tokens[other].lower}-{tokens[one].lower}"}
    modifiers = {*parsed.children(one, *_MODIFIERS), *parsed.children(other, *_MODIFIERS)} - {other}
    part = tokens[one].dep in {"compound", "nmod", "amod", "npadvmod"} or (tokens[one].head == one and one > 0)
    return first(
        (number is None or number != is_plural(parsed, other), "one thing and several, or not known"),
        (bool(modifiers) or (other + 1 < len(tokens) and _goes_on(tokens[other + 1])), _WHOSE),
        (part, "part of a longer name"),
        (_listed(parsed, one), "one of several joined things"),
        (not pair.isdisjoint(_FIXED), "a pair with a fixed order"),
        (not all(is_known(tokens[place].lower) for place in (one, other)), "not two known nouns"),
    )


def _listed(parsed: Parsed, one: int) -> bool:
    """Whether the first thing is joined to another one by "and" or "or" too: "meats and herbs and chopsticks"."""
    while parsed.tokens[one].dep == "conj":
        one = parsed.tokens[one].head
        if parsed.children(one, "cc"):
            return True
    return False


def _goes_on(after: Token) -> bool:
    """Whether a word behind the second thing may be a part of its phrase, or say something of it."""
    return (
        after.tag in _DESCRIBING
        or after.text in ",-'"
        or after.lower in {"of", "to"}
        or is_known(after.lower)
        or after.text.endswith("ing")
        or (after.tag in _VERBS and after.dep not in _OF_SENTENCE)
    )


def _span(parsed: Parsed, noun: int) -> Span | None:
    """The noun with its article and adjectives; None if anything else stands in between."""
    before = [place for place in parsed.children(noun, *_INSIDE) if place < noun]
    start = min(before, default=noun)
    inner = parsed.tokens[start:noun]
    fine = all(token.tag in {"DT", "JJ", "NN", "VBG", "VBN", "JJR"} for token in inner)
    return (start, noun + 1) if fine and {token.lower for token in inner[1:]}.isdisjoint(_ARTICLES) else None


def _put(parsed: Parsed, left: Span, right: Span) -> str:
    tokens = parsed.tokens
    said = parsed.said(left)
    if (left[0] == 0 and tokens[0].text[1:].islower()) or (len(tokens[0].text) == 1 and left[0] == 0):
        said = said[0].lower() + said[1:]
    return parsed.edited([Edit(span=left, text=parsed.said(right)), Edit(span=right, text=said)])
