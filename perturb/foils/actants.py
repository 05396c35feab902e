"""Actant swap as in VALSE (section 3.5, appendix A.5): who does it and whom it is done to change places."""

from __future__ import annotations

from typing import Protocol

from vlgate.perturb.foils.candidate import Foil, Found
from vlgate.perturb.foils.frames import NO_PART, Frame, is_participant, noun_number, realised, swapped
from vlgate.perturb.graph_texts.features import is_body_part
from vlgate.perturb.sentences import Verb

NUMBER = "the number of a noun is not certain"
SAME = "both roles may name one thing"
BODY = "one of the two is a part of the body"
BOTH_WAYS = "the action or the place holds in both directions"
CARRIES = "a vehicle carries or lets off whoever is aboard"
MEANS = "the second role is a means and takes no part"
UNCLEAR = "the verb does not tell who does it to whom"

# Actions that two take part in alike, or that a photograph shows no direction of: who talks to a woman is talked to,
# who pays a cashier is paid back, and a man leads the sheep that leads him.
_MUTUAL = frozenset(
    (
        *("talk", "communicate", "converse", "chat", "speak", "meet", "hug", "kiss", "embrace", "dance", "fight"),
        *("wrestle", "argue", "marry", "collide", "duel", "race", "quarrel", "dispute", "mingle", "socialize"),
        *("scuffle", "cuddle", "snuggle", "debate", "bargain", "negotiate", "tango", "cooperate", "compete"),
        *("reassure", "comfort", "console", "soothe", "tickle", "congratulate", "applaud", "pet"),
        *("interact", "spar", "struggle", "gossip", "whisper", "confer", "flirt", "join", "nuzzle", "clasp"),
        *("shout", "yell", "scream", "laugh", "giggle", "joke", "tease", "mock", "complain", "cheer", "encourage"),
        *("ask", "pay", "trade", "swap", "discuss", "ignore", "distract", "calm", "lead", "bow", "nod", "frown"),
        *("grimace", "scowl", "gawk", "leer", "toast", "splash", "shake", "accompany"),
        *(
            "confront",
            "oppose",
            "admire",
            "stare",
            "glare",
            "gaze",
            "wink",
            "smile",
            "wave",
            "greet",
            "salute",
            "ogle",
            "face",
        ),
    )
)
# "A car drives a woman", "a ship boards a soldier", "an airplane taxis water": the object may be the passenger.
_CARRYING = frozenset(("board", "disembark", "drive", "commute", "taxi", "fly", "ferry", "sail", "carry", "transport"))
# A soldier camouflages leaves with himself as little as leaves camouflage themselves, but leaves do it to a soldier.
_UNCLEAR = frozenset(("camouflage", "disguise", "conceal", "hide", "mask", "decorate", "adorn", "surround", "shelter"))
_MEANS = frozenset(("by", "via", "using", "by means of"))
_MUTUAL_BEFORE = frozenset(
    ("beside", "next to", "near", "alongside", "close to", "around", "against", "with", "along with")
)
# What acts, and among how many senses of a noun: the second one of "computer" is a person, that of "goat" an animal.
_ACTORS = (("person", 1), ("animal", 3))
# Who is tackled or hit is as often another athlete or soldier, whatever the frame calls them.
_CONTESTS = frozenset(
    (
        *("tackle", "block", "attack", "punch", "kick", "hit", "box", "grapple", "shove", "push", "trip", "chase"),
        *("pass", "guard", "pin", "throw", "whip", "shoot"),
    )
)
_ANYBODY = frozenset(
    (
        *("man", "woman", "person", "people", "boy", "girl", "child", "adult", "male", "female", "male child"),
        *(
            "female child",
            "lady",
            "kid",
            "teenager",
            "young man",
            "young woman",
            "old man",
            "old woman",
            "opponent",
            "opposition",
            "rival",
        ),
    )
)


class Things(Protocol):
    """What knows whether two nouns may name one thing, and what a noun usually names, such as ``WordRelations``."""

    def same_thing(self, one: str, other: str) -> bool:
        """Return whether two nouns may name one thing."""
        ...

    def is_kind(self, noun: str, kind: str, senses: int) -> bool:
        """Return whether one of the first senses of a noun is a kind of another noun."""
        ...


def actant_swap(frame: Frame, things: Things) -> Found:
    """Say a frame, and say it with the nouns of its two roles exchanged.

    A foil may be true if the action is mutual ("A man talks to a woman"), if one noun is a kind of the other ("A man
    helps a person"), or if both may have one role in a contest ("An athlete tackles a man"): these are refused. So is a
    part of the body, which takes the article of its owner, a vehicle that carries whoever is aboard ("A car drives a
    woman"), and a means ("commutes by train"). The tag "actors" is "both" if both nouns name persons or animals.

    Returns: one candidate, or the reason why there is none.
    """
    if not is_participant(frame):
        return Found(refused=(NO_PART,))
    if any(is_body_part(noun) or things.is_kind(noun, "body part", 1) for noun in (frame.agent, frame.other)):
        return Found(refused=(BODY,))
    if things.same_thing(frame.agent, frame.other) or _both_contest(frame, things):
        return Found(refused=(SAME,))
    why = _reversible(frame)
    if why:
        return Found(refused=(why,))
    caption, foil = realised(frame), realised(swapped(frame))
    if caption is None or foil is None:
        return Found(refused=(NUMBER,))
    numbers = f"{noun_number(frame.agent)} {noun_number(frame.other)}"
    tags = {"verb": frame.verb.name, "role": frame.role, "numbers": numbers, "actors": _actors(frame, things)}
    return Found(
        candidates=(
            Foil(
                caption=caption,
                foil=foil,
                classes=(frame.agent, frame.other),
                why=f"'{frame.agent}' and '{frame.other}' change their roles in '{frame.verb.name}'",
                tags=tags,
            ),
        )
    )


def _reversible(frame: Frame) -> str:
    """Return why the swapped roles may be as true as these, by the verb alone; empty if nothing tells so."""
    verb = frame.verb.verb(frame.role)
    reasons = ((verb.base in _CARRYING, CARRIES), (verb.rest in _MEANS, MEANS), (verb.base in _UNCLEAR, UNCLEAR))
    return next((why for holds, why in (*reasons, (is_mutual(verb), BOTH_WAYS)) if holds), "")


def _actors(frame: Frame, things: Things) -> str:
    """Return "both" if both nouns name persons or animals, "one" otherwise."""
    return "both" if all(_acts(noun.lower(), things) for noun in (frame.agent, frame.other)) else "one"


def _acts(noun: str, things: Things) -> bool:
    return noun in _ANYBODY or any(things.is_kind(noun, kind, senses) for kind, senses in _ACTORS)


def _both_contest(frame: Frame, things: Things) -> bool:
    """Whether one is named by what he does, the other only as a person, and the act is one between such persons."""
    nouns = {frame.agent.lower(), frame.other.lower()}
    named = nouns - _ANYBODY
    known = all(things.same_thing(noun, "person") for noun in named)
    return frame.verb.base in _CONTESTS and len(named) == 1 and known


def is_mutual(verb: Verb) -> bool:
    """Return whether a clause with a verb and its preposition is true with subject and object exchanged.

    >>> is_mutual(Verb(base="talk", rest="to")), is_mutual(Verb(base="sit", rest="beside"))
    (True, True)
    >>> is_mutual(Verb(base="ride"))
    False
    """
    return verb.rest in _MUTUAL_BEFORE or verb.base in _MUTUAL
