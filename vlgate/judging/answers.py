"""Reading an answer in free text: which of the choices it names, if it names exactly one.

A reply is read strictly. A choice must occur as whole words ("no" does not occur in "notice", nor "appropriate" in
"inappropriate"). A reply that can be read in several ways is unread: it names two choices, denies one, or hedges.
Services, local models and recorded replies are read by the same rules; ``announced`` finds the part that is read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from string import ascii_lowercase

from vlgate.judging.announced import announced, announced_lines, own_turn, without_reasons
from vlgate.judging.labels import MARK, labels_of, listed_aliases, mark_capitals, replace_labels
from vlgate.perturb.inflection import either_number, plural, regular_singular, singular
from vlgate.types import Ask

_ENDS = re.compile(r"^[\s\"'`]+|[\s\"'`.,;:!]+$")
_OUTER = "\"'`*_$\u201c\u201d\u2018\u2019()[] \t\r\n"
_STOP = "|"
_TOKEN = re.compile(
    rf"{MARK}-?\d+|(?<![\w.)\]])-\d+(?:[.,:]\d+)*|\d+(?:[.,:]\d+)*(?![\w+#])"
    r"|\w+(?:['-]\w+)*(?:[+#]+(?!\w))?|[.,;!?\n|\u2013\u2014\u2026\u3001\u3002]|\s-\s"
)
_SECTION = re.compile(
    r"^\W*(?:reason(?:ing)?|analysis|explanation|thoughts?|step \d+|observations?|description|context|evidence|note)"
    r"\W*:",
    re.MULTILINE,
)
_STYLE = re.compile(r"</?(?:b|i|em|strong|u|span|font|mark|code|sub|sup|small|big)(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ARTICLES = _set("a an the")
_LEADS = _set(
    "a again also and answer be believe boxed caption certainly choice choose clearly conclusion correct decision "
    "definitely description else final go hence i i'd i'll image is it it's judge judgement judgment label likely me "
    "most must my obviously of ok okay option or otherwise output pick prediction probably provided question reply "
    "response result right say select short should simply so statement still suppose text that that's the then "
    "therefore these they think this thus to two verdict was well will with would your"
)
_ANNOUNCES = _set("answer be boxed choose pick reply response select verdict conclusion")
_OFFERED = _set("caption choice description option output")  # these announce an answer if "is" follows
_BLOCKS = _set(
    "absent cannot could deny denies doubt doubtful either except excluding hardly if instead lack lacking lacks maybe "
    "may might minus neither never no none nor not opposite perhaps possibly rather than unless unlike unlikely "
    "whether without"
)
_BREAKS = _set("although because but however since though whereas while")
_JOINS = _BREAKS | {"and", "or"}
_IS = _set("are can could did do does is seem seems was were would")
_WRONG = _set("error false impossible inaccurate incorrect lie mistake mistaken untrue wrong")
# Words that may follow "yes" or "no" if it is the answer; before any other word, "no" may be a determiner.
_AFTER = _set(
    "a absolutely an as at because both certainly clearly definitely for he her his i in indeed it it's my not "
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
_FILLS = _set("a also an caption choice either image is it it's maybe option perhaps possibly the")
_POSITIVE = _set("yes y yeah yep yup true correct affirmative")
_NEGATIVE = _set("no n nah nope false incorrect negative")
_SPOKEN = {"yeah": "yes", "yep": "yes", "yup": "yes", "nah": "no", "nope": "no"}


def normal_answer(text: str) -> str:
    """Return an answer in lower case, without extra spaces, outer quotes and closing punctuation.

    >>> normal_answer(' "Yes". ')
    'yes'
    """
    return " ".join(_ENDS.sub("", text).casefold().split())


@lru_cache(maxsize=4096)
def normal_choice(text: str, choices: tuple[str, ...]) -> str:
    """Return the normal form of a choice; of choices with equal normal forms, the choice itself.

    >>> normal_choice("Red.", ("red", "blue")), normal_choice("C!", ("C", "C!")), normal_choice("C", ("C", "C!"))
    ('red', 'C!', 'C')
    """
    normal = normal_answer(text)
    alike = {choice for choice in choices if normal_answer(choice) == normal}
    return text if len(alike) > 1 and text in alike else normal


def read_reply(answer: str, question: Ask) -> str | None:
    """Return the choice that the answer to a question names, as ``read_answer``; without choices, the answer itself."""
    if not question.choices:
        return answer
    exact = _reader(question.choices, question.aliases).plain.get(answer)
    if exact is not None:
        return exact
    return read_answer(
        answer, question.choices, aliases=question.aliases or listed_aliases(question.question, question.choices)
    )


def read_answer(reply: str, choices: Sequence[str], *, aliases: Sequence[str] = ()) -> str | None:
    """Return the choice that a reply in free text names.

    A reply that is a choice to the letter is that choice. Otherwise thoughts, special tokens, and what runs on into
    the next question are dropped, and an announced answer is read alone: the last in a tag such as ``<answer>``, a box
    or JSON, or on a line such as "Final answer: no". Case, articles, quotes and punctuation make no difference. The
    plural of a short choice counts as the choice, unless it could mean another one. A choice that is denied ("it is not
    red", "anything but red") or guessed ("it might be red") is not named; "it is blue, not red" names blue. "Yes",
    "no" and single letters are read only if they are the answer itself: not in "there is no dog", which means different
    answers to "is there no dog?" and "is there a dog?". A hedge ("I cannot tell", "neither") leaves the reply unread,
    unless an announced answer follows it ("..., the answer would be (2)").

    Args:
        reply: the text that the model returned.
        choices: the choices of the question.
        aliases: what the question calls each choice as well: its letter or number, or, of choices that are letters or
            numbers, its text. "(2)", "2)", "option b" and "B." mean the second of choices with letters or numbers; such
            a number that is also the text of another choice is unread.

    Returns: the choice as it was given; None if the reply names none of them, or more than one.

    >>> read_answer("No, there is a notice.", ("yes", "no"))
    'no'
    >>> read_answer("The answer is (b).", ("a cat", "a dog"), aliases=("a", "b"))
    'a dog'
    >>> read_answer("(A) sleeping", ("A", "B")), read_answer("playing", ("A", "B"), aliases=("sleeping", "playing"))
    ('A', 'B')
    >>> read_answer("It is inappropriate.", ("appropriate", "very")) is None
    True
    """
    reader = _reader(tuple(choices), tuple(aliases))
    found = reader.plain.get(reply)
    return reader.read(reply) if found is None else found


def told_apart_by_the_letter(choices: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of choices that only a reply to the letter tells apart: in sentences they are the same words.

    >>> told_apart_by_the_letter(("Happy Easter", "Happy Easter!", "none"))
    [('Happy Easter', 'Happy Easter!')]
    """
    words = [(choice, tuple(token for token in _tokens(_lower(choice)) if token != _STOP)) for choice in choices]
    return [
        (first, second)
        for place, (first, one) in enumerate(words)
        for second, other in words[place + 1 :]
        if one == other
    ]


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
    labels: Mapping[str, int]
    forms: Mapping[tuple[str, ...], int]
    lengths: tuple[int, ...]
    plain: Mapping[str, str]
    spellings: tuple[Mapping[str, str | None], ...]
    opposites: Mapping[str, str]
    decorated: re.Pattern[str]

    def read(self, reply: str) -> str | None:
        """The choice that a reply names, or None."""
        exact = self._spelled(reply)
        if exact is not None:
            return exact
        text = own_turn(reply)
        if not text:
            return None
        inner = announced(text)
        return self._read(text if inner is None else inner)

    def _read(self, text: str) -> str | None:
        """The choice named by a text that holds no tag around its answer."""
        lines = announced_lines(text)
        if lines:
            said = {self._whole(line) or self._whole(rest) for line, rest in lines}
            return said.pop() if len(said) == 1 else None
        text = without_reasons(text)
        first, _, rest = text.partition("\n")
        if "?\n" in f"{rest}\n" and (found := self._alone(first)) is not None:  # what follows is the next question
            return found
        return self._whole(text)

    def _whole(self, text: str) -> str | None:
        found = self._alone(text)
        return self._sentence(text) if found is None and text else found

    def _alone(self, text: str) -> str | None:
        """The choice that a text is, without its letter or number, and nothing else."""
        found = self._spelled(text)
        if found is None:
            normal = normal_answer(text.strip(_OUTER))
            found = self.plain.get(normal) or self.opposites.get(normal)
        return found

    def _spelled(self, text: str) -> str | None:
        """The choice that a text equals under the strictest rule that makes it equal to any; None if to several."""
        for rule, choices in zip(_SPELLINGS, self.spellings, strict=True):
            spelling = rule(text)
            if spelling in choices:
                return choices[spelling]
        return None

    def _sentence(self, text: str) -> str | None:
        tokens = self._mentions(_tokens(self._labelled(text)))
        offered, both = _coordinated(tokens)
        mentions = [token for token in tokens if isinstance(token, _Mention)]
        named = [m for m in mentions if m.place not in offered and _affirmed(m, tokens)]
        if _TAKEN_BACK.search(_lower(text)):
            named = [m for m in mentions if m.place not in offered]
        if len({mention.choice for mention in named}) != 1 or named[0].choice < 0:
            return None
        if any(m.place in both for m in named) or any(_wrongly_named(m, tokens) for m in mentions if m not in named):
            return None
        if _hedged(tokens) and not any(_announced(m, tokens) and not _hedged(tokens[m.place :]) for m in named):
            return None
        return self.choices[named[0].choice]

    def _labelled(self, text: str) -> str:
        """The text in lower case, with the letters and numbers of options marked, or dropped if they mean nothing."""
        text = _TAG.sub("\n", _STYLE.sub("", text))
        if not self.labels:
            return self.decorated.sub(" ", _lower(text))
        texts = {form[0]: number for form, number in self.forms.items() if len(form) == 1}
        return replace_labels(_lower(mark_capitals(text, self.labels)), self.labels, texts, len(self.choices))

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
        if first.startswith(MARK):
            return 1, _Mention(int(first[1:]), words[0], (first,))
        for length in self.lengths:
            form = tuple(tokens[place] for place in words[:length])
            if form in self.forms:
                number = self.forms[form]
                return length, None if number < 0 else _Mention(number, words[0], form)
        return 1, None


def _unquoted(text: str) -> str:
    return _folded(text).strip(_OUTER)


def _folded(text: str) -> str:
    return " ".join(_lower(text).split())


_SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.strip,
    _folded,
    _unquoted,
    lambda text: _unquoted(text).rstrip(".\u3002"),
    lambda text: normal_answer(_unquoted(text)),
)
"""From the strictest to the loosest: two choices are told apart by the first one under which they differ."""


