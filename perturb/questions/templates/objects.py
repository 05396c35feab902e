"""Whether there is something in the image (CARETS' Q1), each question with the one that has the opposite answer."""

from __future__ import annotations

ALONE: tuple[tuple[str, str], ...] = (
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

# What the image is stands in front or is left out where it might be taken for a part of the relation: "a man holding
# the cup anywhere", "the table visible in the photo".
RELATED: tuple[tuple[str, str], ...] = (
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
