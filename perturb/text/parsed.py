"""A parsed text: tokens with their parts of speech and grammatical relations, and edits of the text by token."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vlgate.perturb.text.grammar import article, capitalised_like


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A word or a punctuation mark: its text, and the blanks that follow it.

    ``tag`` is the Penn Treebank tag ("NNS"), ``pos`` the universal part of speech ("NOUN"), ``dep`` the grammatical
    relation to the token number ``head``, in spaCy's (ClearNLP's) labels ("nsubj"). The root is its own head.
    """

    text: str
    space: str
    lemma: str
    tag: str
    pos: str
    dep: str
    head: int
    lower: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", self.text.lower())


Span = tuple[int, int]
"""Positions of tokens: the first one, and the one after the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A text to write over the tokens of a span. An empty span inserts before its token; an empty text deletes."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A text and its tokens, whose texts and blanks joined give the text.

    ``chunks`` are the base noun phrases ("a pocket knife"), ``sentences`` the sentences, both in the text's order.
    """

    text: str
    tokens: tuple[Token, ...]
    chunks: tuple[Span, ...] = ()
    sentences: tuple[Span, ...] = ()

    def children(self, position: int, *labels: str) -> tuple[int, ...]:
        return tuple(
            index
            for index, token in enumerate(self.tokens)
            if token.head == position and index != position and (not labels or token.dep in labels)
        )

    def subtree(self, position: int) -> Span:
        first = last = position
        todo = [position]
        while todo:
            for child in self.children(todo.pop()):
                first, last = min(first, child), max(last, child)
                todo.append(child)
        return first, last + 1

    def said(self, span: Span) -> str:
        return "".join(token.text + token.space for token in self.tokens[slice(*span)]).strip()

    def edited(self, edits: Sequence[Edit]) -> str:
        # Blanks stay, and a deleted span takes the blanks behind it along. Capitals at the start of sentences stay, and
        # "a" or "an" before an edited place agrees with what follows.
        parts: list[str] = []
        index = 0
        for edit in sorted(edits, key=lambda edit: edit.span):
            first, end = edit.span
            if not index <= first <= end <= len(self.tokens):
                raise ValueError(f"span={edit.span!r} overlaps another edit or is not in {self.text!r}")
            parts += [token.text + token.space for token in self.tokens[index:first]]
            parts += self._put(edit, starts=first in {start for start, _ in self.sentences} or first == 0)
            index = end
        parts += [token.text + token.space for token in self.tokens[index:]]
        text = "".join(parts)

        def agreed(match: re.Match[str]) -> str:
            if match["article"] is None:
                return ""
            following = text[match.end() :].replace(_MARK, "")
            return capitalised_like(match["article"], article(following)) + match["blank"]

        return _EDITED.sub(agreed, text)

    def _put(self, edit: Edit, *, starts: bool) -> tuple[str, str]:
        first, end = edit.span
        text = edit.text
        if starts and first < len(self.tokens):
            text = capitalised_like(self.tokens[first].text, text)
        if not text:
            return "", ""
        space = self.tokens[end - 1].space if end > first else " "
        return f"{_MARK}{text}", space


_MARK = "\0"  # before each edited place, until the article before it agrees
_EDITED = re.compile(rf"(?:\b(?P<article>an?)(?P<blank>\s+))?{_MARK}", re.IGNORECASE)


class Parser(Protocol):
    """The parser; ``name`` is its pipeline with the version, so that parses can be kept on disk."""

    @property
    def name(self) -> str: ...

    def parse(self, texts: Sequence[str]) -> Iterator[Parsed]: ...