@lru_cache(maxsize=4096)
def _reader(choices: tuple[str, ...], aliases: tuple[str, ...]) -> _ChoiceParser:
    labels = labels_of(choices, aliases)
    other_texts = (
        aliases
        if len(aliases) == len(choices) and not all(map(labels.__contains__, map(str.casefold, aliases)))
        else ()
    )
    forms = _forms(choices, other_texts)
    plain: dict[str, str] = {}
    for form, number in forms.items():
        text = " ".join(form)
        if number >= 0 and (text not in labels or labels[text] == number):
            for spelling in (text, text.capitalize(), text.upper()):
                plain[spelling] = plain[f"{spelling}."] = choices[number]
    spellings = tuple(_spellings(choices, rule) for rule in _SPELLINGS)
    return _ChoiceParser(
        choices=choices,
        labels=labels,
        forms=forms,
        lengths=tuple(sorted({len(form) for form in forms}, reverse=True)),
        plain=plain,
        spellings=spellings,
        opposites=_opposites(choices),
        decorated=_decorated(choices),
    )


def _spellings(choices: Sequence[str], rule: Callable[[str], str]) -> dict[str, str | None]:
    """The choice of each spelling; None if several choices have it."""
    found: dict[str, str | None] = {}
    for choice in choices:
        spelling = rule(choice)
        found[spelling] = choice if found.get(spelling, choice) == choice else None
    return found


