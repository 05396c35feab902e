"""Which of several values an attribute of a thing has (CARETS' Q6): its color, "red or blue".

Every text says what it asks for in the words of certain categories, or in words that fit all of them. A category is
given by the noun that it is asked with ("color"); one that no list names here is asked in the general words.
"""

from __future__ import annotations

ADJECTIVES = frozenset(("wooden", "metallic"))
"""Materials that nothing is "made of"."""

_ALL: tuple[str, ...] = ()
# "What color is the cup?", and below "the color of the cup".
_IS = ("color", "shade", "material", "pattern", "shape", "size", "length", "flavor", "texture", "style")
_OF = ("color", "material", "pattern", "shape", "size", "length", "flavor", "texture", "style", "mood", "orientation")
# "The size of the dog is large" is not what anybody says.
_OF_IS = ("color", "material", "pattern", "shape", "flavor", "texture", "style", "mood", "orientation")
_HAS = ("pattern", "shape", "texture", "flavor")
_MADE_OF = ("material",)
_NAMED = ("color", "material", "pattern", "shape", "flavor", "texture", "style")
_MORE = ("color",)
# Behind another thing, a bare list of materials would be heard as more things: "near the bowl, glass or wood".
_IS_BEHIND = tuple(name for name in _IS if name != "material")
_OF_BEHIND = tuple(name for name in _OF if name != "material")

ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {said}?", _ALL),
    ("{Is} {x.the} in the picture {said}?", _ALL),
    ("In this photo, {is} {x.the} {said}?", _ALL),
    ("{Does} {x.the} appear to be {said}?", _ALL),
    ("{Does} {x.the} in the image seem to be {said}?", _ALL),
    ("Would you say that {x.the} {is} {said}?", _ALL),
    ("Would you describe {x.the} as {said}?", _ALL),
    ("What {category} {is} {x.the}, {choices}?", _IS),
    ("What {category} {is} {x.the} in this picture, {choices}?", _IS),
    ("What is the {category} of {x.the}, {choices}?", _OF),
    ("Is the {category} of {x.the} in the photo {choices}?", _OF_IS),
    ("What would you call the {category} of {x.the}, {choices}?", _NAMED),
    ("Do you think the color of {x.the} is more {choices}?", _MORE),
    ("What sort of {category} {does} {x.the} have, {choices}?", _HAS),
    ("What type of {category} {is} {x.the} made of, {choices}?", _MADE_OF),
)

RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {said}?", _ALL),
    ("In this image, {is} {x.the} {said}?", _ALL),
    ("{Does} {x.the} appear to be {said}?", _ALL),
    ("Would you say that {x.the} {is} {said}?", _ALL),
    ("Would you describe {x.the} as {said}?", _ALL),
    ("What {category} {is} {x.the}, {choices}?", _IS_BEHIND),
    ("In the photo, what {category} {is} {x.the}, {choices}?", _IS_BEHIND),
    ("What is the {category} of {x.the}, {choices}?", _OF_BEHIND),
    ("What would you call the {category} of {x.the}, {choices}?", _OF_BEHIND),
    ("Does the color of {x.the} seem more {choices}?", _MORE),
    ("What {category} {is} {x.the} made of, {choices}?", _MADE_OF),
    ("What sort of {category} {is} {x.the} made of, {choices}?", _MADE_OF),
)
