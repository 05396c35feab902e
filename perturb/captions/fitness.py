"""Which texts are rewritten: plain English of the length of a caption."""

from __future__ import annotations

import re
from itertools import pairwise

from vlgate.perturb.captions.slips import slipped
from vlgate.perturb.grammar import article
from vlgate.perturb.inflection import plural, singular
from vlgate.perturb.parsing.parsed import Parsed

LONGEST = 60
"""The most tokens of a text that is rewritten."""

# Nouns with a verb in either number: "a group of people walk".
_COLLECTIVE = frozenset(
    ("couple", "group", "crowd", "number", "lot", "variety", "pair", "team", "bunch", "dozen", "family", "herd", "trio")
)
_ENDS = frozenset((".", "!", "?", ";", ":", "..."))
_MARKUP = re.compile(r"[<>{}\[\]|#@_\\^~*=]|https?:|www\.|&\w+;")
_FOREIGN = re.compile(r"[^\x00-\u024f\u2010-\u201f\u2026]")

# Singular nouns that stand without an article behind a preposition (Quirk et al. 1985, 5.41), by the preposition.
_WITHOUT_ARTICLE = frozenset(
    f"{preposition} {noun}"
    for preposition, nouns in {
        "in": "front bed line half action formation view place color profile flight orbit motion",
        "on": "top display sale board stage tv foot land fire end track",
        "at": "bat home night sunset dusk dawn noon sunrise sea work school play base rest",
        "by": "side hand train car bus boat foot",
        "for": "sale dinner lunch breakfast display use",
        "under": "construction glass water",
        "through": "town",
        "to": "shore side end work bed school",
        "from": "shore top side head",
        "behind": "glass",
        "of": "view",
        "side": "side",
    }.items()
    for noun in nouns.split()
)
# Countable nouns that are also a substance, a game or a meal.
_UNCOUNTED_TOO = frozenset(
    (
        *("pizza", "cake", "fruit", "baseball", "frisbee", "paper", "glass", "chicken", "fish", "salad", "pie", "tile"),
        *("light", "space", "focus", "orange", "wii", "sheep", "salmon", "turkey", "lamb", "cloth", "stone", "brick"),
        *(
            "chocolate",
            "ice",
            "lunch",
            "dinner",
            "breakfast",
            "dessert",
            "football",
            "basketball",
            "volleyball",
            "polo",
        ),
        *("hockey", "golf", "cricket", "softball", "sport", "tile", "metal", "plastic", "concrete", "steel", "foil"),
        *(
            "shade",
            "work",
            "business",
            "air",
            "vegetation",
            "foliage",
            "fabric",
            "leather",
            "cement",
            "onion",
            "pepper",
        ),
        *("lettuce", "sausage", "bacon", "garlic", "squash", "cabbage", "potato", "sandwich", "cereal", "yogurt"),
        *("jelly", "syrup", "ketchup", "dressing", "icing", "frosting", "drink", "play", "time", "color", "attention"),
        *("flight", "motion", "sunlight", "daylight", "rain", "water", "wind", "food", "room", "jello", "dough"),
    )
) - {"room", "sandwich", "potato", "drink", "orange"}
_ACTIVITY = re.compile(r"(?<!\bbuild)(?<!\bceil)(?<!\bpaint)(?<!\bsw)(?<!\bw)(?<!\br)(?<!\bk)(?<!\bdraw)(?<!\bstr)ing$")
_NEVER_BARE = frozenset(("background", "foreground", "middle", "ground", "air", "sky", "beach", "floor"))


def telegraphic(parsed: Parsed) -> bool:
    """Return whether the text leaves out articles, as in "man riding wave on surfboard"."""
    words = [token.lower for token in parsed.tokens]
    beside = (place for place in range(2, len(words)) if words[place - 2 : place] == ["next", "to"])
    acts = any(parsed.tokens[place].tag == "VB" for place in beside)  # "next to plant"
    return acts or any(_lacks_article(parsed, *span) for span in parsed.chunks)


