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

# Actions that two take part in alike: who talks to a woman is talked to.
_MUTUAL = frozenset(
    (
        *("talk", "communicate", "converse", "chat", "speak", "meet", "hug", "kiss", "embrace", "dance", "fight"),
        *("wrestle", "argue", "marry", "collide", "duel", "race", "quarrel", "dispute", "mingle", "socialize"),
        *("scuffle", "cuddle", "snuggle", "debate", "bargain", "negotiate", "tango", "cooperate", "compete"),
        *("interact", "spar", "struggle", "gossip", "whisper", "confer", "flirt", "join", "nuzzle", "clasp"),
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
_MUTUAL_BEFORE = frozenset(
    ("beside", "next to", "near", "alongside", "close to", "around", "against", "with", "along with")
)
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
    """What knows whether two nouns may name one thing, such as ``WordRelations``."""

    def same_thing(self, one: str, other: str) -> bool:
        """Return whether two nouns may name one thing."""
        ...


def actant_swap(frame: Frame, things: Things) -> Found:
    """Say a frame, and say it with the nouns of its two roles exchanged.

    A foil may be true if the action is mutual ("A man talks to a woman"), if one noun is a kind of the other ("A man
    helps a person"), or if both may have one role in a contest ("An athlete tackles a man"): these are refused. So is a
    part of the body, which takes the article of its owner.

    Returns: one candidate, or the reason why there is none.
    """
    if not is_participant(frame):
        return Found(refused=(NO_PART,))
    if is_body_part(frame.agent) or is_body_part(frame.other):
        return Found(refused=(BODY,))
    if things.same_thing(frame.agent, frame.other) or _both_contest(frame, things):
        return Found(refused=(SAME,))
    if is_mutual(frame.verb.verb(frame.role)):
        return Found(refused=(BOTH_WAYS,))
    caption, foil = realised(frame), realised(swapped(frame))
    if caption is None or foil is None:
        return Found(refused=(NUMBER,))
    numbers = f"{noun_number(frame.agent)} {noun_number(frame.other)}"
    return Found(
        candidates=(
            Foil(
                caption=caption,
                foil=foil,
                classes=(frame.agent, frame.other),
                why=f"'{frame.agent}' and '{frame.other}' change their roles in '{frame.verb.name}'",
                tags={"verb": frame.verb.name, "role": frame.role, "numbers": numbers},
            ),
        )
    )


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
