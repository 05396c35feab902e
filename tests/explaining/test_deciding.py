"""Which objects decide, and whether an explanation points at them."""

import numpy as np
import pytest

from vlgate.fixtures.reader.reading import Reading
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.probes.explaining.deciding import deciding, deciding_exchange, deciding_words, hits
from vlgate.probes.explaining.rates import beside, hit, measured
from vlgate.probes.explaining.record import Explanation, Finding, Part
from vlgate.types import Ask, Attended, Case, LazyImage, Match

PLACES = {"cup": (20, "red"), "dog": (100, "brown"), "ball": (170, "blue")}


def scene(key, *things):
    """A drawn image of things, each with its left edge and colour."""
    objects = {
        str(number): {"name": name, "x": left, "y": 80, "w": 40, "h": 40, "attributes": [colour], "relations": []}
        for number, (name, (left, colour)) in enumerate(things)
    }
    return LazyImage(key=key, load=Drawing(graph={"width": 224, "height": 224, "objects": objects}))


IMAGE = scene("scene", *PLACES.items())


def deciders(*texts):
    """The numbers of the things that decide."""
    asked = [Ask(image=IMAGE, question=t) if t.endswith("?") else Match(image=IMAGE, text=t) for t in texts]
    found = deciding(Case(id="1", requests=tuple(asked), truths=(True,) * len(asked)), IMAGE, Reading())
    return None if found is None else [index for index, decide in enumerate(found.decides) if decide]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("There is a cup.", "There is no cup."), [0]),
        (("There is a dog to the left of a ball.", "There is a dog to the right of a ball."), [1, 2]),
        (("There is a blue ball.", "There is a green ball."), [2]),
        (("Is there a dog?",), [1]),
        (("There are no cats.", "There are some cats."), None),
        (("Colourless green ideas sleep.",), None),
    ],
)
def test_the_things_without_which_a_text_would_say_something_else_decide(texts, expected):
    assert deciders(*texts) == expected


def test_no_single_twin_decides():
    image = scene("twins", *PLACES.items(), ("cup", (60, "red")))
    asked = (Match(image=image, text="There is a cup."),)
    assert deciding(Case(id="1", requests=asked, truths=(True,)), image, Reading()) is None


def test_a_photograph_has_no_graph_to_decide_by():
    image = LazyImage(key="photo.jpg", load=lambda: None)
    asked = (Match(image=image, text="There is a cup."),)
    assert deciding(Case(id="1", requests=asked, truths=(True,)), image, Reading()) is None


def coloured(key, cup, dog):
    return scene(key, ("cup", (20, cup)), ("dog", (120, dog)))


@pytest.mark.parametrize(
    ("other", "text", "expected"),
    [
        (("blue", "brown"), "There is a red cup.", [0]),
        (("blue", "brown"), "There is a cup.", None),
        (("red", "blue"), "There is a red cup and a brown dog.", [1]),
        (("red", "brown"), "There is a red cup.", None),
    ],
)
def test_an_exchange_decides_where_the_other_image_makes_the_text_say_something_else(other, text, expected):
    images = coloured("one", "red", "brown"), coloured("other", *other)
    case = Case(id="1", requests=tuple(Match(image=image, text=text) for image in images), truths=(True, False))
    found = deciding_exchange(case, images[0], images[1], Reading())
    assert (None if found is None else [index for index, decide in enumerate(found.decides) if decide]) == expected


@pytest.mark.parametrize(
    ("new", "expected"), [("There is a dog.", False), ("There is a cat.", True), ("Colourless ideas.", None)]
)
def test_words_decide_if_the_new_text_says_something_else(new, expected):
    case = Case(id="1", requests=(Match(image=IMAGE, text="There is a cup."),), truths=(True,))
    assert deciding_words(case, {"There is a cup.": new}, Reading()) is expected


LEFT, RIGHT = (0.0, 0.0, 0.4, 1.0), (0.6, 0.0, 1.0, 1.0)


@pytest.mark.parametrize(("effects", "expected"), [([1.0, 0.1], True), ([0.1, 1.0], False), ([0.0, -1.0], False)])
def test_a_hit_is_the_largest_effect_on_the_thing_that_decides(effects, expected):
    found = hit([LEFT, RIGHT], np.array(effects), [LEFT, RIGHT], [True, False])
    assert (found.touches, found.points, found.leads) == (expected,) * 3
    assert (found.chance_touches, found.chance_points, found.chance_leads) == (0.5, 0.5, 0.5)


def planted(effects, attended):
    """An explanation with these effects of hiding the three things, and the same weights for two texts."""
    boxes = [(left / 224, 80 / 224, (left + 40) / 224, 120 / 224) for left, _ in PLACES.values()]
    parts = tuple(Part(effect=effect, box=box, image=0) for effect, box in zip(effects, boxes, strict=True))
    maps = tuple(
        Attended(method="seen", image=0, text=text, boxes=tuple(boxes), weights=tuple(weights))
        for text, weights in attended.items()
    )
    return Explanation(
        task="t", case="1", right=True, images=("scene",), texts=(), margin=1.0, graded=True, attended=maps, unseen="",
        findings=(Finding(method="hide boxes", parts=parts),), requests=0, says="",
    )  # fmt: skip


@pytest.mark.parametrize(("effects", "found"), [([0.1, 0.9, 0.2], True), ([0.9, 0.1, 0.2], False)])
def test_the_part_and_the_map_of_the_true_text_are_compared_with_the_thing_that_decides(effects, found):
    asked = (Match(image=IMAGE, text="There is a cat."), Match(image=IMAGE, text="There is a dog."))
    case = Case(id="1", requests=asked, truths=(False, True))
    maps = {"There is a cat.": [1.0, 0.0, 0.0], "There is a dog.": [0.0, 1.0, 0.0]}
    got = dict(hits(planted(effects, maps), case, "pair", Reading()))
    assert (got["hide boxes"].touches, got["hide boxes"].points, got["hide boxes"].leads) == (found,) * 3
    assert got["seen"].points
    assert got["seen"].chance_points == pytest.approx(1 / 3)


def test_the_deciding_thing_leads_in_at_least_80_percent_by_an_intervention_of_each_model():
    rates = {(one.model, one.method): one for one in measured()}
    for name in (("tiny-clip", "hide segments: the true text"), ("tiny-lxmert", "hide segments: the true text")):
        assert rates[name].leads >= 0.8
        assert rates[name].low > rates[name].chance_leads + 0.2
        assert rates[name].n >= 100


def test_each_rate_stands_beside_its_own_method():
    [one] = beside("hide windows")
    assert one.says.startswith("tiny-clip on the drawn scenes: the deciding object leads in ")
    assert beside("no such method") == ()
