"""Put the operands of a question in another order, which does not change its answer.

CARETS' order test (section 3.2) swaps the operands of conjunctions and disjunctions ("Is there a cup or a ball?") and
the order of the choices ("Is the cup red or blue?").
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from vlgate.perturb.certain import is_phrase
from vlgate.perturb.grammar import only_span, put, with_article
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions.phrases import NUMBERS, Number
from vlgate.perturb.swap import exchange

_IMAGE = r"in (?:the|this) (?:photo|picture|image)"
# Words behind two operands that belong to both.
_TAIL = rf"(?P<tail>(?: (?:{_IMAGE}|anywhere|(?:is|are|be|to be|appear|visible|shown|seen)\b))*[.?!]*)"
_BOTH = re.compile(rf".*?\bboth (?P<a>[^,]+?) and (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_EITHER = re.compile(rf".*?\beither (?P<a>[^,]+?) or (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_OR = re.compile(rf"(?P<left>[^,]+) or (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_SIDES = re.compile(r".* (?P<a>(?P<where>to|on) the \w+) or (?P<b>(?P=where) the \w+)[.?!]*")
_DETERMINERS = frozenset(("a", "an", "the", "some", "any", "no"))
# A noun phrase behind one of these is not a part of a longer one.
_BEFORE = re.compile(
    r"(?:|.* )(?:there|it|this|that|he|she|see|spot|find|shows?|contain|include|have|has|is|are|\w+ing) ", re.IGNORECASE
)


def swap_operands(text: str) -> str | None:
    """Swap the operands of "both A and B" or of "A or B".

    Only operands whose words are known are swapped: two noun phrases of the same number with the same kind of
    determiner, two attributes, or two sides. For texts of any other form, see ``captions.operands.reordered``.

    Returns: the new text, or None if there are not exactly two operands, or they are not certain.

    >>> swap_operands("Is there both a cup and an apple in the image?")
    'Is there both an apple and a cup in the image?'
    >>> swap_operands("Is the cup red or blue?")
    'Is the cup blue or red?'
    >>> swap_operands("Is the cup dark red or blue?") is None
    True
    """
    operands = _both(text) or _either(text)
    return None if operands is None else exchange(text, *operands)


def reverse_choices(question: str, choices: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """Write the choices that ``question`` names in reverse order.

    Returns: (question, choices), or None if there are fewer than two choices, a choice does not occur exactly once in
    the question, two of them overlap, or their order in the question differs from that in ``choices``.

    >>> reverse_choices("Is the cup red, green or blue?", ("red", "green", "blue"))
    ('Is the cup blue, green or red?', ('blue', 'green', 'red'))
    """
    articles = [_with_its_article(question, choice) for choice in choices]
    if len({choice.split(" ")[0] in {"a", "an"} for choice in articles}) > 1:
        return _reversed(question, articles, choices)
    return _reversed(question, choices, choices)


def _with_its_article(question: str, choice: str) -> str:
    """A choice with the article that the question has before it: "a bun" beside "sprinkles"."""
    phrase = with_article(choice)
    return choice if only_span(question, phrase) is None else phrase


def _reversed(question: str, said: Sequence[str], choices: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    found = [span for choice in said if (span := only_span(question, choice)) is not None]
    if len(choices) < 2 or len(found) < len(choices) or any(a[1] > b[0] for a, b in pairwise(found)):
        return None
    for span, choice in zip(reversed(found), said, strict=True):
        question = put(question, span, choice)
    return question, tuple(reversed(choices))


def _both(text: str) -> tuple[str, str] | None:
    found = _BOTH.fullmatch(text)
    if found is None or "any" in {found[name].split(" ")[0].lower() for name in ("a", "b")}:
        return None  # "both any leaves and any windows" is not English
    return _alike(text, found["a"], found["b"])


def _either(text: str) -> tuple[str, str] | None:
    if found := _EITHER.fullmatch(text) or _SIDES.fullmatch(text):
        return _alike(text, found["a"], found["b"])
    found = _OR.fullmatch(text)
    if found is None:
        return None
    left, words = found["left"].split(" "), found["b"].split(" ")
    if words[0].lower() in _DETERMINERS:
        places = [place for place, word in enumerate(left) if word.lower() in _DETERMINERS]
        start = places[-1] if places else len(left)
    else:
        start = max(len(left) - len(words), 0)
    before, first = " ".join([*left[:start], ""]), " ".join(left[start:])
    if words[0].lower() in _DETERMINERS and _BEFORE.fullmatch(before) is None and before.strip():
        return None
    # A determiner has a capital only at the start of a sentence, and it may now move away from there.
    return _alike(text, first if before.strip() else first[:1].lower() + first[1:], found["b"], before=before)


def _alike(text: str, first: str, second: str, before: str = "") -> tuple[str, str] | None:
    """The operands if they can stand for each other."""
    if len(re.findall(r"\b(?:and|or)\b", text, re.IGNORECASE)) != 1:
        return None
    if _SIDES.fullmatch(f" {first} or {second}"):
        return first, second
    words = default_ontology().attributes
    if first in words and second in words:
        last = before.split(" ")[-2:-1]
        return None if last and (last[0] in words or last[0].lower() in _DETERMINERS) else (first, second)
    kinds = _kinds(first) & _kinds(second)
    return (first, second) if kinds else None


def _kinds(operand: str) -> frozenset[tuple[str, bool]]:
    """What a noun phrase may be: its kind of determiner, and whether it is plural."""
    first, _, rest = operand.partition(" ")
    word = first.lower() if first.lower() in _DETERMINERS else ""
    numbers = _NUMBERS_OF.get(word, NUMBERS)
    phrase = rest if word else operand
    return frozenset(("a" if word == "an" else word, one == "plural") for one in numbers if is_phrase(phrase, one))


_NUMBERS_OF: Mapping[str, tuple[Number, ...]] = MappingProxyType(
    {
        "a": ("singular",),
        "an": ("singular",),
        "any": ("plural", "mass"),
        "some": ("plural", "mass"),
        "": ("plural", "mass"),
    }
)
