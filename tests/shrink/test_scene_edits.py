"""Edits of drawn scenes: what is admissible, what they cost, and that the smallest one is found."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from builders import pair_case, task_of

from vlgate.fixtures.reader.defects import centre_only
from vlgate.fixtures.reader.reader import Faculties, Reader
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import PlacedObject, graph_of
from vlgate.probes.shrink.moves import perturbed
from vlgate.probes.shrink.record import Cause, cause_of, clusters, recorded
from vlgate.probes.shrink.scenes import scene_edits
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import space
from vlgate.types import Batch, LazyImage, Prediction

CUP = PlacedObject(kind="cup", colour="red", centre=(100, 60), side=46)
BALL = PlacedObject(kind="ball", colour="blue", centre=(100, 150), side=46)


def case_of(caption, foil, *things):
    drawing = Drawing(graph=graph_of(things or (CUP, BALL), "paper"))
    return pair_case(1, caption, foil, LazyImage(key="1", load=drawing))


CUP_NOT_DUCK = case_of("There is a cup.", "There is a duck.")
ABOVE_NOT_BELOW = case_of("The cup is above the ball.", "The cup is below the ball.")


def cup_at(x, y=112):
    return case_of("There is a cup.", "There is a duck.", replace(CUP, centre=(x, y)), replace(BALL, centre=(180, 40)))


def search(case, model, budget, family="scene", seed=0):
    batch = Batch(task=task_of([case], "t/relations"), positions=(0,))
    return batch, smallest_change(batch, model, budget=budget, seed=seed, families=family.split())


def directions(case, start="", about=""):
    """The moves of each direction whose kind and sentence have these words."""
    parts = space(case, ("scene",)).parts
    return [moves for moves in parts if moves[0].kind.startswith(start) and about in moves[0].says]


class Predicts:
    """A reader as a model; it counts what it is asked."""

    def __init__(self, **faculties):
        self.reader, self.calls = Reader(Faculties(**faculties)), 0

    def predict(self, requests):
        asked = list(requests)
        self.calls += len(asked)
        scores = self.reader.match(asked)
        return {one: Prediction(request=one, score=float(score)) for one, score in zip(asked, scores, strict=True)}


def strongest(case, kind):
    return max((move.strength for moves in directions(case, kind) for move in moves), default=0)


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
    things = (CUP if "larger" not in caption else replace(CUP, side=52), BALL)
    kinds = {moves[0].kind.split()[0] for moves in directions(case_of(caption, foil, *things), about="cup")}
    assert kinds - {"recolour"} == acts_of_the_cup - {"recolour"}
    assert ("recolour" in kinds) == ("recolour" in acts_of_the_cup or "larger" in caption)


def test_a_thing_moves_only_as_far_as_the_relation_stays_clear():
    most = strongest(ABOVE_NOT_BELOW, "move right 0")
    assert 0 < most <= 45  # half of the 90 pixels between the two, so that "above" is clear
    assert most < strongest(CUP_NOT_DUCK, "move right 0")


def test_the_other_thing_of_a_comparison_stays():
    things = replace(CUP, colour="green", centre=(100, 150)), replace(CUP, side=70), replace(BALL, centre=(190, 190))
    removed = directions(case_of("The red cup is large.", "The red cup is small.", *things), "remove")
    assert [moves[0].says for moves in removed] == ["the blue ball taken away"]


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
    [move] = [one for moves in directions(CUP_NOT_DUCK) for one in moves if one.says == "the red cup turned blue"]
    image, changed = (one.requests[0].image for one in (CUP_NOT_DUCK, perturbed(CUP_NOT_DUCK, (move,))))
    assert changed.load.graph["objects"]["0"]["attributes"][0] == "blue"
    assert changed.load().tobytes() != image.load().tobytes()
    assert image.load.graph["objects"]["0"]["attributes"][0] == "red"


def exhaustive(case, model):
    """The least size of all single edits that break the case."""
    found = []
    for moves in directions(case):
        for move in moves:
            true, false = model.predict(perturbed(case, (move,)).requests).values()
            found += [move.distance] if true.score <= false.score else []
    return min(found)


@pytest.mark.parametrize("case", [*map(cup_at, (60, 70, 85, 100))])
def test_the_smallest_edit_is_that_of_an_exhaustive_search(case):
    least = exhaustive(case, Predicts(scene=centre_only))
    _, found = search(case, Predicts(scene=centre_only), 3000)
    assert found.find.distance == pytest.approx(least, rel=1e-9)
    _, usual = search(case, Predicts(scene=centre_only), 200)
    assert usual.calls <= 200
    assert usual.find.distance <= 1.1 * least


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
    assert {"crop", "turn"} <= {moves[0].kind for moves in space(CUP_NOT_DUCK, ("image",)).images}
    assert search(CUP_NOT_DUCK, FailsIfCroppedAndTurned(), 400, "image")[1].ending == "whole"


def test_a_certificate_has_the_margins_the_seed_and_the_cause():
    said = recorded(*search(cup_at(60), Predicts(scene=centre_only), 200, seed=7))
    assert (said.margin, said.margin_changed, said.seed, said.shape) == (1.0, 0.0, 7, "pair")
    assert said.cause == {"edit": "moved", "what": "a thing that the texts name", "faculty": "relations"}
    assert said.steps[0]["family"] == "scene"
    assert "to the left" in said.steps[0]["says"]


def test_the_oracle_is_not_broken_by_any_edit():
    _, found = search(ABOVE_NOT_BELOW, Predicts(), 400, "scene wording")
    assert found.ending == "whole"
    assert found.changes > 100


def test_finds_of_one_cause_are_counted_together():
    moves = [moves[0] for moves in directions(CUP_NOT_DUCK, about="cup")]
    moved = [cause_of((move,), "scenes/foil-it") for move in moves if move.kind.startswith("move")]
    expected = Cause(edit="moved", what="a thing that the texts name", faculty="foil-it")
    assert clusters([*moved, Cause(edit="blur", what="the whole image", faculty="foil-it")])[0] == (expected, 4)
    assert cause_of(moves[:2] + moves[-1:], "scenes/foil-it").edit == "several"
