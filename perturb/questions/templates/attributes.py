"""Whether a thing is so (CARETS' Q4), each question with the one that has the opposite answer.

An attribute may be a color, a material or something done ("red", "made of wood", "walking"), so that it stands behind a
form of "be" everywhere. "Isn't the cup red?" is left out, since a yes to it means that the cup is red.
"""

from __future__ import annotations

ALONE: tuple[tuple[str, str], ...] = (
    ("{Is} {x.the} {attribute}?", "{Is} {x.the} not {attribute}?"),
    ("{Is} {x.the} in the picture {attribute}?", "{Is} {x.the} in the picture not {attribute}?"),
    ("In the photo, {is} {x.the} {attribute}?", "In the photo, {is} {x.the} not {attribute}?"),
    ("{Does} {x.the} appear to be {attribute}?", "{Does} {x.the} appear not to be {attribute}?"),
    (
        "{Does} {x.the} in this photo seem to be {attribute}?",
        "{Does} {x.the} in this photo seem not to be {attribute}?",
    ),
    ("Does it look as if {x.the} {is} {attribute}?", "Does it look as if {x.the} {is} not {attribute}?"),
    ("Would you say that {x.the} {is} {attribute}?", "Would you say that {x.the} {is} not {attribute}?"),
    ("Do you think {x.the} shown here {is} {attribute}?", "Do you think {x.the} shown here {is} not {attribute}?"),
    (
        "Is it true that {x.the} in the image {is} {attribute}?",
        "Is it true that {x.the} in the image {is} not {attribute}?",
    ),
)

RELATED: tuple[tuple[str, str], ...] = (
    ("{Is} {x.the} {attribute}?", "{Is} {x.the} not {attribute}?"),
    ("In this photo, {is} {x.the} {attribute}?", "In this photo, {is} {x.the} not {attribute}?"),
    ("Judging by the picture, {is} {x.the} {attribute}?", "Judging by the picture, {is} {x.the} not {attribute}?"),
    ("{Does} {x.the} appear to be {attribute}?", "{Does} {x.the} appear not to be {attribute}?"),
    ("{Does} {x.the} seem to be {attribute}?", "{Does} {x.the} seem not to be {attribute}?"),
    ("Does it look as if {x.the} {is} {attribute}?", "Does it look as if {x.the} {is} not {attribute}?"),
    ("Would you say that {x.the} {is} {attribute}?", "Would you say that {x.the} {is} not {attribute}?"),
    ("Is it true that {x.the} {is} {attribute}?", "Is it true that {x.the} {is} not {attribute}?"),
)
