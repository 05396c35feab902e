"""Which of several things somebody is doing (CARETS' Q7): "walking or sitting"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DOING: Mapping[str, str] = MappingProxyType(
    {"pose": "in", "sport": "doing", "activity": "engaged in", "action": "doing"},
)
"""The verb that goes with a category: "what pose is the man in", "which sport is he doing"."""

_ALL: tuple[str, ...] = ()
_ACTIONS = tuple(DOING)

ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("{Is} {x.the} in the picture {choices}?", _ALL),
    ("In the image, {is} {x.the} {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
    ("What {is} {x.the} doing, {choices}?", _ACTIONS),
    ("What {does} {x.the} appear to be doing, {choices}?", _ACTIONS),
    ("Which {category} {is} {x.the} {doing}, {choices}?", _ACTIONS),
    ("What sort of {category} {is} {x.the} in the picture {doing}, {choices}?", _ACTIONS),
    ("What would you call the {category} that {x.the} {is} {doing}, {choices}?", _ACTIONS),
)

# "Which pose is the boy that is near the net in": the preposition would be taken for a part of the relation.
RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("In this picture, {is} {x.the} {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
    ("What {is} {x.the} doing, {choices}?", _ACTIONS),
    ("In the photo, what {is} {x.the} doing, {choices}?", _ACTIONS),
    ("What {does} {x.the} seem to be doing, {choices}?", _ACTIONS),
    ("Which {category} {does} {x.the} seem to be {doing}, {choices}?", _ACTIONS),
    ("What type of {category} {does} {x.the} appear to be {doing}, {choices}?", _ACTIONS),
)
