"""Reading an answer in free text: which of the choices it names, if it names exactly one.

A reply is read strictly. A choice must occur as whole words ("no" does not occur in "notice", nor "appropriate" in
"inappropriate"). A reply that can be read in several ways is unread: it names two choices, denies one, or hedges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase

from vlgate.perturb.inflection import either_number, plural, regular_singular, singular

_ENDS = re.compile(r"^[\s\"'`]+|[\s\"'`.,;:!]+$")
_LABEL = re.compile(
    r"""(?<!\w)[(\[]([a-z]|\d{1,2})[)\]](?!\w)  # (2), [b]
    | (?<![\w(])([a-z]|\d{1,2})\)  # 2)
    | (?<=\ue001)([a-z]|\d{1,2})(?=\s*(?:$|[.,;:!?"'*\n]|(?:is|was)\b))  # option 2, the answer is b
    | ^[^\w\n]*([a-z]|\d{1,2})(?=[^\w\n]*$|[.:]\s)  # B., 2: a dog""",
    re.VERBOSE | re.MULTILINE,
)
_BEFORE_LABEL = re.compile(
    r"\b((?:answer|caption|choice|choose|number|option|output|pick|select)(?:\s+(?:is|would\s+be))?)[\s:#*\"']+(?=\w)"
)
_STOP = "|"
_MARK = "\ue000"  # stands before the number of an option; a private character, which replies do not contain
_HERE = "\ue001"  # marks the place of a bare letter or number that is an option
_TOKEN = re.compile(rf"{_MARK}-?\d+|\d+(?:[.,:]\d+)*|\w+(?:['-]\w+)*|[.,;!?/\n\u2013\u2014\u2026]|\s-\s")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ARTICLES = _set("a an the")
_LEADS = _set(
    "a again also and answer be believe boxed caption certainly choice choose clearly correct definitely description "
    "else final go hence i i'd i'll is it it's judge likely me most must my obviously of ok okay option or otherwise "
    "output pick probably provided question reply response right say select short should simply so statement still "
    "suppose text that that's the then therefore these they think this thus to two was well will with would your"
)
_ANNOUNCES = _set("answer be boxed choose pick reply response select")
_OFFERED = _set("caption choice description option output")  # these announce an answer if "is" follows
_BLOCKS = _set(
    "cannot could either hardly if instead maybe may might neither never no none nor not perhaps possibly rather than "
    "unless unlikely whether without"
)
_BREAKS = _set("although because but however since though whereas while")
_JOINS = _BREAKS | {"and", "or"}
_IS = _set("are can could did do does is seem seems was were would")
_WRONG = _set("false inaccurate incorrect untrue wrong")
# Words that may follow "no" if it is the answer; before any other word it may be a determiner ("no dog is there").
_AFTER_NO = _set(
    "a an because he her his i in it it's its my not she that that's the their there there's these they this those "
    "we you"
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


def normal_answer(text: str) -> str:
    """Return an answer in lower case, without extra spaces, outer quotes and closing punctuation.

    >>> normal_answer(' "Yes". ')
    'yes'
    """
    return " ".join(_ENDS.sub("", text).casefold().split())


def read_answer(reply: str, choices: Sequence[str], *, numbered: bool = False) -> str | None:
    """Return the choice that a reply in free text names.

    Case, articles, quotes and punctuation make no difference. The plural of a short choice counts as the choice, unless
    it could mean another one. A choice that is denied ("it is not red") or guessed ("it might be red") is not named;
    "it is blue, not red" names blue. "Yes", "no" and single letters are read only if they are the answer itself: not in
    "there is no dog", which means different answers to "is there no dog?" and "is there a dog?". A hedge ("I cannot
    tell", "neither") leaves the reply unread, unless an announced answer follows it ("..., the answer would be (2)").

    Args:
        reply: the text that the model returned.
        choices: the choices of the question.
        numbered: whether the question listed the choices with numbers. If so, "(2)", "2)", "option b" and "B." mean
            the second choice, and a number that is also the text of another choice is unread.

    Returns: the choice as it was given; None if the reply names none of them, or more than one.

    >>> read_answer("No, there is a notice.", ("yes", "no"))
    'no'
    >>> read_answer("The answer is (b).", ("a cat", "a dog"), numbered=True)
    'a dog'
    >>> read_answer("It is inappropriate.", ("appropriate", "very"), numbered=False) is None
    True
    """
    reader = _reader(tuple(choices), numbered)
    found = reader.plain.get(reply)
    return reader.read(reply) if found is None else found


@dataclass(frozen=True, slots=True)
class _Mention:
    """A choice named in a reply: its number (-1 for an option that was not offered), its position and its words."""

    choice: int
    place: int
    words: tuple[str, ...]


_Tokens = list[str | _Mention]


@dataclass(frozen=True, slots=True)
class _ChoiceParser:
    """The choices of a question, prepared for reading replies."""

    choices: tuple[str, ...]
    numbered: bool
    forms: Mapping[tuple[str, ...], int]
    lengths: tuple[int, ...]
    plain: Mapping[str, str]

    def read(self, reply: str) -> str | None:
        """The choice that a reply names, or None."""
        normal = normal_answer(reply)
        if normal in self.plain:
            return self.plain[normal]
        tokens = self._mentions(_tokens(self._labelled(reply)))
        named = [m for m in tokens if isinstance(m, _Mention) and _affirmed(m, tokens)]
        if len({mention.choice for mention in named}) != 1 or named[0].choice < 0:
            return None
        if _hedged(tokens) and not any(_announced(m, tokens) and not _hedged(tokens[m.place :]) for m in named):
            return None
        return self.choices[named[0].choice]

    def _labelled(self, reply: str) -> str:
        """The reply in lower case, with each option's letter or number turned into a separate token."""
        text = _lower(reply)
        letters = "".join(form[0] for form in self.forms if len(form) == 1 and len(form[0]) == 1 and form[0].isalpha())
        text = re.sub(rf"\b([{letters}]):\s", r"\1. ", text) if letters else text  # "A: sleeping" says A
        return _LABEL.sub(self._label, _BEFORE_LABEL.sub(rf"\1 {_HERE}", text)) if self.numbered else text

    def _label(self, found: re.Match[str]) -> str:
        label = next(group for group in found.groups() if group is not None)
        number = int(label) - 1 if label.isdigit() else ascii_lowercase.index(label)
        if not 0 <= number < len(self.choices):
            return f" {_MARK}-1 " if label.isdigit() else found[0]
        as_text = self.forms.get((label,), number)
        return f" {_MARK}{number if as_text == number else -1} "

    def _mentions(self, tokens: Sequence[str]) -> _Tokens:
        """The tokens, with the tokens of each named choice replaced by one mention; the longest choice wins."""
        words = [place for place, token in enumerate(tokens) if token != _STOP]
        found: _Tokens = list(tokens)
        start = 0
        while start < len(words):
            length, mention = self._at(tokens, words[start:])
            if mention is not None:
                for place in words[start : start + length]:
                    found[place] = ""
                found[words[start]] = mention
            start += length
        return found

    def _at(self, tokens: Sequence[str], words: Sequence[int]) -> tuple[int, _Mention | None]:
        first = tokens[words[0]]
        if first.startswith(_MARK):
            return 1, _Mention(int(first[1:]), words[0], (first,))
        for length in self.lengths:
            form = tuple(tokens[place] for place in words[:length])
            if form in self.forms:
                number = self.forms[form]
                return length, None if number < 0 else _Mention(number, words[0], form)
        return 1, None


@lru_cache(maxsize=4096)
def _reader(choices: tuple[str, ...], numbered: bool) -> _ChoiceParser:
    forms = _forms(choices)
    labels = {*ascii_lowercase, *map(str, range(100))} if numbered else set()
    plain: dict[str, str] = {}
    for form, number in forms.items():
        text = " ".join(form)
        if number >= 0 and text not in labels:
            for spelling in (text, text.capitalize(), text.upper()):
                plain[spelling] = plain[f"{spelling}."] = choices[number]
    lengths = tuple(sorted({len(form) for form in forms}, reverse=True))
    return _ChoiceParser(choices, numbered, forms, lengths, plain)


def _forms(choices: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The number of the choice that each form of words names; -1 if a form fits two choices equally well.

    A choice as it was given comes before a choice without its article, and that before the other grammatical number.
    """
    given = [tuple(token for token in _tokens(_lower(choice)) if token != _STOP) for choice in choices]
    found: dict[tuple[str, ...], int] = {}
    for given_forms in (
        [{words} for words in given],
        [{_bare(words)} for words in given],
        [_inflected(words) for words in given],
    ):
        here: dict[tuple[str, ...], int] = {}
        for number, forms in enumerate(given_forms):
            for form in forms:
                first = here.setdefault(form, number)
                if first >= 0 and choices[first] != choices[number]:
                    here[form] = -1
        found = here | found
    found.pop((), None)
    return found


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def _inflected(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    """The noun phrase in the other grammatical number; empty for longer texts, such as captions."""
    bare = _bare(words)
    if not 1 <= len(bare) <= 3 or len(bare[-1]) < 3 or not bare[-1].isalpha() or bare == ("yes",):
        return set()
    head = bare[-1]
    one = singular(head) or regular_singular(head) if len(head) > 3 else None
    # "Reds" for "red" and "a scissor" for "scissors", too: nobody replies with a form that is not English.
    others = {one, plural(head), *either_number(head)} - {head}
    return {(*bare[:-1], other) for other in others if other}


def _lower(text: str) -> str:
    return text.replace("\u2019", "'").casefold()


def _tokens(text: str) -> list[str]:
    """Words, numbers and stops; quotes, brackets and colons are dropped."""
    found = _TOKEN.findall(re.sub(r":\s+", " ", text).replace("_", " "))
    return [token if token[0] == _MARK or token[0].isalnum() else _STOP for token in found]


def _affirmed(mention: _Mention, tokens: _Tokens) -> bool:
    """Whether a mention is meant as the answer, rather than denied or guessed."""
    if mention.words[0] in {"yes", "no"} or (len(mention.words) == 1 and mention.words[0] in ascii_lowercase):
        return _spoken(mention, tokens)
    before, after = list(_before(mention, tokens, _BREAKS)), list(_after(mention, tokens, _BREAKS))
    if any(word in _BLOCKS or word.endswith("n't") for word in before):
        return False
    denied = any(word in _IS and then in _BLOCKS for word, then in pairwise(after))
    return not denied and not any(word in _WRONG or word.endswith("n't") for word in after)


def _spoken(mention: _Mention, tokens: _Tokens) -> bool:
    """Whether "yes", "no" or a letter is the answer itself, with at most words like "the answer is" before it."""
    if not all(word in _LEADS or word == _MARK for word in _before(mention, tokens, _JOINS)):
        return False
    after = next(_after(mention, tokens, _JOINS), None)
    return mention.words == ("yes",) or after in {None, _MARK} or (mention.words == ("no",) and after in _AFTER_NO)


def _announced(mention: _Mention, tokens: _Tokens) -> bool:
    before = list(_before(mention, tokens, _BREAKS))
    said = not _ANNOUNCES.isdisjoint(before) or ("is" in before and not _OFFERED.isdisjoint(before))
    return said and all(word in _LEADS for word in before)


def _hedged(tokens: _Tokens) -> bool:
    """Whether the reply hedges; after a "yes" or "no" at its beginning, "neither" is not a hedge."""
    text = " ".join(_MARK if isinstance(token, _Mention) else token for token in tokens if token)
    opening = tokens[0] if tokens else ""
    plain = isinstance(opening, _Mention) and opening.words in {("yes",), ("no",)}
    return (_HEDGE if plain else _HEDGE_OR_NEITHER).search(text) is not None


def _before(mention: _Mention, tokens: _Tokens, breaks: frozenset[str]) -> Iterator[str]:
    return _clause(tokens[: mention.place][::-1], breaks)


def _after(mention: _Mention, tokens: _Tokens, breaks: frozenset[str]) -> Iterator[str]:
    return _clause(tokens[mention.place + 1 :], breaks)


def _clause(tokens: _Tokens, breaks: frozenset[str]) -> Iterator[str]:
    """The words up to the end of the clause; a choice that is named there becomes a neutral mark."""
    for token in tokens:
        if isinstance(token, _Mention):
            yield _MARK
        elif token == _STOP or token in breaks:
            return
        elif token:
            yield token
