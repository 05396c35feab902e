"""Reading an answer in free text: which of the choices it names, if it names exactly one.

A reply is read strictly. A choice must occur as whole words ("no" does not occur in "notice", nor "appropriate" in
"inappropriate"). A reply that can be read in several ways is unread: it names two choices, denies one, or hedges.
Services, local models and recorded replies are read by the same rules; ``announced`` finds the part that is read.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations

from vlgate.judging.announced import (
    SECOND_LOOK,
    announced,
    announced_lines,
    conclusions,
    own_turn,
    sentences,
    without_reasons,
)
from vlgate.judging.labels import MARK, labels_of, listed_aliases, mark_capitals, replace_labels, words_of
from vlgate.judging.mentions import (
    NO_IMAGE,
    SPOKEN,
    STOPS,
    Mention,
    Tokens,
    folded,
    named_choice,
    tokens_of,
    without_marks,
)
from vlgate.judging.normal import normal_answer
from vlgate.perturb.text.grammar import either_number, plural, regular_singular, singular
from vlgate.types import Ask, Compare

_OUTER = "\"'`*_$\u201c\u201d\u2018\u2019()[] \t\r\n"
_STYLE = re.compile(r"</?(?:b|i|em|strong|u|span|font|mark|code|sub|sup|small|big)(?:\s[^<>]*)?>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_ASIDE = 3  # words of a sentence that is more than another choice
_PRONOUN = 8  # options, from which on "I" is a letter of one
_DECIDES = words_of(
    "actually answer choice choose correct final however instead pick rather recheck recount select so sorry therefore "
    "thus wait"
)
_AGAIN = re.compile(rf"\b{SECOND_LOOK}\b")
_LONGEST = 20_000  # characters of a text whose sentences are read
_ARTICLES = words_of("a an the")
_FUNCTION_WORDS = words_of("a am can i in may off on out up us")  # choices that are words of other sentences, too
_POSITIVE = words_of("yes y yeah yep yup true correct affirmative")
_NEGATIVE = words_of("no n nah nope false incorrect negative")
_OPENING = re.compile(r"^\W*(true|false)(?=\s*[.,;!])", re.IGNORECASE)  # "True, it is there."


def read_reply(answer: str, question: Ask | Compare) -> str | None:
    """Return the choice that the answer to a question names, as ``read_answer``."""
    # Without choices, it is the announced answer, or the reply without thoughts and special tokens; None if it is
    # empty.
    if not question.choices:
        text = own_turn(answer) or ""
        inner = announced(text)
        text = text if inner is None else inner
        lines = {line for line, _ in announced_lines(text)}
        text = (lines.pop() or text if len(lines) == 1 else text).strip("*_`$ \t\r\n")
        return text if normal_answer(text) else None
    aliases = question.aliases if isinstance(question, Ask) else ()
    if (exact := _reader(question.choices, aliases).plain.get(answer)) is not None:
        return exact
    return read_answer(answer, question.choices, aliases=aliases or listed_aliases(question.question, question.choices))


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
    reader = _reader(tuple(choices), tuple(aliases) if len(aliases) == len(choices) else ())
    found = reader.plain.get(reply)
    return reader.read(reply) if found is None else found


def told_apart_by_the_letter(choices: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairs of choices that only a reply to the letter tells apart: in sentences they are the same words."""
    words = [(choice, _words(choice)) for choice in choices]
    return [(first, second) for (first, one), (second, other) in combinations(words, 2) if one == other]


