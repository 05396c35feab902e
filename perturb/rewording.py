"""Reword a question with the project's own templates; the meaning, and so the answer, stays.

CARETS' rephrasing test (section 3.2) asks one thing with two templates. Here a question of any origin is matched with
the templates, and asked again with the others of its type. A text may match in several ways: to the templates, "Is the
red cup large?" might ask whether the red is cup large. A rewording is returned only if it follows from all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from vlgate.perturb.order import swap_operands
from vlgate.perturb.questions.readings import QuestionReading, readings, said
from vlgate.perturb.questions.templates.templates import TEMPLATES


def rewordings(text: str, choices: Sequence[str] = ()) -> tuple[str, ...]:
    """Ask the same in other words: with the other templates of the question's type, and with its operands exchanged.

    Args:
        text: a question, or a statement, which only has its operands exchanged.
        choices: the answers that the question offers, if any; without them a question that lists choices matches no
            template.

    Returns: the other texts, those with the fewest changed words first, equal ones in the templates' order; empty if
        the text matches no template and has no operands.

    >>> rewordings("Is there a cup on the table?")[:2]
    ('Is it true that there is a cup on the table?', 'Is there a cup on the table in the picture?')
    >>> rewordings("Why is the cup red?")
    ()
    """
    found: dict[str, None] = {}
    if read := readings(text, choices):
        first, *rest = [_asked_again(reading) for reading in read]
        found = {other: None for other in first if all(other in others for others in rest)}
    swapped = None if _named(text, choices) else swap_operands(text)
    if swapped is not None:
        found[swapped] = None
    found.pop(text, None)
    return tuple(sorted(found, key=lambda other: _distance(text, other)))


def _distance(text: str, other: str) -> float:
    return 1 - SequenceMatcher(None, text.split(), other.split(), autojunk=False).ratio()


def _named(text: str, choices: Sequence[str]) -> bool:
    return bool(choices) and all(choice.lower() in text.lower() for choice in choices)


def _asked_again(reading: QuestionReading) -> dict[str, None]:
    """The texts of all templates that can ask this question, in the templates' order."""
    wanted = {"plain", "that"} if reading.is_related else {"none"}
    found: dict[str, None] = {}
    for template in TEMPLATES[reading.type]:
        text = template.negated if reading.negated else template.text
        fits = not template.categories or reading.category in template.categories
        numbers = {number for _, number in (reading.x, reading.y or reading.x)}
        needs_more = "{category}" in text and not reading.category
        whole = "{x.where}" not in text and not (reading.is_related and "{x.kind}" in text)
        if template.relation in wanted and fits and whole and text and not needs_more and numbers <= template.numbers:
            found[said(template, reading)] = None
    return found
