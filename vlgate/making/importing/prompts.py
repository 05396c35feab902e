"""The question in a prompt: what a harness writes before and after it is told apart."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

_MOST = 40  # pieces of a prompt of which every run is looked up; of a longer prompt, runs of at most 12
_RUN = 12
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u00a0", "''\"\" ")
_OUTER = " \t\n\"'`.?!:"
_TAG = re.compile(r"<[^<>\n]{0,40}>|\[(?:image|img)\]", re.IGNORECASE)  # <image>, <|im_start|>, <image 1>, <ImageHere>
_OPTION = re.compile(r"\s*(?:option\w*\s*:\s*)?[(\[]?([a-h])[)\].:]\s*(\S.*?)\s*;?\s*", re.IGNORECASE)
_INLINE = re.compile(r"(?<!\w)[(\[]([a-h])[)\]]\s*(.*?)\s*(?=[(\[][a-h][)\]]|$)", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.?!:])[\"'\u2019\u201d)*]*\s+")
_INSTRUCTION = re.compile(
    r"(?:please )?(?:answer|choose|output|provide|reply|respond|select|use)\b.*"
    r"\b(?:answer|choices?|directly|letters?|no|options?|phrase|sentence|words?|yes)\b.*"
    r"|(?:[aq]|answer|assistant|hint|human|image|options?|question|short answer|system|user)(?: \d+)?"
)  # a sentence that a harness adds to a question, or the name of a role


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    text: str
    span: tuple[int, int]
    around: str


def normal(text: str) -> str:
    """Return a text without what harnesses change in a question: case, spaces, kinds of quotes, outer punctuation."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_QUOTES)
    return " ".join(text.casefold().split()).strip(_OUTER)


def parts(prompt: str) -> Iterator[Part]:
    """Yield the runs of sentences of a prompt that may be its question, the longest first."""
    # ``around`` holds the other sentences, without instructions that are common, options and image tags; it is empty if
    # nothing else stands there.
    whole = normal(prompt)
    if whole:
        yield Part(text=whole, span=(0, len(prompt)), around="")
    pieces = list(_pieces(prompt))
    rest = [_rest(prompt[start:end]) for start, end in pieces]
    longest = len(pieces) if len(pieces) <= _MOST else _RUN
    for length in range(longest, 0, -1):
        for first in range(len(pieces) - length + 1):
            start, end = pieces[first][0], pieces[first + length - 1][1]
            text = normal(_TAG.sub(" ", prompt[start:end]))
            if text:
                around = " | ".join(part for part in rest[:first] + rest[first + length :] if part)
                yield Part(text=text, span=(start, end), around=around)


def _pieces(prompt: str) -> Iterator[tuple[int, int]]:
    start = 0
    for line in prompt.split("\n"):
        ends = [] if _OPTION.fullmatch(line) else [match.span() for match in _SENTENCE.finditer(line)]
        begins = [0, *(end for _, end in ends)]
        for begin, end in zip(begins, [*(first for first, _ in ends), len(line)], strict=True):
            if line[begin:end].strip():
                yield start + begin, start + end
        start += len(line) + 1


def _rest(piece: str) -> str:
    text = normal(_TAG.sub(" ", piece))
    if _INSTRUCTION.fullmatch(text) or _OPTION.fullmatch(piece) or _INLINE.match(piece.strip()):
        return ""
    return f"{text}?" if text and piece.rstrip(" \"'*)").endswith("?") else text


def plain_question(question: str) -> str:
    """Return the normal form of a question without the instruction at its end, as benchmarks may have one."""
    pieces = list(_pieces(question))
    while len(pieces) > 1 and not _rest(question[slice(*pieces[-1])]):
        pieces.pop()
    return normal(question[: pieces[-1][1]]) if pieces else normal(question)


def listed_options(prompt: str) -> tuple[str, ...]:
    matches = [match for line in prompt.split("\n") if (match := _OPTION.fullmatch(line))]
    if len(matches) < 2:  # a choice
        matches = list(_INLINE.finditer(prompt))
    letters = "".join(match[1].lower() for match in matches)
    return tuple(match[2] for match in matches) if len(letters) > 1 and "abcdefgh".startswith(letters) else ()
