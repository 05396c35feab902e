"""The search for the smallest change that breaks a case, among all changes and among edits of drawn scenes."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from builders import noise, pair_case, tabled, task_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vlgate.errors import MissingImageError
from vlgate.fixtures.reader.defects import centre_only
from vlgate.fixtures.reader.reader import Faculties, Reader
from vlgate.fixtures.scenes.draw import Drawing
from vlgate.fixtures.scenes.graph import PlacedObject, graph_of
from vlgate.probes.shrink.moves import IMAGE_MOVES, perturbed
from vlgate.probes.shrink.record import Cause, cause_of, clusters, recorded, says
from vlgate.probes.shrink.scenes import scene_edits
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import space
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Read

SEEN = noise(1, (40, 30))
NESTED = [HealthCheck.nested_given, HealthCheck.too_slow]  # the search is a search by hypothesis


def batch_of(requests, truths, shape="pair", ties="strict"):
    case = Case(id="1", requests=tuple(requests), truths=tuple(truths))
    return Batch(task=task_of([case], shape=shape), positions=(0,), ties=ties)


def captions():
    return batch_of([Match(image=SEEN, text=f"A {thing} in the room.") for thing in ("cup", "hat")], [True, False])


def questions(first="Is there a cup in the picture?", second="Is there no cup in the picture?"):
    asked = [Ask(image=SEEN, question=text, choices=("yes", "no")) for text in (first, second)]
    return batch_of(asked, ["yes", "no"], "questions")


class Model:
    """A model that is right until ``breaks(key, text)``; it counts its requests, and is asked none of them twice."""

    def __init__(self, breaks):
        self.breaks = breaks
        self.asked = []

    def predict(self, requests):
        requests = list(requests)
        assert not set(requests) & set(self.asked)
        self.asked += requests
        return {request: self.reply(request) for request in requests}

    def reply(self, request):
        if isinstance(request, Ask):
            denied = " no " in request.question or "unable" in request.question
            yes = denied == self.breaks(request.image.key, request.question)
            return Prediction(request=request, answer="yes" if yes else "no")
        right = ("cup" in request.text) != self.breaks(request.image.key, request.text)
        return Prediction(request=request, score=float(right))


def strength(key, kind="blur"):
    match = re.search(rf"{kind}([\d.]+)", key)
    return float(match[1]) if match else 0.0


def test_a_model_that_breaks_from_a_blur_of_two_is_found_with_two_unless_the_calls_end():
    found = smallest_change(captions(), Model(lambda key, _: strength(key) >= 2.0), budget=200)
    assert (found.ending, found.find.says, found.note) == ("broken", "blur with sigma 2", "")
    assert found.find.distance == pytest.approx(2 / 12)
    assert not found.find.verdict.right
    assert [reply.request.image.key for reply in found.find.verdict.predictions] == ["1.jpg#blur2"] * 2
    hurried = smallest_change(captions(), Model(lambda key, _: strength(key) >= 2.0), budget=20)
    assert hurried.ending == "broken"
    assert hurried.find.moves[0].strength > 2.0
    assert "20 calls were used" in hurried.note


@pytest.mark.slow
@settings(max_examples=20, suppress_health_check=NESTED)
@given(st.sampled_from(["blur", "crop", "jpeg", "turn", "contrast"]), st.integers(1, 20), st.integers(0, 3))
def test_the_threshold_of_a_single_change_is_found_exactly(kind, place, seed):
    moves = IMAGE_MOVES[kind]
    least = moves[place * len(moves) // 20 - 1]
    weak = {f"{kind}{move.strength:g}" for move in moves if move.distance < least.distance}
    model = Model(lambda key, _: kind in key and key.partition("#")[2] not in weak)
    found = smallest_change(captions(), model, budget=200, seed=seed)
    assert [(move.kind, move.strength) for move in found.find.moves] == [(kind, least.strength)]


BLUR_OR_TURN = lambda key, _: strength(key) >= 6.0 or strength(key, "turn") >= 1.5  # noqa: E731
BLUR_AND_CROP = lambda key, _: strength(key) >= 3.0 and strength(key, "crop") >= 0.02  # noqa: E731


@pytest.mark.parametrize(("make", "breaks", "says"), [
    (captions, BLUR_OR_TURN, "turned by 1.5 degrees"),
    (captions, BLUR_AND_CROP, "blur with sigma 3, and 2.0% cropped from each side"),
    (questions, lambda _, text: text.startswith("Does this photo contain a"),
     "'Is there a cup in the picture?' to 'Does this photo contain a cup?'"),
    (questions, lambda _, text: "anywhere" in text and " no " not in text, "anywhere in this photo"),
], ids=["smaller of two kinds", "two together", "one wording", "nearest wording"])  # fmt: skip
def test_the_smallest_change_that_breaks_the_case_is_kept(make, breaks, says):
    found = smallest_change(make(), Model(breaks), budget=400)
    assert says in found.find.says
    assert len(found.find.moves) == 1 + (" and " in says)


def test_a_larger_change_of_another_kind_costs_two_calls_only():
    model = Model(lambda key, _: strength(key) >= 1.0 or strength(key, "turn") >= 5.0)
    assert smallest_change(captions(), model, budget=200).find.says == "blur with sigma 1"
    turned = {request.image.key for request in model.asked if "turn" in request.image.key}
    assert turned == {"1.jpg#turn10", "1.jpg#turn0.5"}  # does the strongest break it, and one as near as the blur?


@pytest.mark.parametrize("budget", [2, 3, 17, 50, 200])
@pytest.mark.parametrize("make", [captions, questions])
def test_a_robust_model_is_not_broken_and_the_budget_is_never_exceeded(make, budget):
    model = Model(lambda *_: False)
    found = smallest_change(make(), model, budget=budget)
    assert (found.ending, found.find) == ("whole", None)
    assert found.calls == len(model.asked) <= budget
    assert budget - found.calls < 2  # what the next change would have cost
    assert f"{budget} calls were used" in found.note
    assert f"{found.calls} of {budget} calls" in says(found)


def test_a_case_that_is_wrong_without_a_change_is_not_searched():
    model = Model(lambda *_: True)
    found = smallest_change(captions(), model, budget=200)
    assert (found.ending, found.calls, len(model.asked)) == ("wrong", 2, 2)
    assert says(found) == "not searched, because it is wrong without a change: the caption scores 0, below the foil's 1"


@pytest.mark.parametrize(("ties", "ending"), [("strict", "wrong"), ("credit", "whole")])
def test_a_tie_counts_as_the_run_has_it(ties, ending):
    tied, model = Batch(task=captions().task, positions=(0,), ties=ties), Model(None)
    model.reply = lambda request: Prediction(request=request, score=0.5)
    assert smallest_change(tied, model, budget=9).ending == ending


@pytest.mark.parametrize(("mark", "ending"), [("", "unscored"), ("#", "skipped")])
def test_a_case_without_a_reply_is_not_searched_and_a_change_without_one_breaks_nothing(mark, ending):
    def reply(request):
        if mark in request.image.key:
            return Prediction(request=request, problem="no row for it")
        return Prediction(request=request, score=float("cup" in request.text))

    model = Model(None)
    model.reply = reply
    found = smallest_change(captions(), model, budget=9)
    assert (found.ending, "no row for it" in found.note) == (ending, ending == "skipped")


def test_a_text_without_an_image_may_be_reworded_only():
    texts = [Read(text="Is there a cup or a hat?"), Read(text="Is there a cup or a sofa?")]
    model = Model(lambda *_: False)
    model.reply = lambda request: Prediction(request=request, score=1.0 if "sofa" in request.text else 2.0)
    found = smallest_change(batch_of(texts, [True, False]), model, budget=50)
    assert (found.ending, found.note) == ("whole", "")
    assert all(isinstance(request, Read) for request in model.asked)
    assert len(model.asked) > 2


@settings(max_examples=10, suppress_health_check=NESTED)
@given(st.integers(0, 5), st.integers(20, 120))
def test_the_same_search_gives_the_same_result(seed, budget):
    def result():
        model = Model(lambda key, _: 3 < strength(key) < 9 and "turn" in key)
        return recorded(questions(), smallest_change(questions(), model, budget=budget, seed=seed))

    assert result() == result()


FOLDERS = [str(folder) for folder in Path(__file__).parents[:2]]
ELSEWHERE = """
import sys
sys.path[:0] = {folders!r}
import colorsys, json.tool, {more}
import test_smallest_change as t
model = t.Model(lambda key, _: 3 < t.strength(key) < 9 and "turn" in key)
found = t.smallest_change(t.captions(), model, budget=120)
print(found.find and found.find.says, found.calls, [r.image.key for r in model.asked])
"""


@pytest.mark.slow
def test_what_else_is_imported_does_not_change_the_search():
    """Hypothesis mixes the constants of a program's modules into what it draws."""
    modules = ("re", "vlgate.sources.published, vlgate.asking.checks.check, vlgate.fixtures.scenes.draw")
    commands = [[sys.executable, "-c", ELSEWHERE.format(folders=FOLDERS, more=more)] for more in modules]
    assert (
        len({subprocess.run(command, capture_output=True, text=True, check=True).stdout for command in commands}) == 1
    )


