"""The parser of the wordings, if there is one: spaCy and its pipeline are optional."""

from __future__ import annotations

import re
from functools import cache

from vlgate.errors import ModelLoadError
from vlgate.perturb.parsing.parsed import Parsed, Parser

LEFT_OUT = "joined things were not exchanged, because {why}"
"""What a search says about the wordings that it left out without a parser."""

_JOINS = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)


def parsed(text: str) -> Parsed | str:
    """Parse a text, or return why it cannot be parsed; "" if its wordings need no parse, since it joins nothing."""
    if _JOINS.search(text) is None:
        return ""
    parser = pipeline()
    return parser if isinstance(parser, str) else next(parser.parse([text]))


@cache  # one pipeline
def pipeline() -> Parser | str:
    """Return the parser, or what is missing and how to get it."""
    from vlgate.perturb.parsing.spacy_parser import spacy_parser

    try:
        return spacy_parser()
    except ModelLoadError as error:
        return str(error)