class _ChoiceParser:
    def __init__(self, choices: tuple[str, ...], aliases: tuple[str, ...]) -> None:
        self.choices = choices
        self.labels = labels = labels_of(choices, aliases)
        given = len(aliases) == len(choices) and not all(alias.casefold() in labels for alias in aliases)
        other_texts = aliases if given else ()
        self.options = choices if not other_texts and aliases else other_texts or ("",) * len(choices)
        self.forms = _forms(choices, other_texts)
        self.lengths = sorted({len(form) for form in self.forms}, reverse=True) or [1]
        self.content = [({*words} - _ARTICLES - {"and"}, len(words)) for words in map(_words, choices)]
        self.plain: dict[str, str] = {}
        for form, number in self.forms.items():
            text = " ".join(form)
            if number >= 0 and (text not in labels or labels[text] == number):
                for spelling in (text, text.capitalize(), text.upper()):
                    self.plain[spelling] = self.plain[f"{spelling}."] = choices[number]
        self.spellings = [_spellings(choices, rule) for rule in _SPELLINGS]
        self.longest = 40 + 2 * max(map(len, choices), default=0)  # of a reply that is a choice between marks
        self.opposites = _opposites(choices)
        texts = sorted((re.escape(_collapsed(choice)) for choice in choices if choice.strip()), key=len, reverse=True)
        own = "|".join(texts) or r"(?!)"
        self.decorated = re.compile(  # a letter or number of an option, in front of the text of a choice
            rf"(?<![\w(\[.])(?:(?:option|choice)\s+)?(?!(?:{own})[)\].:])[(\[]?(?:[a-z]|\d{{1,2}})\s*[)\].:]+\s*"
            rf"(?=[\"'*_\s]*(?:{own})(?!\w))"
        )

    def read(self, reply: str) -> str | None:
        exact = self._spelled(reply)
        text = own_turn(without_marks(reply)) if exact is None else None
        if not text:
            return exact
        inner = announced(text)
        return self._read(text if inner is None else inner)

    def _read(self, text: str) -> str | None:
        first, _, rest = text.partition("\n")
        if "?\n" in f"{rest}\n" and (found := self._alone(first)) is not None:  # what follows is the next question
            return found
        lines = announced_lines(text)
        if lines:
            said = {self._whole(line) or self._whole(rest) for line, rest in lines} - {None}
            return said.pop() if len(said) == 1 else None
        short = without_reasons(text)
        found = self._whole(short) or self._concluded(short)
        return self._whole(text) if found is None and short != text else found

    def _concluded(self, text: str) -> str | None:
        parts, rest = conclusions(text)
        said = {self._whole(part) for part in parts}
        if said:
            calm = all(map(self._aside, sentences(rest)))
            return said.pop() if len(said) == 1 and calm else None
        first, *others = sentences(text) or [""]
        found = self._alone(first) if others else None
        return found if found is not None and all(map(self._aside, others)) else None

    def _aside(self, sentence: str) -> bool:
        tokens = self._mentions(tokens_of(self._labelled(sentence)))
        words = [token for token in tokens if isinstance(token, str) and token not in STOPS]
        mentioned = any(isinstance(token, Mention) for token in tokens)
        decides = len(words) <= _ASIDE or not _DECIDES.isdisjoint(words) or tokens[0] == "no"
        said = sentence.casefold()
        return not (mentioned and (decides or _AGAIN.search(said))) and not NO_IMAGE.search(said)

    def _whole(self, text: str) -> str | None:
        found = self._alone(text)
        if found is not None or not text or len(text) > _LONGEST:  # so long, without an announced answer: a loop
            return found
        tokens = tokens_of(self._labelled(text))
        number = named_choice(self._mentions(tokens))
        return None if number is None or self._of_longer(number, tokens) else self.choices[number]

    def _of_longer(self, number: int, tokens: Sequence[str]) -> bool:
        """Whether a short reply has all words of a longer choice, too, in another order: "a woman and a man"."""
        own, _ = self.content[number]
        return any(own < words <= {*tokens} and len(tokens) <= length + 4 for words, length in self.content)

    def _alone(self, text: str) -> str | None:
        found = self._spelled(text)
        if found is None and len(text) <= self.longest:
            normal = normal_answer(text.strip(_OUTER))
            found = self.plain.get(normal) or self.opposites.get(normal)
        return found

    def _spelled(self, text: str) -> str | None:
        """The choice that a text equals under the strictest rule that makes it equal to any; None if to several."""
        if len(text) > self.longest:
            return None
        for rule, choices in zip(_SPELLINGS, self.spellings, strict=True):
            if (spelling := rule(text)) in choices:
                choice = choices[spelling]
                labelled = self.labels.get(spelling) if spelling != text else None
                return choice if labelled is None or self.choices[labelled] == choice else None
        return None

    def _labelled(self, text: str) -> str:
        text = _TAG.sub("\n", _STYLE.sub("", text))
        text = _OPENING.sub(lambda word: self.opposites.get(word[1].lower(), word[0]), text)
        if not self.labels:
            return self.decorated.sub(" ", folded(text))
        texts = {form[0]: number for form, number in self.forms.items() if len(form) == 1}
        return replace_labels(folded(mark_capitals(text, self.labels)), self.labels, texts, self.options)

    def _mentions(self, tokens: Sequence[str]) -> Tokens:
        """The tokens, with the tokens of each named choice replaced by one mention; the longest choice wins."""
        found: Tokens = []
        start = 0
        while start < len(tokens):
            end, number, words = (start + 1, -1, ()) if tokens[start] in STOPS else self._at(tokens, start)
            if words:
                found.append(Mention(number, len(found), words))
            else:
                found += tokens[start:end]
            start = end
        return found

    def _at(self, tokens: Sequence[str], start: int) -> tuple[int, int, tuple[str, ...]]:
        """The end, the number and the words of the choice that begins at a token; no words if none does."""
        if tokens[start].startswith(MARK):
            return start + 1, int(tokens[start][1:]), (tokens[start],)
        places = [start]
        while len(places) < self.lengths[0] and places[-1] + 1 < len(tokens):
            place = places[-1] + 1
            while place < len(tokens) and (tokens[place] in STOPS or tokens[place] == "("):
                place += 1
            if place == len(tokens):
                break
            places.append(place)
        for length in self.lengths:
            form = tuple(tokens[place] for place in places[:length])
            if form in self.forms and not (len(form) == 1 and _is_function_word(tokens, start)):
                number = self.forms[form]
                return places[min(length, len(places)) - 1] + 1, number, form if number >= 0 else ()
        return start + 1, -1, ()