def _lacks_article(parsed: Parsed, start: int, end: int) -> bool:
    head = parsed.tokens[end - 1]
    joined = head.dep == "conj" and parsed.tokens[head.head].tag == "NNS"  # "two dogs and cat", but not "a dog and cat"
    if head.tag != "NN" or not (joined or head.dep in {"pobj", "dobj", "nsubj", "nsubjpass", "ROOT", "attr"}):
        return False
    if any(token.tag in {"DT", "PRP$", "CD", "POS", "WDT", "WP$", "PDT"} for token in parsed.tokens[start:end]):
        return False
    before = parsed.tokens[head.head].lower if head.dep == "pobj" else ""
    if head.lower in _NEVER_BARE:
        return True
    if f"{before} {head.lower}" in _WITHOUT_ARTICLE or head.lower in _UNCOUNTED_TOO or _ACTIVITY.search(head.lower):
        return False
    return plural(head.lower) is not None


def unfit(parsed: Parsed) -> str:
    """Return why a text is not rewritten at all; empty if it may be.

    The reasons are constant: "no words", "too long", "in capitals", "markup or symbols", "not one sentence",
    "an article does not agree", "a verb does not agree", "a slip of the pen" (a word twice or
    misspelt, "it's" for "its") and "articles are left out".

    >>> unfit(Parsed(text="", tokens=()))
    'no words'
    """
    words = [token.text for token in parsed.tokens if token.text[0].isalpha()]
    if not words or len(parsed.tokens) > LONGEST:
        return "too long" if words else "no words"
    long = [word for word in words if len(word) > 2]
    ends = {token.text for token in parsed.tokens[:-1]} & _ENDS
    return first(
        (2 * sum(word.isupper() for word in long) > len(long), "in capitals"),
        (bool(_MARKUP.search(parsed.text) or _FOREIGN.search(parsed.text)), "markup or symbols"),
        (bool(ends) or sum(token.dep == "ROOT" for token in parsed.tokens) != 1, "not one sentence"),
        (
            _wrong_article(parsed) or any(_disagrees(parsed, *span) for span in parsed.chunks),
            "an article does not agree",
        ),
        (any(_number_differs(parsed, place) for place in range(len(parsed.tokens))), "a verb does not agree"),
        (slipped(parsed), "a slip of the pen"),
        (telegraphic(parsed), "articles are left out"),
    )


def first(*reasons: tuple[bool, str]) -> str:
    """Return the first reason that holds; empty if none does.

    >>> first((False, "too long"), (True, "in capitals"))
    'in capitals'
    """
    return next((why for holds, why in reasons if holds), "")


def _wrong_article(parsed: Parsed) -> bool:
    """Whether the wrong one of "a" and "an" stands before a word: "a airplane", "an man"."""
    articles = [
        (one.lower, after.text)
        for one, after in pairwise(parsed.tokens)
        if one.lower in {"a", "an"} and one.tag == "DT"
    ]
    return any(word[0].isalpha() and article(word) != said for said, word in articles)


def _number_differs(parsed: Parsed, place: int) -> bool:
    """Whether a verb is not in the number of its subject, a word at ``place``.

    "There is apples", "there are a group", "a cup and a mug sits", "a stack of books sit".
    """
    tokens = parsed.tokens
    verb = tokens[tokens[place].head]
    if tokens[place].dep == "expl":
        there = parsed.children(tokens[place].head, "attr", "nsubj", "dobj")[:1]
        after = tokens[tokens[place].head + 1 : tokens[place].head + 2]
        several = any(tokens[one].tag == "NNS" for one in there) or any(one.tag == "NNS" for one in after)
        group = any(tokens[one].lower == "group" for one in there)
        return (several and verb.lower in {"is", "'s", "was"}) or (group and verb.lower in {"are", "were"})
    if tokens[place].dep != "nsubj" or tokens[place].tag not in {"NN", "NNS"}:
        return False
    joined = any(one < tokens[place].head for one in parsed.children(place, "conj"))
    one = tokens[place].tag == "NN" and tokens[place].lower not in _COLLECTIVE
    return (joined and verb.tag == "VBZ") or (not joined and one and verb.tag == "VBP")


def _disagrees(parsed: Parsed, start: int, end: int) -> bool:
    """Whether "a" stands before a plural, or a number before a singular: "a red collar pants", "two cat"."""
    head, articles = parsed.tokens[end - 1], parsed.tokens[start : end - 1]
    if head.tag == "NNS":
        few = {"few", "dozen", "couple", "lot"} & {token.lower for token in articles}
        return not few and any(token.lower in {"a", "an", "another"} and token.head == end - 1 for token in articles)
    many = [token for token in articles if token.head == end - 1 and token.dep == "nummod"]
    return head.tag == "NN" and any(token.lower not in {"one", "1"} for token in many) and singular(head.lower) is None
