"""The records of the inputs. A scene graph is ``vlgate.perturb.scene_graph.SceneGraph``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    """A caption of an image, and the image's other captions in the same files.

    ``origin`` is the file and record, such as ``captions_val2017.json, annotation 38``.
    """

    id: str
    image: str
    text: str
    origin: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question about an image and its right answer; ``wrong`` are wrong answers that the file offers beside it."""

    id: str
    image: str
    question: str
    answer: str
    origin: str
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """A caption of an image, and questions about the image with their answers, in the order of the dialog."""

    id: str
    image: str
    caption: str
    turns: tuple[tuple[str, str], ...]
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A verb and who or what fills its roles in an image, as in SWiG: ``{"agent": "man", "place": "gym"}``.

    ``template`` is imSitu's sentence of the verb ("the AGENT exercises ... at PLACE"), and ``similar`` the name of its
    frame in FrameNet, which verbs that say nearly the same share; both are empty if the files lack them.
    ``boxes`` are [x, y, w, h] by role, for the roles that can be seen. ``size`` is the image's width and height.
    """

    id: str
    image: str
    verb: str
    roles: Mapping[str, str]
    origin: str
    template: str = ""
    similar: str = ""
    boxes: Mapping[str, tuple[float, float, float, float]] = field(default_factory=dict)
    size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """What a person does to a thing, in HICO's words: "sit_on", "dining_table".

    ``person`` and ``place`` are the left, upper, right and lower edge of the boxes of the person and of the thing.
    """

    verb: str
    thing: str
    person: tuple[float, float, float, float]
    place: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interactions:
    """What persons do to things in an image, as in HAKE. ``size`` is the image's width and height.

    Without ``boxed``, the boxes say nothing: the file only lists what is done in the image.
    """

    id: str
    image: str
    done: tuple[Interaction, ...]
    origin: str
    size: tuple[int, int] | None = None
    boxed: bool = True
