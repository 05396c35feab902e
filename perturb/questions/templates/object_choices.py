"""Which of several kinds a thing of a known class is (CARETS' Q5): "the black animal", "a cow or a horse"."""

from __future__ import annotations

ALONE: tuple[str, ...] = (
    "{Is} {x.the} {choices}?",
    "{Is} {x.the} in the picture {choices}?",
    "In the image, {is} {x.the} {choices}?",
    "What {is} {x.the}, {choices}?",
    "What {does} {x.the} in this image appear to be, {choices}?",
    "{Does} {x.the} look like {choices}?",
    "Would you call {x.the} {choices}?",
    "What kind of {x.kind} {is} in the photo, {choices}?",
    "Which kind of {x.kind} do you see in the picture, {choices}?",
)

RELATED: tuple[str, ...] = (
    "{Is} {x.the} {choices}?",
    "In this picture, {is} {x.the} {choices}?",
    "Judging by the photo, {is} {x.the} {choices}?",
    "What {is} {x.the}, {choices}?",
    "What {does} {x.the} look like, {choices}?",
    "What {does} {x.the} appear to be, {choices}?",
    "{Does} {x.the} appear to be {choices}?",
    "Would you say that {x.the} {is} {choices}?",
)

# What may stand in a that-clause may also be said of the kind asked for: "what kind of animal is on the grass".
CLAUSE: tuple[str, ...] = (
    "{Is} {x.the} {choices}?",
    "In this picture, {is} {x.the} {choices}?",
    "What {is} {x.the}, {choices}?",
    "What {does} {x.the} appear to be, {choices}?",
    "{Does} {x.the} appear to be {choices}?",
    "Would you say that {x.the} {is} {choices}?",
    "What kind of {x.kind} {is} {x.where}, {choices}?",
    "In the photo, what kind of {x.kind} {is} {x.where}, {choices}?",
)
