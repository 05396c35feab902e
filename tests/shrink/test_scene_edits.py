"""Edits of drawn scenes: what is admissible, what they cost, and that the smallest one is found."""

from __future__ import annotations

import re

import pytest

from vlgate.fixtures.reader.defects import centre_only
from vlgate.fixtures.reader.reader import Faculties, Reader
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import PlacedObject, graph_of
from vlgate.probes.shrink.moves import perturbed
from vlgate.probes.shrink.record import Cause, cause_of, clusters, recorded
from vlgate.probes.shrink.scenes import scene_edits
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import space
from vlgate.types import Batch, Case, LazyImage, Match, Prediction, Task

CUP = PlacedObject(kind="cup", colour="red", centre=(100, 60), side=46)
BALL = PlacedObject(kind="ball", colour="blue", centre=(100, 150), side=46)


def case_of(caption, foil, *things):
    graph = graph_of(things or (CUP, BALL), "paper")
    image = LazyImage(key="1", load=Drawing(graph=graph))
    requests = (Match(image=image, text=caption), Match(image=image, text=foil))
    return Case(id="1", requests=requests, truths=(True, False))


def batch_of(case):
    task = Task(id="t/relations", capability="foil", shape="pair", cases=(case,))
    return Batch(task=task, positions=(0,))


class Predicts:
    """A reader as a model; it counts what it is asked."""

    def __init__(self, **faculties):
        self.reader, self.calls = Reader(Faculties(**faculties)), 0

    def predict(self, requests):
        asked = list(requests)
        self.calls += len(asked)
        scores = self.reader.match(asked)
        return {one: Prediction(request=one, score=float(score)) for one, score in zip(asked, scores, strict=True)}


def acts(case):
    return {(move.kind.split()[0], move.about) for moves in space(case, ("scene",)).parts for move in moves}


def strongest(case, kind):
    found = [moves for moves in space(case, ("scene",)).parts if moves[0].kind.startswith(kind)]
    return max((move.strength for moves in found for move in moves), default=0)


@pytest.mark.parametrize(
    ("caption", "foil", "acts_of_the_cup"),
    [
        ("There is a cup.", "There is a duck.", {"move", "enlarge", "reduce", "recolour"}),
        ("There is a red cup.", "There is a green cup.", {"move", "enlarge", "reduce"}),
        ("The cup is larger than the ball.", "The ball is larger than the cup.", set()),
        ("There is no duck.", "There is a duck.", {"move", "enlarge", "reduce", "recolour", "remove"}),
    ],
)
def test_a_thing_is_edited_only_if_the_texts_stay_as_true(caption, foil, acts_of_the_cup):
    things = (CUP, BALL) if "larger" not in caption else (PlacedObject(**{**_fields(CUP), "side": 52}), BALL)
    found = [moves for moves in space(case_of(caption, foil, *things), ("scene",)).parts if "cup" in moves[0].says]
    kinds = {moves[0].kind.split()[0] for moves in found}
    assert kinds - {"recolour"} == acts_of_the_cup - {"recolour"}
    assert ("recolour" in kinds) == ("recolour" in acts_of_the_cup or "larger" in caption)


def test_a_thing_moves_only_as_far_as_the_relation_stays_clear():
    case = case_of("The cup is above the ball.", "The cup is below the ball.")
    assert 0 < strongest(case, "move right 0") <= 45  # half of the 90 pixels between the two, so that "above" is clear
    assert strongest(case, "move right 0") < strongest(case_of("There is a cup.", "There is a duck."), "move right 0")


def test_the_other_thing_of_a_comparison_stays():
    small = PlacedObject(kind="cup", colour="green", centre=(100, 150), side=46)
    large = PlacedObject(kind="cup", colour="red", centre=(100, 60), side=70)
    ball = _at(BALL, (190, 190))
    found = space(case_of("The red cup is large.", "The red cup is small.", small, large, ball), ("scene",)).parts
    assert [moves[0].says for moves in found if moves[0].kind.startswith("remove")] == ["the blue ball taken away"]


def test_things_stay_whole_and_apart_and_the_sizes_of_a_direction_increase():
    graph = graph_of((CUP, BALL), "paper")
    for direction in scene_edits(graph):
        sizes = [edit.size for edit in direction]
        assert sizes == sorted(sizes)
        assert 0 < sizes[0] <= sizes[-1] <= 1
        for edit in direction:
            objects = edit.redraw(graph)["objects"]
            for object_ in objects.values():
                assert min(object_["x"], object_["y"]) >= 4
                assert max(object_["x"] + object_["w"], object_["y"] + object_["h"]) <= 220
            if len(objects) == 2:
                upper, lower = objects["0"], objects["1"]
                apart = max(
                    lower["y"] - upper["y"] - upper["h"],
                    lower["x"] - upper["x"] - upper["w"],
                    upper["x"] - lower["x"] - lower["w"],
                )
                assert apart >= 8


