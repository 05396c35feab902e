"""Whether a pronoun of a question about an image has what it stands for in the image's caption.

A check by number and gender, not a resolution. "she" needs one person in the caption who may be female, "they" one noun
in the plural, which comes first or belongs to a word for a group, "it" a thing that comes first. Questions about the
image as a whole need none: its colours, the weather, the time of day, inside or outside.
"""

from __future__ import annotations

import re

from vlgate.perturb.parsing.parsed import Parsed, Token

HE = frozenset({"he", "him", "his", "himself"})
SHE = frozenset({"she", "her", "herself"})
THEY = frozenset({"they", "them", "their", "themselves", "these", "those", "both"})
IT = frozenset({"it", "its", "itself", "this", "that"})
PRONOUNS = HE | SHE | THEY | IT
"""The pronouns that a question is taken for: those of the release's records, among them "both", not "i" and "you"."""

MALE = frozenset(
    (
        *("man", "boy", "guy", "gentleman", "male", "groom", "father", "dad", "husband", "son", "king", "waiter"),
        *("businessman", "fireman", "policeman", "cowboy", "dude", "grandfather", "brother"),
    )
)
FEMALE = frozenset(
    (
        *("woman", "girl", "lady", "female", "bride", "mother", "mom", "wife", "daughter", "queen", "waitress"),
        *("businesswoman", "ballerina", "grandmother", "sister"),
    )
)
NEUTRAL = frozenset(
    (
        *("person", "child", "kid", "baby", "toddler", "player", "skier", "snowboarder", "skateboarder", "surfer"),
        *("rider", "batter", "pitcher", "catcher", "skater", "chef", "cook", "officer", "biker", "cyclist", "worker"),
        *(
            "driver",
            "someone",
            "individual",
            "student",
            "teenager",
            "adult",
            "teen",
            "infant",
            "motorcyclist",
            "soldier",
        ),
        *("baseman", "athlete", "referee", "umpire", "boarder", "farmer", "performer", "clown", "jockey", "hitter"),
    )
)
_PERSONS = MALE | FEMALE | NEUTRAL
_SCENE = re.compile(
    r"(?:is|are|does|was) (?:it|this|that)"
    r"(?: (?:a|an|in|at|on|during|taken|set|the|photo|picture|image|pic|shot|scene|photograph))*"
    r" (?:sunny|raining|rainy|snowing|cloudy|overcast|day ?time|day|night ?time|night|evening|morning|winter|summer|"
    r"dawn|dusk|noon|midday|afternoon|sunrise|sunset|spring|autumn|summertime|wintertime|snowy|stormy|hazy|misty|humid|"
    r"(?:hot|cold|warm|cool|dark|light|bright) (?:out|outside)|city|countryside|"
    r"indoors?|outdoors?|inside|outside|colou?r(?:ed)?|black and white|black & white|close ?up|windy|foggy|sepia)"
    r"(?: (?:a|in|out|outside|there|the|photo|photograph|picture|image|pic|shot|day|today|here))*"
)
_GROUPS = frozenset({"couple", "group", "pair", "family", "crowd", "team", "herd", "flock", "bunch", "several"})
_WHOLE = frozenset(
    {"photo", "picture", "image", "pic", "photograph", "view", "shot", "closeup", "close", "scene", "front"}
)


def of_the_image(question: Parsed) -> bool:
    """Return whether a question asks about the image as a whole: "is it sunny", "is this photo in color"."""
    asked = question.text.strip().lower().rstrip(" ?.!")
    return _SCENE.fullmatch(asked) is not None or bool({token.lower for token in question.tokens} & _WHOLE)


def without_antecedent(question: Parsed, caption: Parsed, before: str) -> str:
    """Return why a pronoun of the question may stand for something that the caption does not name; empty if not.

    ``before`` is what was said in the dialog until then. If it names a thing that the caption does not, "it" and "they"
    may stand for that thing, and the question is refused.
    """
    asked = question.text.strip().lower().rstrip(" ?.!")
    if caption.tokens[:1] and caption.tokens[0].tag == "VB" and caption.tokens[0].lower != "close":
        return "the caption is not a description"
    if _SCENE.fullmatch(asked):
        return ""
    words = {token.lower for token in question.tokens}
    nouns = _nouns(caption)
    if words & (HE | SHE):
        return _person(nouns, (MALE if words & HE else FEMALE) | NEUTRAL)
    if _other_things(before, caption):
        return "the pronoun may stand for something said earlier"
    if words & THEY:
        return _several(nouns)
    first = next((token.lower for token in caption.tokens if token.tag in {"NN", "NNS"}), "")
    photo = words & {"it", "its"} and not words & _WHOLE and first in _WHOLE - {"front"}
    return "the pronoun may stand for the photo" if photo else _thing(question, nouns)


def _nouns(caption: Parsed) -> tuple[Token, ...]:
    """Return the heads of the caption's noun phrases, without words for the image."""
    found = tuple(token for token in caption.tokens if token.tag in {"NN", "NNS"} and token.dep != "compound")
    return tuple(token for token in found if token.lower not in _WHOLE)


def _person(nouns: tuple[Token, ...], fitting: frozenset[str]) -> str:
    one = [token for token in nouns if token.tag == "NN" and token.lower in fitting]
    if not one:
        return "no person in the caption that the pronoun fits"
    return "two persons in the caption that the pronoun fits" if len(one) > 1 else ""


def _several(nouns: tuple[Token, ...]) -> str:
    several = [token for token in nouns if token.tag == "NNS"]
    if not several or (several[0] is not nouns[0] and nouns[0].lower not in _GROUPS):
        return "no noun of several things at the start of the caption"
    return "two nouns in the caption that the pronoun fits" if len(several) > 1 else ""


def _thing(question: Parsed, nouns: tuple[Token, ...]) -> str:
    first = question.tokens[1].lower if len(question.tokens) > 1 else ""
    named = any(token.lower in _WHOLE for token in question.tokens)
    if {token.lower for token in question.tokens} & {"this", "that"} and (named or first == "this"):
        return ""
    things = [token for token in nouns if token.tag == "NN" and token.lower not in _PERSONS]
    if not things or things[0] is not nouns[0]:
        return "no thing at the start of the caption that the pronoun fits"
    return "two things in the caption that the pronoun fits" if len(things) > 2 else ""


def _other_things(before: str, caption: Parsed) -> bool:
    """Whether a dialog names a thing that its caption does not, as far as "a", "the" or "any" introduces it."""
    known = {token.lower for token in caption.tokens} | {token.lemma.lower() for token in caption.tokens}
    introduced = re.findall(r"\b(?:an?|the|any|some|other|many|[2-9]) (?:\w+ )?(\w+)", before.lower())
    return any(word not in known and word.rstrip("s") not in known and word not in _WHOLE for word in introduced)
