"""The objects of a drawn scene that decide a case, and whether explanations of right answers point at them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from vlgate.asking.items import images_of_case
from vlgate.fixtures.reader.forms import Choice
from vlgate.fixtures.reader.reader import Looking
from vlgate.fixtures.reader.reading import Reading, UnreadableError
from vlgate.fixtures.reader.seeing import view_of, without
from vlgate.perturb.scene_graph import Box as GraphBox
from vlgate.perturb.scene_graph import SceneGraph, SceneObject
from vlgate.probes.explaining.explain import text_swaps, texts_at
from vlgate.probes.explaining.rates import Hit, hit
from vlgate.probes.explaining.record import Explanation
from vlgate.types import Box, Case, LazyImage, Match, Shape, images_of, text_of

# The reader evaluates each text on the scene graph, with and without each object. Nothing of this is shown to a model.

_Truth = bool | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deciding:
    boxes: tuple[Box, ...]
    decides: tuple[bool, ...]


def deciding(case: Case, image: LazyImage, reading: Reading) -> Deciding | None:
    # An object decides if one of the case's texts about this image is true with it and false without it, or the other
    # way round, or if a question has another answer without it.
    # None decides in "There are no dogs", and none of two cups "There is a cup".
    view = view_of(image)
    if view is None:
        return None
    scene = view.scene

    things = scene.objects.values()
    edited = (without(scene, lambda thing, name=one.id: thing.id != name) for one in things)  # type: ignore[misc]
    return _deciding(scene, edited, [thing.box for thing in things], _texts(case, image), reading)


def deciding_exchange(case: Case, image: LazyImage, other: LazyImage, reading: Reading) -> Deciding | None:
    # The places are those of the things of both images. An exchange in a place gives the image those things of the
    # other image that have their middle there, for its own. It decides if one of the case's texts about the image is
    # then true in place of false, or false in place of true, or if a question has another answer.
    views = view_of(image), view_of(other)
    if views[0] is None or views[1] is None:
        return None
    own, others = views[0].scene, views[1].scene
    if (own.width, own.height) != (others.width, others.height):
        return None
    boxes = tuple(dict.fromkeys(object_.box for scene in (own, others) for object_ in scene.objects.values()))
    return _deciding(own, (_exchanged(own, others, box) for box in boxes), boxes, _texts(case, image), reading)


def _deciding(
    scene: SceneGraph, edited: Iterable[SceneGraph], boxes: Sequence[GraphBox], texts: Sequence[str], reading: Reading
) -> Deciding | None:
    width, height = scene.width, scene.height
    if not width or not height:
        return None
    try:
        whole = _said(scene, texts, reading)
        decides = tuple(_said(one, texts, reading) != whole for one in edited)
    except UnreadableError:
        return None
    shares = tuple((box.x / width, box.y / height, (box.x + box.w) / width, (box.y + box.h) / height) for box in boxes)
    return Deciding(boxes=shares, decides=decides) if any(decides) else None


def deciding_words(case: Case, texts: Mapping[str, str], reading: Reading) -> bool | None:
    """Return whether other texts, by the old ones, would say something else; None if one cannot be read."""
    try:
        for image in images_of_case(case):
            view = view_of(image)
            if view is None:
                return None
            old = _texts(case, image)
            if _said(view.scene, old, reading) != _said(view.scene, [texts.get(one, one) for one in old], reading):
                return True
    except UnreadableError:
        return None
    return False


def _texts(case: Case, image: LazyImage) -> list[str]:
    return [text_of(request) for request in case.requests if image in images_of(request)]


def _exchanged(own: SceneGraph, others: SceneGraph, box: GraphBox) -> SceneGraph:
    def there(thing: SceneObject) -> bool:
        across, down = thing.box.x + thing.box.w / 2, thing.box.y + thing.box.h / 2
        return box.x <= across <= box.x + box.w and box.y <= down <= box.y + box.h

    kept = without(own, lambda thing: not there(thing))
    given = without(others, there)
    objects = dict(kept.objects)
    for name, thing in given.objects.items():
        links = tuple(replace(link, object=f"other {link.object}") for link in thing.relations)
        objects[f"other {name}"] = replace(thing, id=f"other {name}", relations=links)
    return replace(kept, objects=objects)


def _said(scene: SceneGraph, texts: Sequence[str], reading: Reading) -> list[_Truth]:
    looking = Looking(scene)
    _truths: list[_Truth] = []
    for text in texts:
        form = reading.of(text)
        if isinstance(form, Choice):
            _truths.append(tuple(answer for answer, said in form.options if looking.holds(said)))
        else:
            _truths.append(looking.holds(form))
    return _truths


def hits(found: Explanation, case: Case, shape: Shape, reading: Reading) -> Iterator[tuple[str, Hit]]:
    # Maps of attention count for texts that are true, or for the first text of an image about which none is.
    images = images_of_case(case)
    for which, image in enumerate(images):
        whole = deciding(case, image, reading)
        between = deciding_exchange(case, image, images[1 - which], reading) if len(images) == 2 else None
        for finding in found.findings:
            known = between if finding.method == "exchange between images" else whole
            if known is not None:
                for method, boxes, effects in finding.of_image(which):
                    yield method, hit(boxes, effects, known.boxes, known.decides)
        if whole is not None:
            yield from _attended(found, case, which, whole)
    yield from _words(found, case, shape, reading)


def _words(explanation: Explanation, case: Case, shape: Shape, reading: Reading) -> Iterator[tuple[str, Hit]]:
    # A case counts if its exchanged texts can be read, and some of them say something else and some do not.
    swapped = [finding for finding in explanation.findings if finding.method == "exchange between texts"]
    effects = {one.word: one.effect for finding in swapped for one in finding.measured if one.effect is not None}
    told = {
        swap.words: deciding_words(case, dict(zip(texts_at(case, places), swap.texts, strict=True)), reading)
        for places, swap in text_swaps(case, shape)
    }
    if set(told.values()) != {True, False} or set(told) - set(effects):
        return
    strongest = max(told, key=lambda words: effects[words])
    right = effects[strongest] > 0 and bool(told[strongest])
    chance = sum(map(bool, told.values())) / len(told)
    chances = {"chance_touches": chance, "chance_points": chance, "chance_leads": chance}
    yield "exchange between texts", Hit(touches=right, points=right, leads=right, **chances)


def _attended(explanation: Explanation, case: Case, which: int, known: Deciding) -> Iterator[tuple[str, Hit]]:
    pairs = zip(case.requests, case.truths, strict=True)
    true = {request.text for request, truth in pairs if isinstance(request, Match) and truth}
    shown = [one for one in explanation.attended if one.image == which]
    for method in dict.fromkeys(one.method for one in shown):
        seen = [one for one in shown if one.method == method]
        one = next((one for one in seen if one.text in true), seen[0])
        yield one.method, hit(one.boxes, np.array(one.weights), known.boxes, known.decides)
