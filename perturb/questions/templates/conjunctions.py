"""Whether there are both of two things (CARETS' Q2), each question with the one that has the opposite answer.

The opposite of "both" is that one of them, or both, are not there. "Is there not both" is left out, since it is often
said to ask for a yes, and so is "unable to see both", which may mean neither. The verb agrees with the nearer thing.
"""

from __future__ import annotations

ALONE: tuple[tuple[str, str], ...] = (
    (
        "{Is} there both {x.a} and {y.a} in the picture?",
        "Is it false that there {is} both {x.a} and {y.a} in the picture?",
    ),
    (
        "Would it be correct to say that there {is} both {x.a} and {y.a} in this photo?",
        "Would it be incorrect to say that there {is} both {x.a} and {y.a} in this photo?",
    ),
    (
        "In the image, {is} there both {x.a} and {y.a}?",
        "In the image, is it untrue that there {is} both {x.a} and {y.a}?",
    ),
    (
        "Do you see both {x.a} and {y.a} in the photo?",
        "Would it be false to say that you see both {x.a} and {y.a} in the photo?",
    ),
    (
        "Looking at this image, do you see both {x.a} and {y.a}?",
        "Looking at this image, would you deny that it shows both {x.a} and {y.a}?",
    ),
    (
        "Can you see {x.a} as well as {y.a} in the picture?",
        "Is it impossible to see both {x.a} and {y.a} in the picture?",
    ),
    (
        "Can you find both {x.a} and {y.a} in the photo?",
        "Is it impossible to find both {x.a} and {y.a} in the photo?",
    ),
    (
        "Can both {x.a} and {y.a} be seen in this image?",
        "Is it untrue that both {x.a} and {y.a} can be seen in this image?",
    ),
    (
        "Are both {x.a} and {y.a} visible in the photo?",
        "Is it untrue that both {x.a} and {y.a} are visible in the photo?",
    ),
    (
        "Do both {x.a} and {y.a} appear in the picture?",
        "Is it false that both {x.a} and {y.a} appear in the picture?",
    ),
    (
        "Does the picture show both {x.a} and {y.a}?",
        "Is it false that the picture shows both {x.a} and {y.a}?",
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
        "Does it seem untrue that there {is} both {x.a} and {y.a} in this photo?",
    ),
    (
        "Would you say there {is} both {x.a} and {y.a} in this picture?",
        "Would you deny that there {is} both {x.a} and {y.a} in this picture?",
    ),
    (
        "Is it true that there {is} both {x.a} and {y.a} in the image?",
        "Is it untrue that there {is} both {x.a} and {y.a} in the image?",
    ),
    (
        "Would it be right to say that the image shows both {x.a} and {y.a}?",
        "Would it be wrong to say that the image shows both {x.a} and {y.a}?",
    ),
    (
        "Do you agree that the photo shows both {x.a} and {y.a}?",
        "Do you disagree that the photo shows both {x.a} and {y.a}?",
    ),
)
