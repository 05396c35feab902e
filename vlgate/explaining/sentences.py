"""What an explanation found, as one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from vlgate.explaining.record import Box, Explanation, Finding, Part, turning

_NAMED = 3  # the most parts that a sentence names
_SAID = {
    "hide windows": "with the {place} of {image} hidden",
    "hide boxes": "with the box at the {place} of {image} hidden",
    "hide segments": "with the segment at the {place} of {image} hidden",
    "exchange between images": "with the {place} of {image} from the other image",
    "leave words out": "without {word!r}",
    "exchange words": "with 'thing' for {word!r}",
    "exchange between texts": "with {word!r} exchanged between the texts",
}


def says(found: Explanation) -> str:
    """Return what turns the verdict of a case, or else what moves its margin most."""
    outcome = "missed" if found.right else "right"
    turns = [
        text
        for finding in found.findings
        for text in dict.fromkeys(_said(found, finding, part) for part in turning(finding.parts)[:_NAMED])
    ]
    if turns:
        return f"The case is {outcome} {_joined(turns)}."
    strongest = [text for finding in found.findings if (text := _strongest(found, finding))]
    if not strongest:
        return "No change could be measured, or none moves the reply."
    return f"No single change makes the case {outcome}; it moves most {_joined(strongest)}."


def place_of(box: Box) -> str:
    """Return the place of the middle of a box in words.

    >>> place_of((0.0, 0.0, 0.25, 0.25)), place_of((0.4, 0.4, 0.6, 0.6)), place_of((0.7, 0.4, 0.9, 0.6))
    ('top left', 'middle', 'right')
    """
    across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    row = "top" if down < 1 / 3 else "bottom" if down > 2 / 3 else ""
    column = "left" if across < 1 / 3 else "right" if across > 2 / 3 else ""
    return f"{row} {column}".strip() or "middle"


def _strongest(found: Explanation, finding: Finding) -> str:
    moved = [part for part in finding.measured if part.effect]
    if not moved:
        return ""
    part = max(moved, key=lambda one: abs(one.effect or 0.0))
    return f"{_said(found, finding, part)} ({-(part.effect or 0.0):+.3g})"


def _said(found: Explanation, finding: Finding, part: Part) -> str:
    image = "the image" if len(found.images) == 1 else f"image {chr(ord('A') + (part.image or 0))}"
    place = place_of(part.box) if part.box is not None else ""
    return _SAID[finding.method].format(place=place, image=image, word=part.word)


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
