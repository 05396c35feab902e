"""Covered regions of photographs, and other wordings of statements."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from vlgate.fixtures.reader.reader import Reader
from vlgate.perturb.images.pixels import IMAGENET_MEAN
from vlgate.perturb.images.registry import perturbed as perturbed_image
from vlgate.perturb.scene_graph import Box
from vlgate.probes.shrink.moves import UNKNOWN, perturbed
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import restated, space
from vlgate.types import Ask, Batch, Case, LazyImage, Match, Prediction, Task

PHOTO = Image.new("RGB", (100, 80), (10, 200, 30))
IMAGE = LazyImage(key="1.jpg", load=lambda: PHOTO)
DOG = (10.0, 10.0, 30.0, 30.0)


def case_of(text="A dog in the room.", foil="A cat in the room.", boxes=(DOG,)):
    requests = (Match(image=IMAGE, text=text), Match(image=IMAGE, text=foil))
    named = {"1.jpg": boxes} if boxes else {}
    return Case(id="1", requests=requests, truths=(True, False), named=named)


def covers(case):
    return [move for moves in space(case, ("region",)).parts for move in moves]


def test_no_region_touches_what_the_texts_name():
    found = covers(case_of())
    assert len(found) > 50
    for move in found:
        painted = np.asarray(perturbed(case_of(), (move,)).requests[0].image.load())
        assert (painted[10:40, 10:40] == (10, 200, 30)).all()
        share = (painted != (10, 200, 30)).any(axis=2).mean()
        assert 0 < share <= 0.26
        assert move.distance == pytest.approx(share * 4, abs=0.08)


def test_without_boxes_nothing_is_covered_and_the_search_says_so():
    case = case_of(boxes=())
    assert covers(case) == []
    assert space(case, ("region",)).no_parts == UNKNOWN


@pytest.mark.parametrize("text", ["Two dogs.", "A dog in the corner.", "Many dogs."])
def test_texts_about_numbers_and_edges_exclude_regions(text):
    assert covers(case_of(text)) == []


def test_the_boxes_of_a_perturbed_copy_are_known():
    copy = perturbed_image(IMAGE, "blur6", [Box(x=20, y=20, w=60, h=60)], size=(200, 160))
    requests = tuple(Ask(image=image, question="Is there a dog?", choices=("yes", "no")) for image in (IMAGE, copy))
    case = Case(id="1", requests=requests, truths=("yes", "yes"))
    found = covers(case)
    assert found
    for move in found:
        one, other = perturbed(case, (move,)).requests
        painted = np.asarray(one.image.load())
        assert (painted[10:40, 10:40] == (10, 200, 30)).all()
        assert other.image == copy


def test_the_smallest_region_that_breaks_a_model_is_found():
    class Model:
        """Wrong if the lower right corner is covered."""

        def predict(self, requests):
            def reply(one):
                """Score one pair."""
                seen = np.asarray(one.image.load())[78, 98]
                wrong = abs(seen - np.array(IMAGENET_MEAN)).max() < 2
                return Prediction(request=one, score=float(("dog" in one.text) != wrong))

            return {request: reply(request) for request in requests}

    task = Task(id="t/x", capability="foil", shape="pair", cases=(case_of(),))
    batch = Batch(task=task, positions=(0,))
    found = smallest_change(batch, Model(), budget=200, families=("region",))
    least = [move.distance for move in covers(case_of()) if _covers_corner(move)]
    assert found.find.distance == min(least)
    assert found.find.moves[0].about == "a region that the texts do not name"


def _covers_corner(move):
    return abs(np.asarray(perturbed(case_of(), (move,)).requests[0].image.load())[78, 98, 1].astype(int) - 116) < 2


@pytest.mark.parametrize(
    "text",
    [
        "The red cup is above the ball.",
        "The cup is to the left of the ball.",
        "There is no cup.",
        "There are exactly three cups.",
        "There is a cup and a ball in the picture.",
    ],
)
def test_other_wordings_of_a_statement_are_true_of_the_same_scenes(text):
    from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs

    others = list(restated(text))
    assert others
    assert text not in others
    reader = Reader()
    for graph in world_graphs(0, 40):
        image = image_of(graph)
        scores = reader.match([Match(image=image, text=one) for one in (text, *others)])
        assert set(scores) in ({0.0}, {1.0})


def test_a_picture_is_also_an_image():
    assert list(restated("A picture of a cup.")) == ["An image of a cup."]


@pytest.mark.parametrize(
    "text", ["The cup is in front of the ball.", "A dog runs.", "The cup is above the ball and red."]
)
def test_a_statement_whose_meaning_is_not_certain_is_not_restated(text):
    assert list(restated(text)) == []
