"""Whether there are both of two things (CARETS' Q2), each question with the one that has the opposite answer.

The opposite of "both" is that one of them, or both, are not there: "either no cup or no ball", as the release has it.
The sentence as a whole is never denied: "is there not both" is often said to ask for a yes, and "unable to see both"
may mean neither. The verb agrees with the nearer thing.
"""

from __future__ import annotations

ALONE: tuple[tuple[str, str], ...] = (
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
