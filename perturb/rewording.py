"""Reword a question with the project's own templates; the meaning, and so the answer, stays.

CARETS' rephrasing test (section 3.2) asks one thing with two templates. Here a question of any origin is matched with
the templates, and asked again with the others of its type. A text may match in several ways: to the templates, "Is the
red cup large?" might ask whether the red is cup large. A rewording is returned only if it follows from all of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from vlgate.perturb.captions.operands import reordered
from vlgate.perturb.certain import has_place, is_certain, is_phrase, without_image
from vlgate.perturb.grammar import with_article
from vlgate.perturb.order import swap_operands
from vlgate.perturb.parsing.parsed import Parsed
from vlgate.perturb.questions.readings import QuestionReading, readings, said
from vlgate.perturb.questions.templates.templates import TEMPLATES


def rewordings(text: str, choices: Sequence[str] = (), parsed: Parsed | None = None) -> tuple[str, ...]:
    """Ask the same in other words: with the other templates of the question's type, and with its operands exchanged.

    A text is reworded only if its words are known, so that what it asks about is certain; words that only say that it
    is about the image ("in the photo", "anywhere") are left out first.

    Args:
        text: a question, or a statement, which only has its operands exchanged.
        choices: the answers that the question offers, if any; without them a question that lists choices matches no
            template.
        parsed: the text, parsed. With it, `reordered` exchanges operands in texts of any form; without it,
            `swap_operands` does so in the few forms that are certain without a parse.

    Returns: the other texts, those with the fewest changed words first, equal ones in the templates' order; empty if
        the text matches no template and has no operands.

    >>> rewordings("Is there a cup on the table?")[:2]
    ('Is it true that there is a cup on the table?', 'Is there a cup on the table in the picture?')
    >>> rewordings("Why is the cup red?")
    ()
    """
    found = dict.fromkeys(_with_templates(text, choices))
    if not _named(text, choices):
        found |= dict.fromkeys(_exchanged(text, parsed))
    found.pop(text, None)
    return tuple(sorted(found, key=lambda other: _distance(text, other)))


def _exchanged(text: str, parsed: Parsed | None) -> tuple[str, ...]:
    swapped = swap_operands(text)
    other = () if swapped is None else (swapped,)
    return other if parsed is None else reordered(parsed).texts or other


def _with_templates(text: str, choices: Sequence[str]) -> Sequence[str]:
    """The question as all templates ask it that fit all of its readings."""
    if any(with_article(choice) in text and not is_phrase(choice, "singular") for choice in choices):
        return ()
    lower = text[:1].islower()
    plain = without_image(text)
    joined = {"both", "either", "neither"} & set(plain.split(" ")) and plain.endswith("?")
    places = [f"{plain[:-1]} {place}?" for place in _PLACES] if joined else []
    versions = dict.fromkeys((plain, *places, text))
    read = (readings(one[:1].upper() + one[1:], choices) for one in versions)
    certain = next(filter(None, ([one for one in of_text if is_certain(one)] for of_text in read)), None)
    if certain is None:
        return ()
    first, *rest = [_asked_again(reading) for reading in certain]
    found = [other for other in first if all(other in others for others in rest)]
    return [other[0].lower() + other[1:] for other in found] if lower else found


def _distance(text: str, other: str) -> float:
    return 1 - SequenceMatcher(None, text.split(), other.split(), autojunk=False).ratio()


def _named(text: str, choices: Sequence[str]) -> bool:
    return bool(choices) and all(choice.lower() in text.lower() for choice in choices)


def _asked_again(reading: QuestionReading) -> dict[str, None]:
    """The texts of all templates that can ask this question, in the templates' order."""
    wanted = {"plain", "that"} if reading.is_related else {"none"}
    crowded = has_place(reading)
    found: dict[str, None] = {}
    for template in TEMPLATES[reading.type]:
        text = template.negated if reading.negated else template.text
        fits = not template.categories or reading.category in template.categories
        numbers = {number for _, number in (reading.x, reading.y or reading.x)}
        needs_more = "{category}" in text and not reading.category
        whole = "{x.where}" not in text and not (reading.is_related and "{x.kind}" in text)
        if crowded and _PLACED.search(text):
            continue
        if template.relation in wanted and fits and whole and text and not needs_more and numbers <= template.numbers:
            found[said(template, reading)] = None
    return found


_PLACES = [f"in {the} {image}" for the in ("the", "this") for image in ("picture", "photo", "image")]
"""How the templates for two things end, which all say that they are about the image."""
_PLACED = re.compile(r"[^^]\bin (?:the|this) (?:photo|picture|image)")
