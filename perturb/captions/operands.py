"""Put two joined things of a text in the other order, by its parse: the text says the same.

"A cat and a dog" becomes "a dog and a cat". The two are alike, so that nothing else must change: both are nouns with
the same kind of article and number, and no description behind or before them may belong to one or to both.
"""

from __future__ import annotations

from dataclasses import dataclass

from vlgate.perturb.captions.fitness import unfit
from vlgate.perturb.captions.phrases import is_plural
from vlgate.perturb.inflection import plural
from vlgate.perturb.parsing.parsed import Edit, Parsed

_ARTICLES = frozenset(("a", "an", "the", "some", "any", "no"))
_INSIDE = ("det", "amod", "compound")
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
    joins = [place for place, token in enumerate(parsed.tokens) if token.dep == "cc"]
    if not joins:
        return Reordered(refused=("no things are joined",))
    why = unfit(parsed)
    if why:
        return Reordered(refused=(why,))
    made = [_exchanged(parsed, place) for place in joins]
    return Reordered(
        texts=tuple(dict.fromkeys(text for text, _ in made if text)),
        refused=tuple(why for _, why in made if why),
    )


def _exchanged(parsed: Parsed, join: int) -> tuple[str, str]:
    tokens = parsed.tokens
    first = tokens[join].head
    others = parsed.children(first, "conj")
    if tokens[join].lower not in {"and", "or"} or len(others) != 1 or len(parsed.children(first, "cc")) != 1:
        return "", "not two things"
    second = others[0]
    why = _unlike(parsed, first, join, second)
    if why:
        return "", why
    left, right = _span(parsed, first), _span(parsed, second)
    if left is None or right is None or left[1] != join or right[0] != join + 1:
        return "", "not two noun phrases side by side"
    articles = {tokens[span[0]].lower.replace("an", "a") for span in (left, right)}
    if len(articles) > 1 and articles <= _ARTICLES:
        return "", "two articles of different kinds"
    shared = tokens[left[0]].lower in _ARTICLES and tokens[right[0]].lower not in _ARTICLES
    if shared:
        left = (left[0] + 1, left[1])
    if len({token.lower for token in tokens[slice(*left)]} ^ {token.lower for token in tokens[slice(*right)]}) == 0:
        return "", "the two are the same"
    single = not is_plural(parsed, first) and tokens[left[0] - shared].lower in {"a", "an"}
    if single and not all(plural(tokens[place].lower) for place in (first, second)):
        return "", "not two countable nouns"
    bare = tokens[left[0]].lower not in _ARTICLES
    if bare and not shared and left[0] and tokens[left[0] - 1].tag in {"NN", "NNS", "JJ", "VB", "VBN", "NNP"}:
        return "", "part of a longer name"
    if bare and (left[1] - left[0] > 1 or right[1] - right[0] > 1):
        return "", "an adjective may belong to both"
    return _put(parsed, left, right), ""


def _unlike(parsed: Parsed, first: int, join: int, second: int) -> str:
    """Why the two cannot stand for each other."""
    tokens = parsed.tokens
    if {tokens[first].tag, tokens[second].tag} - {"NN", "NNS"}:
        return "not two nouns"
    if is_plural(parsed, first) is None or is_plural(parsed, first) != is_plural(parsed, second):
        return "one thing and several, or not known"
    if any(parsed.children(place, *_MODIFIERS) for place in (second,)) or any(
        place != second for place in parsed.children(first, *_MODIFIERS)
    ):
        return "a description may belong to one of them or to both"
    if tokens[first].dep in {"compound", "nmod", "amod", "npadvmod"} or tokens[first].head == first and first > 0:
        return "part of a longer name"
    after = tokens[second + 1] if second + 1 < len(tokens) else None
    if after is not None and (
        after.tag in {"NN", "NNS", "VBG", "VBN", "NNP", "VBD", "CC", "JJ", "VB", "MD", "CD"}
        or after.text in ",-'"
        or after.text.endswith("ing")
    ):
        return "a description may belong to one of them or to both"
    return ""


def _span(parsed: Parsed, noun: int) -> tuple[int, int] | None:
    """The noun with its article and adjectives; None if anything else stands in between."""
    before = [place for place in parsed.children(noun, *_INSIDE) if place < noun]
    start = min(before, default=noun)
    inner = parsed.tokens[start:noun]
    fine = all(token.tag in {"DT", "JJ", "NN", "VBG", "VBN", "JJR"} for token in inner)
    return (start, noun + 1) if fine and {token.lower for token in inner[1:]}.isdisjoint(_ARTICLES) else None


def _put(parsed: Parsed, left: tuple[int, int], right: tuple[int, int]) -> str:
    tokens = parsed.tokens
    said = parsed.said(left)
    if left[0] == 0 and tokens[0].text[1:].islower() or len(tokens[0].text) == 1 and left[0] == 0:
        said = said[0].lower() + said[1:]
    return parsed.edited([Edit(span=left, text=parsed.said(right)), Edit(span=right, text=said)])
