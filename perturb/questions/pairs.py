"""A question and its perturbed form, with what made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from vlgate.perturb.questions.drafts import Kind
from vlgate.perturb.scene_graph import Box, SceneGraph

Test = Literal[
    "rephrase-inv",
    "order-inv",
    "ontological-inv",
    "visual-inv",
    "negation-dir",
    "antonym-dir",
    "mirror-inv",
    "occlusion-dir",
]
TESTS: tuple[Test, ...] = (
    "rephrase-inv",
    "order-inv",
    "ontological-inv",
    "visual-inv",
    "negation-dir",
    "antonym-dir",
)
"""The six tests of CARETS (section 3)."""
BEYOND: tuple[Test, ...] = ("mirror-inv", "occlusion-dir")
"""Two more: left and right in the mirrored picture, and the object asked about covered, where the answer must go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPair:
    """Two questions about one picture, or one question about a picture and its perturbed form.

    ``questions``, ``choices`` and ``answers`` hold the original's and the perturbed one's. ``picture`` names the
    perturbation of the second picture, or of the first where ``reverse``; ``foreground`` holds the boxes that it keeps
    or covers, in the graph's pixels. They are empty where the picture stays, or is perturbed as a whole.

    ``rule`` says what made the second question from the first, and ``objects`` which objects of the graph the nouns of
    the first stand for, in the order of the text: their ids, None for what is not in the picture. ``tags`` are the
    slices that the paper reports (Tables 2 to 4, 18).
    """

    id: str
    test: Test
    kind: Kind
    graph: SceneGraph
    questions: tuple[str, str]
    choices: tuple[tuple[str, ...], tuple[str, ...]]
    answers: tuple[str, str]
    rule: str
    objects: tuple[str | None, ...]
    tags: Mapping[str, str]
    picture: str = ""
    foreground: tuple[Box, ...] = ()
    reverse: bool = False
