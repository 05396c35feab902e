"""Whether the answer to a yes-no question of a dialog can be relied on, so that the other answer is wrong.

Questions of a dialog are typed in a hurry, and 23 % of VALSE's coreference records are not valid. Most of these answer
"no" to what a thing may also be called ("is it a sub sandwich?"), or ask for a degree ("is it a big tv?").
"""

from __future__ import annotations

import re

from vlgate.perturb.parsing.parsed import Parsed

_HEDGES = re.compile(
    r"\b(?:think|guess|maybe|perhaps|probably|possibly|might|may|could|would|not sure|unsure|can't tell|cannot tell|"
    r"can not tell|cant tell|hard to|somewhat|but|kind of|sort of|partially|partly|slightly|mostly|almost|both|"
    r"appears?|seems?|assume|believe|suppose|not really|not very|not quite|don't know|can't see|cannot see|cant see|"
    r"looks? like|though|although|only|just|except|imagine|not visible|a little|a bit|at least)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:look|looks|seem|seems|appear|appears|like|think|guess|nice|good|bad|big|bigger|large|huge|small|tiny|little|"
    r"tall|short|long|old|older|new|newer|young|younger|modern|professional|professionally|fancy|pretty|beautiful|cute|"
    r"happy|sad|clean|dirty|messy|busy|crowded|real|fake|normal|regular|typical|expensive|cheap|thick|thin|wide|close|"
    r"far|high|low|deep|calm|nice|attractive|appetizing|tasty|good|clear|bright|dark|heavy|light|full|empty|alone|"
    r"enjoying|having fun|any|other|chance|possible|possibly|kind|type|what|how|which|where|tell|know|sure|very|really|"
    r"sunny|cloudy|overcast|windy|foggy|mostly|much|many|most|some|famous|urban|rural|public|healthy|ripe|fresh|well|antique|vintage|casual|dressed)\b",
    re.IGNORECASE,
)
_STARTS = frozenset({"is", "are", "does", "do", "can", "has", "have", "was", "were", "did"})
_NAMED = re.compile(
    r"^(?:is|are|was|were) (?:it|this|that|these|those|they|he|she)\b(?: (?:all|both))? (?:an? |the |in an? |at an? )?"
)
_IMAGE = re.compile(
    r"\b(?:colou?r(?:ed|ful)?|black and white|photo(?:graph)?|picture|image|pic|indoors?|outdoors?|inside|outside|"
    r"sunny|raining|rainy|snowing|day ?time|day|night ?time|night|cloudy|close ?up|overcast)\b"
)


def uncertain(question: Parsed, answer: str) -> str:
    """Return why the opposite of an answer may be as right as the answer; empty if it is not.

    A "no" is taken if the question is about the image as a whole (its colours, the weather, inside or outside) or has a
    verb ("is he wearing a hat?"), but not if it asks what a thing is called ("is it a kitten?").
    """
    asked = question.text.strip().lower().rstrip(" ?.!")
    words = asked.split()
    if not words or words[0] not in _STARTS or "?" in asked or not _grammatical(question):
        return "not a plain yes-no question"
    if "or" in words or {"not", "and", "if", "n't"} & {token.lower for token in question.tokens}:
        return "more than one question"
    if _HEDGES.search(answer):
        return "a hedged answer"
    if _OPINION.search(asked):
        return "an opinion or a degree"
    no = answer.strip().lower().startswith("no")
    if (
        no
        and _NAMED.match(asked)
        and not _IMAGE.search(asked)
        and not any(token.tag == "VBG" for token in question.tokens)
    ):
        return "a no to what a thing is called"
    return ""


def _grammatical(question: Parsed) -> bool:
    """Whether the first auxiliary fits the verb: not "is the desk look wooden"."""
    tokens = [token for token in question.tokens if token.pos != "PUNCT"]
    if len(tokens) < 3:
        return False
    first, base = tokens[0].lower, [token for token in tokens[1:] if token.tag in {"VB", "VBP"}]
    if first in {"do", "does", "did", "can"}:
        return any(token.tag in {"VB", "VBP"} for token in tokens[2:])
    if first in {"is", "are", "was", "were"}:
        return (
            not any(token.dep in {"ROOT", "ccomp"} and token.tag in {"VB", "VBP", "VBZ"} for token in tokens[1:])
            or not base
        )
    return True