def _is_function_word(tokens: Sequence[str], place: int) -> bool:
    """Whether a word such as "can" stands in a sentence, and is not what the sentence ends with, or has an article."""
    follows = tokens[place + 1] if place + 1 < len(tokens) else "."
    ends = follows != "(" and (len(follows) == 1 or not follows.isalpha())
    if tokens[place] not in _FUNCTION_WORDS or ends or follows in {"and", "or"}:
        return False
    return not (place and tokens[place - 1] in _ARTICLES and len(tokens[place]) > 1)


def _unquoted(text: str) -> str:
    return _collapsed(text).strip(_OUTER)


def _collapsed(text: str) -> str:
    return " ".join(folded(text).split())


_reader = lru_cache(maxsize=4096)(_ChoiceParser)
_SPELLINGS: tuple[Callable[[str], str], ...] = (
    str,
    str.strip,
    _collapsed,
    _unquoted,
    lambda text: _unquoted(text).rstrip(".\u3002"),
    lambda text: normal_answer(_unquoted(text)),
)  # from the strictest to the loosest: two choices are told apart by the first one under which they differ


def _spellings(choices: Sequence[str], rule: Callable[[str], str]) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for choice in choices:
        spelling = rule(choice)
        found[spelling] = choice if found.get(spelling, choice) == choice else None
    return found


def _opposites(choices: Sequence[str]) -> dict[str, str]:
    folded = {normal_answer(choice): choice for choice in choices}
    positive, negative = folded.keys() & _POSITIVE, folded.keys() & _NEGATIVE
    if len(folded) != 2 or len(positive) != 1 or len(negative) != 1:
        return {}
    yes, no = folded[positive.pop()], folded[negative.pop()]
    return dict.fromkeys(_POSITIVE, yes) | dict.fromkeys(_NEGATIVE, no)


def _forms(choices: Sequence[str], aliases: Sequence[str]) -> dict[tuple[str, ...], int]:
    """The number of the choice that each form of words names; -1 if a form fits two choices equally well."""
    # A choice as it was given comes before a choice without its article, that before the other grammatical number, and
    # that before an alias.
    given, others = ([_words(text) for text in texts] for texts in (choices, aliases))
    found: dict[tuple[str, ...], int] = {}
    plain, bare = [{words} for words in given], [{_bare(words)} for words in given]
    for given_forms in (plain, bare, map(_inflected, given), [{words, _bare(words)} for words in others]):
        here: dict[tuple[str, ...], int] = {}
        for number, forms in enumerate(given_forms):
            for form in forms:
                first = here.setdefault(form, number)
                if first >= 0 and choices[first] != choices[number]:
                    here[form] = -1
        found = here | found
    if len(choices) == len({_collapsed(choice) for choice in choices} & {"yes", "no"}):
        found |= {(word,): found[meant,] for word, meant in SPOKEN.items() if (meant,) in found}
    found.pop((), None)
    if len(choices) > _PRONOUN:
        found.pop(("i",), None)
    return found


def _words(text: str) -> tuple[str, ...]:
    tokens = tokens_of(folded(without_marks(text)))
    return tuple(token for token in tokens if token not in STOPS | {"("})


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
