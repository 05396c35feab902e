"""Which of several kinds a thing of a known class is (CARETS' Q5): "the black animal", "a cow or a horse".

A text with a kind, sort or type fits classes that have kinds: nobody asks for the kind of person that somebody is, nor
what the happy person is.
"""

from __future__ import annotations

KINDS = ("kind",)
"""What a class must have for "what kind of": the second part of such a row."""
_ALL: tuple[str, ...] = ()

ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("{Is} {x.the} in the picture {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", KINDS),
    ("What would you call {x.the} in this image, {choices}?", _ALL),
    ("{Does} {x.the} look like {choices}?", _ALL),
    ("Would you call {x.the} {choices}?", _ALL),
    ("What kind of {x.kind} {is} in the photo, {choices}?", KINDS),
    ("What sort of {x.kind} {is} in the image, {choices}?", KINDS),
    ("Which type of {x.kind} do you see in the picture, {choices}?", KINDS),
)

RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("In this picture, {is} {x.the} {choices}?", _ALL),
    ("Judging by the photo, {is} {x.the} {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", KINDS),
    ("{Does} {x.the} look like {choices}?", _ALL),
    ("What would you call {x.the}, {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
)

# What may stand in a that-clause may also be said of the kind asked for: "what kind of animal is on the grass".
CLAUSE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("In this picture, {is} {x.the} {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", KINDS),
    ("What would you call {x.the}, {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
    ("What sort of {x.kind} {is} {x.where}, {choices}?", KINDS),
    ("In the photo, what type of {x.kind} {is} {x.where}, {choices}?", KINDS),
)
