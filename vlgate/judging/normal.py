"""Answers in normal form; apart from ``answers``, whose patterns take 30 ms to compile, which no start waits for."""

import unicodedata
from functools import lru_cache

_BLANKS = "".join(letter for letter in map(chr, range(0x3001)) if letter.isspace())
_QUOTES = f"{_BLANKS}\"'`"
_CLOSING = f"{_QUOTES}.,;:!"


def normal_answer(text: str) -> str:
    """Return an answer in lower case and composed letters, without extra spaces, outer quotes and closing punctuation.

    >>> normal_answer(' "Yes". ')
    'yes'
    """
    text = text if text.isascii() else unicodedata.normalize("NFC", text)
    return " ".join(text.lstrip(_QUOTES).rstrip(_CLOSING).casefold().split())


@lru_cache(maxsize=4096)
def normal_choice(text: str, choices: tuple[str, ...]) -> str:
    normal = normal_answer(text)
    alike = {choice for choice in choices if normal_answer(choice) == normal}
    return text if len(alike) > 1 and text in alike else normal
