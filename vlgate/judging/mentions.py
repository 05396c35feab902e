"""What the sentences of a reply say about the choices that they mention: named, denied, guessed or only offered."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from string import ascii_lowercase

from vlgate.judging.labels import MARK

STOP = "|"
"""The token at the end of a clause."""
_TOKEN = re.compile(
    rf"{MARK}-?\d+|(?<![\w.)\]])-\d+(?:[.,:]\d+)*|\d+(?:[.,:]\d+)*(?![\w+#])"
    r"|\w+(?:['-]\w+)*(?:[+#]+(?!\w))?|[.,;!?\n|\u2013\u2014\u2026\u3001\u3002]|\s-\s"
)
_SECTION = re.compile(r"^(\W*[a-z]+(?: [a-z\d]+)?\W*):", re.MULTILINE)


def words_of(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


_LEADS = words_of(
    "a again also and answer be believe best boxed caption certainly choice choose clearly conclusion correct decision "
    "definitely description else final go guess hence i i'd i'll image is it it's judge judgement judgment label "
    "likely me most must my obviously of ok okay option or otherwise output pick prediction probably provided question "
    "reply response result right say select short should simply so statement still suppose text that that's the then "
    "therefore these they think this thus to two verdict was well will with would your"
)
_ANNOUNCES = words_of("answer be boxed choose pick reply response select verdict conclusion")
_OFFERED = words_of("caption choice description option output")  # these announce an answer if "is" follows
_BLOCKS = words_of(
    "absent cannot could deny denies doubt doubtful either except excluding hardly if instead lack lacking lacks maybe "
    "may might minus neither never no none nor not opposite perhaps possibly rather than unless unlike unlikely "
    "whether without"
)
_BREAKS = words_of("although because but however since though whereas while")
_JOINS = _BREAKS | {"and", "or"}
_IS = words_of("are can could did do does is seem seems was were would")
_WRONG = words_of("error false impossible inaccurate incorrect lie mistake mistaken untrue wrong")
# Words that may follow "yes" or "no" if it is the answer; before any other word, "no" may be a determiner.
_AFTER = words_of(
    "a absolutely an as at because both certainly clearly definitely for from he her his i in indeed it it's my not "
    "obviously of on she sir sorry sure that that's the their there there's these they this those to we you"
)
_UNSURE = (
    r"\b(?:can ?not|can't|could(?: not|n't)|unable to|(?:im|not )possible to|hard to|difficult to|no way to)"
    r" (?:\w+ )?(?:answer|assist|be (?:certain|sure)|decide|determined?|help|judge|know|provide|say|tell)\b"
    r"|\b(?:do not|don't|not) know\b|\b(?:no idea|depends on|unsure|unclear|uncertain)\b"
    r"|\bnot (?:\w+ )?(?:sure|certain)\b|\bnot (?:\w+ )?clear (?:enough|from|if|what|whether|which)\b"
    r"|(?:^|\| |\bis |\bare )unknown\b|(?:^|\| )(?:either|maybe|perhaps|possibly)(?= \||$)"
)
_HEDGE = re.compile(_UNSURE)
_HEDGE_OR_NEITHER = re.compile(rf"{_UNSURE}|\b(?:neither|none of)\b")
_DENIED = re.compile(
    r"\b(?:any|every|all)(?:thing|body|one|where)?(?: \w+)? but\b"
    r"|\b(?:other|apart|aside|far|different|away|distinct) (?:than|from)\b"
    r"|\b(?:rul(?:e|es|ed|ing) out|the (?:opposite|contrary|reverse|inverse) (?:of|to))\b"
    r"|\b(?:fails? to be|no longer|besides)\b"
    r"|\b(?:wrong|incorrect|false|inaccurate|untrue|mistaken|a (?:lie|mistake)|an error)"
    r"(?= (?:to|answer|choice|option|reply|response)\b)|\b(?:exclud(?:e|es|ing)|reject(?:s|ed)?)\b"
)
_NOTHING_BUT = re.compile(r"\b(?:nothing|none) (?:but|other than|except)\b")
_TAKEN_BACK = re.compile(
    r"\b(?:or rather|i mean|scratch that|correction|on second thoughts?|my mistake|i was wrong|wait)\b"
)
_FILLS = words_of("a also an caption choice either image is it it's maybe option perhaps possibly the")
SPOKEN = {"yeah": "yes", "yep": "yes", "yup": "yes", "nah": "no", "nope": "no"}
"""Spoken forms of yes and no."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A choice named in a reply: its number (-1 for an option that was not offered), its position and its words."""

    choice: int
    place: int
    words: tuple[str, ...]


Tokens = list[str | Mention]


def folded(text: str) -> str:
    """Return a text in lower case, with compatible characters, apostrophes and minus signs written in one way."""
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2212", "-").casefold()


def tokens_of(text: str) -> list[str]:
    """Words, numbers and stops; quotes, brackets and colons are dropped."""
    text = _NOTHING_BUT.sub(" ", _SECTION.sub(_as_clause, text))
    text = _DENIED.sub(" except ", text).replace("/", " or ").replace("_", " ")
    found = _TOKEN.findall(re.sub(r":\s+", " ", text))
    return [token if token[0] == MARK or token[-1].isalnum() or token[-1] in "+#" else STOP for token in found]


def _as_clause(section: re.Match[str]) -> str:
    """The head of a section as a clause of its own, unless it denies what follows: "Reasoning:", but not "Not:"."""
    return section[0] if _BLOCKS.union(_WRONG) & set(section[1].split()) else f"{section[1]}\n"


