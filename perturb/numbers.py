"""Replace the number in a text by another, as VALSE's counting instruments do (section 3.3)."""

from __future__ import annotations

import re

from vlgate.perturb.grammar import capitalised_like
from vlgate.perturb.inflection import plural, singular

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
# In "one of the cups" and "no one" another number cannot replace "one".
_NUMBER = re.compile(rf"(?<!no )(?<!\w)(?:{'|'.join(NUMBER_WORDS)}|\d+)(?![\w:]|-\w)(?! of\b)", re.IGNORECASE)
_EXISTENCE = re.compile(
    r"(?P<start>.*\b)(?P<head>there is|there are|is there|are there)(?P<adverb> (?:exactly|only|just))? "
    r"(?P<number>\w+) "
    r"(?P<phrase>[a-z]+(?: [a-z]+)*?)(?P<tail>(?: (?:in|on|at|near|under|of|with|that|which)\b.*)?[.?!]*)",
    re.IGNORECASE,
)
_EXACT = re.compile(r"\b(?:exactly|only|just) $", re.IGNORECASE)
_COUNTED = 3  # the most words from a number to its noun
_HEADS = {"there is": "there are", "there are": "there is", "is there": "are there", "are there": "is there"}


def replace_number(text: str, new: int) -> str | None:
    """Replace the number in ``text`` by ``new``; a word stays a word, and digits stay digits.

    From one to another number, and back, the verb and the noun change too. This is done only in sentences with "there
    is" or "there are". Numbers in captions of any form need a parse: see ``captions.counts.recounted``.

    Returns: the new text, or None if the text does not have exactly one number, its number is ``new`` already, ``new``
    is not in 0..20 and must be a word, the number is not before a known noun that it counts, the verb or the noun would
    have to change and cannot, or ``new`` is lower and the text does not say "exactly": where there are three cups,
    there are two cups as well.

    >>> replace_number("There are exactly three cups.", 5)
    'There are exactly five cups.'
    >>> replace_number("There is exactly one red cup in the image.", 2)
    'There are exactly two red cups in the image.'
    """
    found = list(_NUMBER.finditer(text))
    if len(found) != 1 or (old := _value(found[0][0])) == new or _shouted(found[0][0]):
        return None
    word = str(new) if found[0][0].isdigit() else _word(new)
    if word is None or (new < old and not _EXACT.search(text[: found[0].start()])):
        return None
    if (old == 1) != (new == 1):
        return _agreeing(text, word, to_one=new == 1)
    if not _counts(text[found[0].end() :]):
        return None
    return _NUMBER.sub(lambda match: capitalised_like(match[0], word), text)


def _shouted(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _counts(behind: str) -> bool:
    """Whether one of the next words is a known plural."""
    return any(singular(word) is not None for word in re.findall(r"[A-Za-z'-]+", behind)[:_COUNTED])


def _agreeing(text: str, word: str, *, to_one: bool) -> str | None:
    """Write ``word`` in a sentence about existence whose verb and noun must change their number."""
    found = _EXISTENCE.fullmatch(text)
    if found is None or _NUMBER.fullmatch(found["number"]) is None:
        return None
    *adjectives, noun = found["phrase"].split(" ")
    inflected = singular(noun) if to_one else plural(noun)
    if inflected is None:
        return None
    head = capitalised_like(found["head"], _HEADS[found["head"].lower()])
    phrase = " ".join((word, *adjectives, inflected))
    return f"{found['start']}{head}{found['adverb'] or ''} {phrase}{found['tail']}"


def _value(number: str) -> int:
    return int(number) if number.isdigit() else NUMBER_WORDS.index(number.lower())


def _word(number: int) -> str | None:
    return NUMBER_WORDS[number] if 0 <= number < len(NUMBER_WORDS) else None
