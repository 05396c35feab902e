"""Put the operands of a question in another order, which does not change its answer.

CARETS' order test (section 3.2) swaps the operands of conjunctions and disjunctions ("Is there a cup or a ball?") and
the order of the choices ("Is the cup red or blue?").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from vlgate.perturb.grammar import only_span, put
from vlgate.perturb.swap import exchange

_TAIL = r"(?P<tail>(?: (?:in|on|at|of|near|with|that|which|is|are|to|next|visible|shown)\b.*)?[.?!]*)"
_BOTH = re.compile(rf".*?\bboth (?P<a>[^,]+?) and (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_OR = re.compile(rf"(?P<left>[^,]+) or (?P<b>[^,]+?){_TAIL}", re.IGNORECASE)
_DETERMINED = r"(?P<a>(?:an?|the|some|any|no|this|that|his|her|their) .+)"
_BEGINS_DETERMINED = re.compile(_DETERMINED, re.IGNORECASE)
_ENDS_DETERMINED = re.compile(rf"(?:.*\W)?{_DETERMINED}", re.IGNORECASE)


def swap_operands(text: str) -> str | None:
    """Swap the operands of "both A and B" or of "A or B".

    The operands of "or" are taken to be parallel: if the second begins with a determiner, so does the first;
    otherwise both have the same number of words.

    Returns: the new text, or None if there are not exactly two operands.

    >>> swap_operands("Is there both a cup and an apple in the image?")
    'Is there both an apple and a cup in the image?'
    >>> swap_operands("Is the cup dark red or blue?")
    'Is the cup dark blue or red?'
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
    found = [span for choice in choices if (span := only_span(question, choice)) is not None]
    if len(choices) < 2 or len(found) < len(choices) or any(a[1] > b[0] for a, b in pairwise(found)):
        return None
    for span, choice in zip(reversed(found), choices, strict=True):
        question = put(question, span, choice)
    return question, tuple(reversed(choices))


def _both(text: str) -> tuple[str, str] | None:
    found = _BOTH.fullmatch(text)
    return None if found is None or _joins(text) != 1 else (found["a"], found["b"])


def _either(text: str) -> tuple[str, str] | None:
    found = _OR.fullmatch(text)
    if found is None or _joins(text) != 1:
        return None
    left = re.sub(r".*\beither ", "", found["left"], flags=re.IGNORECASE)
    if left != found["left"]:
        return left, found["b"]
    if _BEGINS_DETERMINED.fullmatch(found["b"]):
        determined = _ENDS_DETERMINED.fullmatch(left)
        # A determiner has a capital only at the start of a sentence, and it may now move away from there.
        return None if determined is None else (determined["a"][0].lower() + determined["a"][1:], found["b"])
    words, length = left.split(" "), len(found["b"].split(" "))
    return (" ".join(words[-length:]), found["b"]) if length < len(words) else None


def _joins(text: str) -> int:
    return len(re.findall(r"\b(?:and|or)\b", text, re.IGNORECASE))