def test_an_edit_draws_the_image_again_and_leaves_the_case_as_it_was():
    case = case_of("There is a cup.", "There is a duck.")
    [move] = [one for moves in space(case, ("scene",)).parts for one in moves if one.says == "the red cup turned blue"]
    changed = perturbed(case, (move,)).requests[0].image
    assert changed.load.graph["objects"]["0"]["attributes"][0] == "blue"
    assert changed.load().tobytes() != case.requests[0].image.load().tobytes()
    assert case.requests[0].image.load.graph["objects"]["0"]["attributes"][0] == "red"


def exhaustive(case, model):
    """The least size of all single edits that break the case."""
    found = []
    for moves in space(case, ("scene",)).parts:
        for move in moves:
            replies = model.predict(perturbed(case, (move,)).requests)
            true, false = replies.values()
            found += [move.distance] if true.score <= false.score else []
    return min(found, default=None)


@pytest.mark.parametrize("x", [60, 70, 85, 100])
def test_the_smallest_edit_is_that_of_an_exhaustive_search(x):
    cup = PlacedObject(kind="cup", colour="red", centre=(x, 112), side=46)
    case = case_of("There is a cup.", "There is a duck.", cup, BALL if x < 0 else _at(BALL, (180, 40)))
    found = smallest_change(batch_of(case), Predicts(scene=centre_only), budget=3000, families=("scene",))
    least = exhaustive(case, Predicts(scene=centre_only))
    assert least is not None
    assert found.find.distance == pytest.approx(least, rel=1e-9)


def test_a_search_of_the_usual_budget_is_within_a_tenth_of_the_exhaustive_one():
    for x in (60, 70, 85):
        cup = PlacedObject(kind="cup", colour="red", centre=(x, 112), side=46)
        case = case_of("There is a cup.", "There is a duck.", cup, _at(BALL, (180, 40)))
        found = smallest_change(batch_of(case), Predicts(scene=centre_only), budget=200, families=("scene",))
        assert found.calls <= 200
        assert found.find.distance <= 1.1 * exhaustive(case, Predicts(scene=centre_only))


class FailsIfCroppedAndTurned(Predicts):
    """Right, but for images that are cropped and turned."""

    def predict(self, requests):
        asked = list(requests)
        wrong = [{"crop", "turn"} <= set(re.findall("[a-z]+", one.image.key.partition("#")[2])) for one in asked]
        return {
            one: Prediction(request=one, score=float((one.text == "There is a cup.") != spoilt))
            for one, spoilt in zip(asked, wrong, strict=True)
        }


def test_no_image_is_cropped_and_turned_at_once():
    case = case_of("There is a cup.", "There is a duck.")
    kinds = {moves[0].kind for moves in space(case, ("image",)).images}
    assert {"crop", "turn"} <= kinds
    found = smallest_change(batch_of(case), FailsIfCroppedAndTurned(), budget=400, families=("image",))
    assert found.ending == "whole"


def test_a_certificate_has_the_margins_the_seed_and_the_cause():
    case = case_of("There is a cup.", "There is a duck.", _at(CUP, (60, 112)), _at(BALL, (180, 40)))
    batch = batch_of(case)
    said = recorded(batch, smallest_change(batch, Predicts(scene=centre_only), budget=200, seed=7, families=("scene",)))
    assert (said.margin, said.margin_changed, said.seed, said.shape) == (1.0, 0.0, 7, "pair")
    assert said.cause == {"edit": "moved", "what": "a thing that the texts name", "faculty": "relations"}
    assert said.steps[0]["family"] == "scene"
    assert "to the left" in said.steps[0]["says"]


def test_the_oracle_is_not_broken_by_any_edit():
    case = case_of("The cup is above the ball.", "The cup is below the ball.")
    found = smallest_change(batch_of(case), Predicts(), budget=400, families=("scene", "wording"))
    assert found.ending == "whole"
    assert found.changes > 100


def test_finds_of_one_cause_are_counted_together():
    case = case_of("There is a cup.", "There is a duck.")
    moves = [moves[0] for moves in space(case, ("scene",)).parts if "cup" in moves[0].says]
    moved = [cause_of((move,), "scenes/foil-it") for move in moves if move.kind.startswith("move")]
    assert clusters([*moved, Cause(edit="blur", what="the whole image", faculty="foil-it")])[0] == (
        Cause(edit="moved", what="a thing that the texts name", faculty="foil-it"),
        4,
    )
    assert cause_of(moves[:2] + moves[-1:], "scenes/foil-it").edit == "several"


def _fields(thing):
    return {"kind": thing.kind, "colour": thing.colour, "centre": thing.centre, "side": thing.side}


def _at(thing, centre):
    return PlacedObject(**{**_fields(thing), "centre": centre})
