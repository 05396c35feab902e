"""The wordings of the seven types of question (CARETS, section 4.1): 54, 18, 18, 25, 25, 39 and 28 templates."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Whether there is something in the image (CARETS' Q1), each question with the one that has the opposite answer.

OBJECTS_ALONE: tuple[tuple[str, str], ...] = (
    ("{Is} there {x.any} in the picture?", "{Is} there {x.no} in the picture?"),
    ("{Is} there {x.any} anywhere in this photo?", "{Is} there {x.no} anywhere in this photo?"),
    ("In the image, {is} there {x.any}?", "In the image, {is} there {x.no}?"),
    ("{Is} there {x.any} to be seen in the image?", "{Is} there {x.no} to be seen in the image?"),
    ("Do you see {x.any} in the photo?", "Do you see {x.no} in the photo?"),
    ("Do you see {x.any} anywhere in the picture?", "Do you see {x.no} anywhere in the picture?"),
    ("Looking at this image, do you see {x.any}?", "Looking at this image, do you see {x.no}?"),
    ("Can you see {x.any} in this image?", "Are you unable to see {x.any} in this image?"),
    ("Can you find {x.any} in the photo?", "Are you unable to find {x.any} in the photo?"),
    ("Can {x.any} be seen in this picture?", "Is it true that {x.no} can be seen in this picture?"),
    ("{Is} {x.any} visible in the photo?", "Would you say that {x.no} {is} visible in the photo?"),
    ("{Is} {x.any} shown in this image?", "Is it true that {x.no} {is} shown in this image?"),
    ("Does the image include {x.any}?", "Does the image include {x.no}?"),
    ("Does the picture show {x.any}?", "Does the picture show {x.no}?"),
    ("Does this photo contain {x.any}?", "Does this photo contain {x.no}?"),
    ("Does it look like there {is} {x.any} in the picture?", "Does it look like there {is} {x.no} in the picture?"),
    ("Would you say there {is} {x.a} in the image?", "Would you say there {is} {x.no} in the image?"),
    ("Is it true that there {is} {x.a} in this picture?", "Is it true that there {is} {x.no} in this picture?"),
)

# "In the image" stands in front, or is left out if it might read as a part of the relation: "a man holding the cup
# anywhere", "the table visible in the photo".
OBJECTS_RELATED: tuple[tuple[str, str], ...] = (
    ("{Is} there {x.any}?", "{Is} there {x.no}?"),
    ("{Is} there {x.any} in the picture?", "{Is} there {x.no} in the picture?"),
    ("In this photo, {is} there {x.any}?", "In this photo, {is} there {x.no}?"),
    ("Looking at the image, {is} there {x.any}?", "Looking at the image, {is} there {x.no}?"),
    ("Do you see {x.any} in the image?", "Do you see {x.no} in the image?"),
    ("In the picture, do you see {x.any}?", "In the picture, do you see {x.no}?"),
    ("Looking at the photo, do you see {x.any}?", "Looking at the photo, do you see {x.no}?"),
    ("Can you see {x.any}?", "Are you unable to see {x.any}?"),
    ("Can you find {x.any} in this picture?", "Are you unable to find {x.any} in this picture?"),
    ("Does the image show {x.any}?", "Does the image show {x.no}?"),
    ("Does this photo contain {x.any}?", "Does this photo contain {x.no}?"),
    ("Does it look like there {is} {x.any}?", "Does it look like there {is} {x.no}?"),
    ("Would you say there {is} {x.a} in this picture?", "Would you say there {is} {x.no} in this picture?"),
    ("Would you say that the photo shows {x.a}?", "Would you say that the photo shows {x.no}?"),
    ("Do you think there {is} {x.any} in the photo?", "Do you think there {is} {x.no} in the photo?"),
    ("Is it true that there {is} {x.a}?", "Is it true that there {is} {x.no}?"),
    ("Is it true that this image shows {x.a}?", "Is it true that this image shows {x.no}?"),
    ("Do you agree that there {is} {x.a} in the image?", "Do you agree that there {is} {x.no} in the image?"),
)


# Whether there are both of two things (CARETS' Q2), each question with the one that has the opposite answer.
#
# The opposite of "both" is that one of them, or both, are not there: "either no cup or no ball", as the release has
# it. The sentence as a whole is never denied: "is there not both" is often said to ask for a yes, and "unable to see
# both" may mean neither. The verb agrees with the nearer thing.

CONJUNCTIONS_ALONE: tuple[tuple[str, str], ...] = (
    (
        "{Is} there both {x.a} and {y.a} in the picture?",
        "{Is} there either {x.no} or {y.no} in the picture?",
    ),
    (
        "Would it be correct to say that there {is} both {x.a} and {y.a} in this photo?",
        "Would it be correct to say that there {is} either {x.no} or {y.no} in this photo?",
    ),
    (
        "In the image, {is} there both {x.a} and {y.a}?",
        "In the image, {is} there either {x.no} or {y.no}?",
    ),
    (
        "Do you see both {x.a} and {y.a} in the photo?",
        "Do you think there {is} either {x.no} or {y.no} in the photo?",
    ),
    (
        "Looking at this image, do you see both {x.a} and {y.a}?",
        "Looking at this image, {is} there either {x.no} or {y.no}?",
    ),
    (
        "Can you see {x.a} as well as {y.a} in the picture?",
        "Is it true that there {is} either {x.no} or {y.no} in the picture?",
    ),
    (
        "Can you find both {x.a} and {y.a} in the photo?",
        "Would you say that there {is} either {x.no} or {y.no} in the photo?",
    ),
    (
        "Can both {x.a} and {y.a} be seen in this image?",
        "Does this image lack {x.a}, {y.a}, or both?",
    ),
    (
        "Are both {x.a} and {y.a} visible in the photo?",
        "Is the photo missing {x.a}, {y.a}, or both?",
    ),
    (
        "Do both {x.a} and {y.a} appear in the picture?",
        "Does the picture lack {x.a}, {y.a}, or both?",
    ),
    (
        "Does the picture show both {x.a} and {y.a}?",
        "Is the picture missing {x.a}, {y.a}, or both?",
    ),
    (
        "Does this photo contain both {x.a} and {y.a}?",
        "Does this photo lack {x.a}, {y.a}, or both?",
    ),
    (
        "Does the image include {x.a} and also {y.a}?",
        "Is the image missing {x.a}, {y.a}, or both?",
    ),
    (
        "Does it look like there {is} both {x.a} and {y.a} in this photo?",
        "Does it look like there {is} either {x.no} or {y.no} in this photo?",
    ),
    (
        "Would you say there {is} both {x.a} and {y.a} in this picture?",
        "Would you say there {is} either {x.no} or {y.no} in this picture?",
    ),
    (
        "Is it true that there {is} both {x.a} and {y.a} in the image?",
        "Is it true that there {is} either {x.no} or {y.no} in the image?",
    ),
    (
        "Would it be right to say that the image shows both {x.a} and {y.a}?",
        "Would it be right to say that there {is} either {x.no} or {y.no} in the image?",
    ),
    (
        "Do you agree that the photo shows both {x.a} and {y.a}?",
        "Do you agree that there {is} either {x.no} or {y.no} in the photo?",
    ),
)


# Whether there is one of two things, or both (CARETS' Q3), each question with the one that has the opposite answer.
#
# "Either" stands in each, since otherwise the question might be heard as asking which of the two it is. The opposite
# denies both operands. The verb agrees with the nearer thing.

DISJUNCTIONS_ALONE: tuple[tuple[str, str], ...] = (
    (
        "{Is} there either {x.a} or {y.a} in the picture?",
        "{Is} there neither {x.a} nor {y.a} in the picture?",
    ),
    (
        "{Is} there either {x.a} or {y.a} in this photo?",
        "{Is} there {x.no} and {y.no} in this photo?",
    ),
    (
        "{Is} there either {x.a} or {y.a} anywhere in the image?",
        "{Is} there neither {x.a} nor {y.a} anywhere in the image?",
    ),
    (
        "In the image, {is} there either {x.a} or {y.a}?",
        "In the image, {is} there neither {x.a} nor {y.a}?",
    ),
    (
        "Do you see either {x.a} or {y.a} in the picture?",
        "Do you see neither {x.a} nor {y.a} in the picture?",
    ),
    (
        "Do you see either {x.a} or {y.a} anywhere in this photo?",
        "Do you see {x.no} and {y.no} anywhere in this photo?",
    ),
    (
        "Looking at this image, do you see either {x.a} or {y.a}?",
        "Looking at this image, do you see neither {x.a} nor {y.a}?",
    ),
    (
        "Can you see either {x.a} or {y.a} in this image?",
        "Can you see neither {x.a} nor {y.a} in this image?",
    ),
    (
        "Can you find either {x.a} or {y.a} in this photo?",
        "Would you say that neither {x.a} nor {y.a} can be found in this photo?",
    ),
    ("Can either {x.a} or {y.a} be seen in this picture?", "Can neither {x.a} nor {y.a} be seen in this picture?"),
    ("Do you spot either {x.a} or {y.a} in the photo?", "Do you spot neither {x.a} nor {y.a} in the photo?"),
    ("Does the image include either {x.a} or {y.a}?", "Does the image include neither {x.a} nor {y.a}?"),
    ("Does the picture show either {x.a} or {y.a}?", "Does the picture show neither {x.a} nor {y.a}?"),
    ("Does this photo contain either {x.a} or {y.a}?", "Does this photo contain {x.no} and {y.no}?"),
    (
        "Does it look like there {is} either {x.a} or {y.a} in the photo?",
        "Does it look like there {is} neither {x.a} nor {y.a} in the photo?",
    ),
    (
        "Would you say there {is} either {x.a} or {y.a} in the picture?",
        "Would you say there {is} neither {x.a} nor {y.a} in the picture?",
    ),
    (
        "Is it true that there {is} either {x.a} or {y.a} in this picture?",
        "Is it true that there {is} neither {x.a} nor {y.a} in this picture?",
    ),
    (
        "Do you agree that the picture shows either {x.a} or {y.a}?",
        "Do you agree that the picture shows neither {x.a} nor {y.a}?",
    ),
)


# Whether a thing is so (CARETS' Q4), each question with the one that has the opposite answer.
#
# An attribute may be a color, a material or something done ("red", "made of wood", "walking"), so that it stands
# behind a form of "be" everywhere. "Isn't the cup red?" is left out, since a yes to it means that the cup is red.

ATTRIBUTES_ALONE: tuple[tuple[str, str], ...] = (
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

ATTRIBUTES_RELATED: tuple[tuple[str, str], ...] = (
    ("{Is} {x.the} {attribute}?", "{Is} {x.the} not {attribute}?"),
    ("In this photo, {is} {x.the} {attribute}?", "In this photo, {is} {x.the} not {attribute}?"),
    ("Judging by the picture, {is} {x.the} {attribute}?", "Judging by the picture, {is} {x.the} not {attribute}?"),
    ("{Does} {x.the} appear to be {attribute}?", "{Does} {x.the} appear not to be {attribute}?"),
    ("{Does} {x.the} seem to be {attribute}?", "{Does} {x.the} seem not to be {attribute}?"),
    ("Does it look as if {x.the} {is} {attribute}?", "Does it look as if {x.the} {is} not {attribute}?"),
    ("Would you say that {x.the} {is} {attribute}?", "Would you say that {x.the} {is} not {attribute}?"),
    ("Is it true that {x.the} {is} {attribute}?", "Is it true that {x.the} {is} not {attribute}?"),
)


# Which of several kinds a thing of a known class is (CARETS' Q5): "the black animal", "a cow or a horse".
#
# A text with a kind, sort or type fits classes that have kinds: nobody asks for the kind of person that somebody is,
# nor what the happy person is.

OBJECT_CHOICES_KINDS = ("kind",)
"""What a class must have for "what kind of": the second part of such a row."""
_ALL: tuple[str, ...] = ()

OBJECT_CHOICES_ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("{Is} {x.the} in the picture {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", OBJECT_CHOICES_KINDS),
    ("What would you call {x.the} in this image, {choices}?", _ALL),
    ("{Does} {x.the} look like {choices}?", _ALL),
    ("Would you call {x.the} {choices}?", _ALL),
    ("What kind of {x.kind} {is} in the photo, {choices}?", OBJECT_CHOICES_KINDS),
    ("What sort of {x.kind} {is} in the image, {choices}?", OBJECT_CHOICES_KINDS),
    ("Which type of {x.kind} do you see in the picture, {choices}?", OBJECT_CHOICES_KINDS),
)

OBJECT_CHOICES_RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("In this picture, {is} {x.the} {choices}?", _ALL),
    ("Judging by the photo, {is} {x.the} {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", OBJECT_CHOICES_KINDS),
    ("{Does} {x.the} look like {choices}?", _ALL),
    ("What would you call {x.the}, {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
)

# Relations of a that-clause also fit the kind asked for: "what kind of animal is on the grass".
OBJECT_CHOICES_CLAUSE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{Is} {x.the} {choices}?", _ALL),
    ("In this picture, {is} {x.the} {choices}?", _ALL),
    ("What {is} {x.the}, {choices}?", OBJECT_CHOICES_KINDS),
    ("What would you call {x.the}, {choices}?", _ALL),
    ("{Does} {x.the} appear to be {choices}?", _ALL),
    ("Would you say that {x.the} {is} {choices}?", _ALL),
    ("What sort of {x.kind} {is} {x.where}, {choices}?", OBJECT_CHOICES_KINDS),
    ("In the photo, what type of {x.kind} {is} {x.where}, {choices}?", OBJECT_CHOICES_KINDS),
)


# Which of several values an attribute of a thing has (CARETS' Q6): its color, "red or blue".
#
# Every text says what it asks for in the words of certain categories, or in words that fit all of them. A category is
# given by the noun that it is asked with ("color"); one that no list names here is asked in the general words.

MATERIAL_ADJECTIVES = frozenset(("wooden", "metallic"))
"""Materials that nothing is "made of"."""

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

ATTRIBUTE_CHOICES_ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
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

ATTRIBUTE_CHOICES_RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
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


# Which of several things somebody is doing (CARETS' Q7): "walking or sitting".

DOING: Mapping[str, str] = MappingProxyType(
    {"pose": "in", "sport": "doing", "activity": "engaged in", "action": "doing"},
)
"""The verb that goes with a category: "what pose is the man in", "which sport is he doing"."""

_ACTIONS = tuple(DOING)

ACTION_CHOICES_ALONE: tuple[tuple[str, tuple[str, ...]], ...] = (
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
ACTION_CHOICES_RELATED: tuple[tuple[str, tuple[str, ...]], ...] = (
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
