"""Which objects of a drawn scene decide a case: those without which its texts would say something else.

The reader evaluates each text on the scene graph, with and without each object. Nothing of this is shown to a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vlgate.explaining.regions import Box
from vlgate.fixtures.reader.forms import Choice
from vlgate.fixtures.reader.reading import Reading, UnreadableError
from vlgate.fixtures.reader.seeing import view_of, without
from vlgate.fixtures.reader.truth import Looking
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.types import Ask, Case, LazyImage, Read

_Truth = bool | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    """The boxes of the objects of an image, and whether each of them decides."""

    boxes: tuple[Box, ...]
    decides: tuple[bool, ...]

    @property
    def deciding(self) -> tuple[Box, ...]:
        """The boxes of the objects that decide."""
        return tuple(box for box, decides in zip(self.boxes, self.decides, strict=True) if decides)


def deciding(case: Case, image: LazyImage, reading: Reading) -> Deciding | None:
    """Return which objects of an image decide a case.

    An object decides if one of the case's texts about this image is true with it and false without it, or the other way
    round, or if a question has another answer without it.

    Args:
        case: the case.
        image: one of its images.
        reading: what reads the texts; each text is read once.

    Returns: the objects; None if the image is not drawn, a text cannot be read, or no single object decides: there is
        none in "There are no dogs", and none of two cups decides "There is a cup".
    """
    view = view_of(image)
    if view is None or not view.scene.width or not view.scene.height:
        return None
    texts = [
        one.question if isinstance(one, Ask) else one.text
        for one in case.requests
        if not isinstance(one, Read) and one.image == image
    ]
    try:
        whole = _said(view.scene, texts, reading)
        decides = tuple(_said(_less(view.scene, one), texts, reading) != whole for one in view.scene.objects.values())
    except UnreadableError:
        return None
    if not any(decides):
        return None
    size = (view.scene.width, view.scene.height)
    return Deciding(boxes=tuple(_share(one, size) for one in view.scene.objects.values()), decides=decides)


def _said(scene: SceneGraph, texts: Sequence[str], reading: Reading) -> list[_Truth]:
    looking = Looking(scene)
    found: list[_Truth] = []
    for text in texts:
        form = reading.of(text)
        if isinstance(form, Choice):
            found.append(tuple(answer for answer, said in form.options if looking.holds(said)))
        else:
            found.append(looking.holds(form))
    return found


def _less(scene: SceneGraph, one: SceneObject) -> SceneGraph:
    return without(scene, lambda thing: thing.id != one.id)


def _share(one: SceneObject, size: tuple[int, int]) -> Box:
    box, (width, height) = one.box, size
    return (box.x / width, box.y / height, (box.x + box.w) / width, (box.y + box.h) / height)
