"""The words in which two texts differ, to print them in bold."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape

Piece = tuple[str, bool]  # a part of a text, and whether it is in bold

_BESIDE = {2: (1, 0), 4: (1, 0, 3, 2)}
_BESIDE_IN_A_SET = (2, 3, 0, 1)
_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*|\s+|[^\w\s]")


def difference(first: str, second: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return the pieces of two texts; the words that the other text does not have at this place are in bold.

    >>> difference("A dog on a mat.", "A cat on a mat.")[0]
    (('A ', False), ('dog', True), (' on a mat.', False))
    """
    words = _WORD.findall(first), _WORD.findall(second)
    opcodes = SequenceMatcher(None, *words, autojunk=False).get_opcodes()
    one = [("".join(words[0][a:b]), kind != "equal") for kind, a, b, _, _ in opcodes]
    other = [("".join(words[1][a:b]), kind != "equal") for kind, _, _, a, b in opcodes]
    return tuple(_merged(one)), tuple(_merged(other))


def bold(pieces: tuple[Piece, ...]) -> str:
    """Return pieces as HTML, in which everything but the bold type is escaped."""
    return "".join(f"<b>{escape(text)}</b>" if marked else escape(text) for text, marked in pieces)


def beside(headline: str, requests: int) -> tuple[int, ...]:
    """Return for each request of a case the request whose text its own is compared with."""
    return _BESIDE_IN_A_SET if headline == "set_acc" else _BESIDE.get(requests, tuple(range(requests)))


def _merged(pieces: list[Piece]) -> Iterator[Piece]:
    pieces = [piece for piece in pieces if piece[0]]
    joined: list[Piece] = []
    for index, (text, marked) in enumerate(pieces):
        between = text.isspace() and 0 < index < len(pieces) - 1 and pieces[index - 1][1] and pieces[index + 1][1]
        now = marked or between
        if joined and joined[-1][1] == now:
            joined[-1] = (joined[-1][0] + text, now)
        else:
            joined.append((text, now))
    yield from joined