def test_an_exception_of_the_model_passes_through():
    def breaks(key, _):
        if "jpeg" in key:
            raise RuntimeError("no such layer")
        return False

    model = Model(breaks)
    with pytest.raises(RuntimeError, match="no such layer"):
        smallest_change(captions(), model, budget=200)
    assert len(model.asked) < 20


def test_a_missing_image_is_the_models_to_report():
    def missing():
        raise MissingImageError("1.jpg", "not found", "put it there")

    gone = LazyImage(key="1.jpg", load=missing)
    case = perturbed(batch_of([Match(image=gone, text="A cup.")], [True]).cases[0], IMAGE_MOVES["blur"][:1])
    with pytest.raises(MissingImageError, match=r"1\.jpg"):
        case.requests[0].image.load()


def test_a_batch_of_two_cases_or_a_budget_below_one_case_is_an_error():
    one = captions()
    two = Batch(task=one.task, positions=(0, 0))
    with pytest.raises(ValueError, match="one case, found 2"):
        smallest_change(two, Model(lambda *_: False), budget=9)
    with pytest.raises(ValueError, match="budget=1: expected at least 2"):
        smallest_change(one, Model(lambda *_: False), budget=1)


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


@tabled
def test_a_thing_is_edited_only_if_the_texts_stay_as_true(caption, foil, acts):
    things = (CUP if "larger" not in caption else replace(CUP, side=52), BALL)
    edits = directions(case_of(caption, foil, *things), about="cup")
    assert {moves[0].kind.split()[0] for moves in edits} == set(acts.split())


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
        sizes = [edit.distance for edit in direction]
        assert sizes == sorted(sizes)
        assert 0 < sizes[0] <= sizes[-1] <= 1
        for edit in direction:
            objects = edit.redraw(graph)["objects"]
            for thing in objects.values():
                assert min(thing["x"], thing["y"]) >= 4
                assert max(thing["x"] + thing["w"], thing["y"] + thing["h"]) <= 220
            if len(objects) == 2:
                upper, lower = objects["0"], objects["1"]
                beside = (lower["x"] - upper["x"] - upper["w"], upper["x"] - lower["x"] - lower["w"])
                assert max(lower["y"] - upper["y"] - upper["h"], *beside) >= 8


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