def _opposites(choices: Sequence[str]) -> dict[str, str]:
    """What says yes or no in other words, if one choice means yes and another no, and no other is given."""
    folded = {normal_answer(choice): choice for choice in choices}
    positive, negative = folded.keys() & _POSITIVE, folded.keys() & _NEGATIVE
    if len(folded) != 2 or len(positive) != 1 or len(negative) != 1:
        return {}
    yes, no = folded[positive.pop()], folded[negative.pop()]
    return dict.fromkeys(_POSITIVE, yes) | dict.fromkeys(_NEGATIVE, no)


def _decorated(choices: Sequence[str]) -> re.Pattern[str]:
    """A letter or number of an option, in front of the text of a choice."""
    texts = sorted((re.escape(_folded(choice)) for choice in choices if choice.strip()), key=len, reverse=True)
    own = "|".join(texts) or r"(?!)"
    return re.compile(
        rf"(?<![\w(\[.])(?:(?:option|choice)\s+)?(?!(?:{own})[)\].:])[(\[]?(?:[a-z]|\d{{1,2}})\s*[)\].:]+\s*(?=[\"'*_\s]*(?:{own})(?!\w))"
    )


def _forms(choices: Sequence[str], aliases: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The number of the choice that each form of words names; -1 if a form fits two choices equally well.

    A choice as it was given comes before a choice without its article, that before the other grammatical number, and
    that before an alias.
    """
    given, others = (
        [tuple(token for token in _tokens(_lower(text)) if token != _STOP) for text in texts]
        for texts in (choices, aliases)
    )
    found: dict[tuple[str, ...], int] = {}
    for given_forms in (
        [{words} for words in given],
        [{_bare(words)} for words in given],
        [_inflected(words) for words in given],
        [{words, _bare(words)} for words in others],
    ):
        here: dict[tuple[str, ...], int] = {}
        for number, forms in enumerate(given_forms):
            for form in forms:
                first = here.setdefault(form, number)
                if first >= 0 and choices[first] != choices[number]:
                    here[form] = -1
        found = here | found
    if len(choices) == len({_folded(choice) for choice in choices} & {"yes", "no"}):
        found |= {(word,): found[meant,] for word, meant in _SPOKEN.items() if (meant,) in found}
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
    return unicodedata.normalize("NFKC", text).replace("\u2019", "'").replace("\u2212", "-").casefold()


def _tokens(text: str) -> list[str]:
    """Words, numbers and stops; quotes, brackets and colons are dropped."""
    text = _NOTHING_BUT.sub(" ", _SECTION.sub("\n", text))
    text = _DENIED.sub(" except ", text).replace("/", " or ").replace("_", " ")
    found = _TOKEN.findall(re.sub(r":\s+", " ", text))
    return [token if token[0] == MARK or token[-1].isalnum() or token[-1] in "+#" else _STOP for token in found]


def _coordinated(tokens: _Tokens) -> tuple[set[int], set[int]]:
    """The places of choices that are offered ("red or blue"), and of those that are named together ("red and blue")."""
    offered: set[int] = set()
    together: set[int] = set()
    mentions = [token for token in tokens if isinstance(token, _Mention)]
    for first, second in reversed(list(pairwise(mentions))):
        between = [token for token in tokens[first.place + 1 : second.place] if token]
        words = [token for token in between if token not in _FILLS and token != _STOP]
        follows = next((token for token in tokens[second.place + 1 :] if token), _STOP)
        ended = isinstance(follows, _Mention) or follows == _STOP or not _is_answer_word(second.words) or follows in _IS
        if first.choice == second.choice or not ended:
            continue
        if words in (["or"], ["and", "or"]) or (not words and second.place in offered and _STOP in between):
            offered |= {first.place, second.place}
        elif words in (["and"], ["as", "well", "as"], ["plus"]) or (not words and second.place in together):
            together |= {first.place, second.place}
    return offered, together


def _is_answer_word(words: tuple[str, ...]) -> bool:
    """Whether a choice is "yes", "no" or a letter, which are words of sentences about other things, too."""
    return words[0] in {"yes", "no", *_SPOKEN} or (len(words) == 1 and words[0] in ascii_lowercase)


def _affirmed(mention: _Mention, tokens: _Tokens) -> bool:
    """Whether a mention is meant as the answer, rather than denied or guessed."""
    if _is_answer_word(mention.words):
        return _spoken(mention, tokens, _LEADS)
    before, after = list(_before(mention, tokens, _BREAKS)), list(_after(mention, tokens, _BREAKS))
    if any(word in _BLOCKS or word.endswith("n't") for word in before):
        return False
    return not _denied(after) and not any(word in _WRONG or word.endswith("n't") for word in after)


def _denied(after: Sequence[str]) -> bool:
    return any(word in _IS and then in _BLOCKS for word, then in pairwise(after))


def _spoken(mention: _Mention, tokens: _Tokens, leads: frozenset[str]) -> bool:
    """Whether "yes", "no" or a letter is the answer itself, with at most words like "the answer is" before it."""
    if not all(word in leads or word == MARK for word in _before(mention, tokens, _JOINS)):
        return False
    after = list(_after(mention, tokens, _JOINS))
    if not after:
        return not _called_wrong(mention, tokens)
    if after[0] in _IS:
        return not _denied(after) and _WRONG.isdisjoint(after)
    return after[0] == MARK or (after[0] in _AFTER and not _called_wrong(mention, tokens))


def _called_wrong(mention: _Mention, tokens: _Tokens) -> bool:
    """Whether what follows takes an answer back: "yes, that is wrong"."""
    words = [token for token in tokens[mention.place + 1 :] if token]
    text = " ".join(MARK if isinstance(word, _Mention) else word for word in words[:8])
    return (
        re.match(rf"(?:\| )?(?:that|this|it|which)(?:'s| is| was| would be)(?: an?)? (?:{'|'.join(_WRONG)})\b", text)
        is not None
    )


def _wrongly_named(mention: _Mention, tokens: _Tokens) -> bool:
    """Whether "yes" or "no" is named as the wrong answer, which says nothing certain about the other one."""
    return (
        _is_answer_word(mention.words)
        and "except" in _before(mention, tokens, _JOINS)
        and (_spoken(mention, tokens, _LEADS | {"except"}))
    )


def _announced(mention: _Mention, tokens: _Tokens) -> bool:
    before = list(_before(mention, tokens, _BREAKS))
    said = not _ANNOUNCES.isdisjoint(before) or ("is" in before and not _OFFERED.isdisjoint(before))
    return said and all(word in _LEADS for word in before)


def _hedged(tokens: _Tokens) -> bool:
    """Whether the reply hedges; after a "yes" or "no" at its beginning, "neither" is not a hedge."""
    text = " ".join(MARK if isinstance(token, _Mention) else token for token in tokens if token)
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
            yield MARK
        elif token == _STOP or token in breaks:
            return
        elif token:
            yield token