def named_choice(tokens: Tokens, text: str) -> int | None:
    """Return the number of the only choice that a reply names.

    Args:
        tokens: the reply's tokens, with a mention in place of each choice.
        text: the reply in lower case.

    Returns: the number; None if the reply names no choice, several, or one that was not offered, or if it hedges.
    """
    offered, together = _coordinated(tokens)
    mentions = [token for token in tokens if isinstance(token, Mention)]
    named = [one for one in mentions if one.place not in offered and _affirmed(one, tokens)]
    if _TAKEN_BACK.search(text):
        named = [one for one in mentions if one.place not in offered]
    if len({mention.choice for mention in named}) != 1 or named[0].choice < 0:
        return None
    if any(one.place in together for one in named):
        return None
    if any(_wrongly_named(one, tokens) for one in mentions if one not in named):
        return None
    if _hedged(tokens) and not any(_announced(one, tokens) and not _hedged(tokens[one.place :]) for one in named):
        return None
    return named[0].choice


def _coordinated(tokens: Tokens) -> tuple[set[int], set[int]]:
    """The places of choices that are offered ("red or blue"), and of those that are named together ("red and blue")."""
    offered: set[int] = set()
    together: set[int] = set()
    mentions = [token for token in tokens if isinstance(token, Mention)]
    for first, second in reversed(list(pairwise(mentions))):
        between = [token for token in tokens[first.place + 1 : second.place] if token]
        words = [token for token in between if token not in _FILLS and token != STOP]
        follows = next((token for token in tokens[second.place + 1 :] if token), STOP)
        ended = isinstance(follows, Mention) or follows == STOP or not _is_answer_word(second.words) or follows in _IS
        if first.choice == second.choice or not ended:
            continue
        if words in (["or"], ["and", "or"]) or (not words and second.place in offered and STOP in between):
            offered |= {first.place, second.place}
        elif words in (["and"], ["as", "well", "as"], ["plus"]) or (not words and second.place in together):
            together |= {first.place, second.place}
    return offered, together


def _is_answer_word(words: tuple[str, ...]) -> bool:
    """Whether a choice is "yes", "no" or a letter, which are words of sentences about other things, too."""
    return words[0] in {"yes", "no", *SPOKEN} or (len(words) == 1 and words[0] in ascii_lowercase)


def _affirmed(mention: Mention, tokens: Tokens) -> bool:
    """Whether a mention is meant as the answer, rather than denied or guessed."""
    if _is_answer_word(mention.words):
        return _spoken(mention, tokens, _LEADS)
    before, after = list(_before(mention, tokens, _BREAKS)), list(_after(mention, tokens, _BREAKS))
    if any(word in _BLOCKS or word.endswith("n't") for word in before):
        return False
    return not _denied(after) and not any(word in _WRONG or word.endswith("n't") for word in after)


def _denied(after: Sequence[str]) -> bool:
    return any(word in _IS and then in _BLOCKS for word, then in pairwise(after))


def _spoken(mention: Mention, tokens: Tokens, leads: frozenset[str]) -> bool:
    """Whether "yes", "no" or a letter is the answer itself, with at most words like "the answer is" before it."""
    if not all(word in leads or word == MARK for word in _before(mention, tokens, _JOINS)):
        return False
    after = list(_after(mention, tokens, _JOINS))
    if not after:
        return not _called_wrong(mention, tokens)
    if after[0] in _IS:
        return not _denied(after) and _WRONG.isdisjoint(after)
    return after[0] == MARK or (after[0] in _AFTER and not _called_wrong(mention, tokens))


def _called_wrong(mention: Mention, tokens: Tokens) -> bool:
    """Whether what follows takes an answer back: "yes, that is wrong"."""
    words = [token for token in tokens[mention.place + 1 :] if token]
    text = " ".join(MARK if isinstance(word, Mention) else word for word in words[:8])
    return (
        re.match(rf"(?:\| )?(?:that|this|it|which)(?:'s| is| was| would be)(?: an?)? (?:{'|'.join(_WRONG)})\b", text)
        is not None
    )


def _wrongly_named(mention: Mention, tokens: Tokens) -> bool:
    """Whether "yes" or "no" is named as the wrong answer, which says nothing certain about the other one."""
    return (
        _is_answer_word(mention.words)
        and "except" in _before(mention, tokens, _JOINS)
        and (_spoken(mention, tokens, _LEADS | {"except"}))
    )


def _announced(mention: Mention, tokens: Tokens) -> bool:
    before = list(_before(mention, tokens, _BREAKS))
    said = not _ANNOUNCES.isdisjoint(before) or ("is" in before and not _OFFERED.isdisjoint(before))
    return said and all(word in _LEADS for word in before)


def _hedged(tokens: Tokens) -> bool:
    """Whether the reply hedges; after a "yes" or "no" at its beginning, "neither" is not a hedge."""
    text = " ".join(MARK if isinstance(token, Mention) else token for token in tokens if token)
    opening = tokens[0] if tokens else ""
    plain = isinstance(opening, Mention) and opening.words in {("yes",), ("no",)}
    return (_HEDGE if plain else _HEDGE_OR_NEITHER).search(text) is not None


def _before(mention: Mention, tokens: Tokens, breaks: frozenset[str]) -> Iterator[str]:
    return _clause(tokens[: mention.place][::-1], breaks)


def _after(mention: Mention, tokens: Tokens, breaks: frozenset[str]) -> Iterator[str]:
    return _clause(tokens[mention.place + 1 :], breaks)


def _clause(tokens: Tokens, breaks: frozenset[str]) -> Iterator[str]:
    """The words up to the end of the clause; a choice that is named there becomes a neutral mark."""
    for token in tokens:
        if isinstance(token, Mention):
            yield MARK
        elif token == STOP or token in breaks:
            return
        elif token:
            yield token
