"""Whether there is one of two things, or both (CARETS' Q3), each question with the one that has the opposite answer.

"Either" stands in each, since otherwise the question might be heard as asking which of the two it is. The opposite
denies both operands. The verb agrees with the nearer thing.
"""

from __future__ import annotations

ALONE: tuple[tuple[str, str], ...] = (
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
