"""The changes that a case allows, and what they do to it: images, wordings, covered regions, statements."""

import sys

import numpy as np
import pytest
from builders import coloured, pair_case, tabled, task_of
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from vlgate.fixtures.reader.reader import Reader
from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.perturb.images.pixels import IMAGENET_MEAN
from vlgate.perturb.images.registry import perturbed as perturbed_image
from vlgate.perturb.scene_graph import Box
from vlgate.probes.shrink.moves import IMAGE_MOVES, UNKNOWN, perturbed
from vlgate.probes.shrink.search import smallest_change
from vlgate.probes.shrink.space import pipeline, restated, space
from vlgate.types import Ask, Batch, Case, LazyImage, Match, PlacedCase, Prediction

PIXELS = Image.fromarray(np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8))
IMAGE = LazyImage(key="1.jpg", load=lambda: PIXELS, where="data/1.jpg")
ALL = ["blur", "crop", "dark", "bright", "contrast", "jpeg", "turn"]


def case_of(*texts, choices=(), answer=None):
    if answer is not None:
        requests = tuple(Ask(image=IMAGE, question=text, choices=choices) for text in texts)
        return Case(id="1", requests=requests, truths=(answer,) * len(texts))
    return Case(id="1", requests=tuple(Match(image=IMAGE, text=text) for text in texts), truths=(True,) * len(texts))


def kinds(case):
    return [moves[0].kind for moves in space(case).images]


@tabled
def test_the_words_of_a_case_decide_its_changes(texts, never):
    assert kinds(case_of(*texts)) == [kind for kind in ALL if kind not in never]


def test_choices_answers_and_other_images_count_too():
    assert "dark" not in kinds(case_of("What is it like?", choices=("red", "old"), answer="old"))
    assert "dark" not in kinds(case_of("What is it like?", answer="red"))
    assert "crop" not in kinds(case_of("How old is he?", answer="3"))
    cut = LazyImage(key="1.jpg#crop", load=lambda: PIXELS)  # it may be cropped already
    requests = tuple(Ask(image=one, question="Is it old?") for one in (IMAGE, cut))
    assert set(ALL) - set(kinds(Case(id="1", requests=requests, truths=("yes", "yes")))) == {"crop", "turn"}


@pytest.mark.parametrize("kind", ALL)
def test_moves_go_from_weak_to_strong_in_equal_steps(kind):
    assert list(IMAGE_MOVES) == ALL  # nothing is mirrored, and little is cropped
    moves = IMAGE_MOVES[kind]
    assert {"crop": 0.1, "blur": 12.0}.get(kind) in {None, max(move.strength for move in moves)}
    distances = [move.distance for move in moves]
    assert np.diff(distances) == pytest.approx(1 / len(moves))
    assert distances[-1] == 1.0
    steps = np.diff([move.strength for move in moves])
    assert steps == pytest.approx(steps[0])
    pixels = np.asarray(PIXELS)
    weak, strong = (moves[at].alter(pixels) for at in (0, -1))
    assert weak.dtype == strong.dtype == np.uint8
    if weak.shape == strong.shape:
        errors = [np.abs(changed.astype(int) - pixels).mean() for changed in (weak, strong)]
        assert errors[0] < errors[1]
    else:
        assert strong.size < weak.size


@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=3, unique=True))
def test_all_images_of_a_case_are_changed_alike_and_their_keys_say_how(chosen):
    moves = [IMAGE_MOVES[kind][4] for kind in chosen]
    changed = perturbed(case_of("A cup.", "A hat."), moves)
    name = "+".join(f"{move.kind}{move.strength:g}" for move in moves)
    assert [request.image.key for request in changed.requests] == [f"1.jpg#{name}"] * 2
    assert [request.text for request in changed.requests] == ["A cup.", "A hat."]
    expected = np.asarray(PIXELS)
    for move in moves:
        expected = move.alter(expected)
    for request in changed.requests:
        assert request.image.where == "data/1.jpg"
        assert (np.asarray(request.image.load()) == expected).all()


def test_each_text_is_reworded_in_every_request_and_the_choices_with_it():
    case = case_of("Is the cup old or new?", choices=("old", "new"), answer="old")
    moves = space(case).wordings
    reversed_order = next(move for move in moves if move.instead.choices == ("new", "old"))
    changed = perturbed(case, [reversed_order])
    assert changed.requests[0].question == "Is the cup new or old?"
    assert changed.requests[0].choices == ("new", "old")
    assert changed.truths == case.truths
    assert reversed_order.says == "'old or new?' to 'new or old?'"
    assert [move.strength for move in moves] == list(range(1, len(moves) + 1))
    assert [move.distance for move in moves] == sorted(move.distance for move in moves)


def test_a_wording_that_the_case_asks_already_is_left_out():
    case = case_of("Is there a cup in the picture?", "Do you see a cup in the photo?", answer="yes")
    texts = {request.question for request in case.requests}
    assert space(case).wordings
    assert texts.isdisjoint(move.instead.words for move in space(case).wordings)


def test_joined_things_are_exchanged_by_their_parse():
    pytest.importorskip("spacy")
    found = space(case_of("A red cup with a lid and a straw."))
    assert [move.instead.words for move in found.wordings] == ["A red cup with a straw and a lid."]
    assert found.left_out == ""


def test_without_a_parser_the_missing_wordings_are_named_and_the_sure_ones_stay(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    pipeline.cache_clear()
    texts = ("A red cup with a lid and a straw.", "Is it a cup or a hat?", "A cup.")
    free, sure, alone = (space(case_of(text)) for text in texts)
    pipeline.cache_clear()
    assert free.wordings == ()
    assert "pip install 'vlgate[text]'" in free.left_out
    assert "Is it a hat or a cup?" in {move.instead.words for move in sure.wordings}
    assert alone.left_out == ""


PHOTO = coloured("1.jpg", (10, 200, 30), (100, 80))
DOG = slice(10, 40)


def photographed(text="A dog in the room.", boxes=((10.0, 10.0, 30.0, 30.0),)):
    case = pair_case(1, text, "A cat in the room.", PHOTO)
    named = {"1.jpg": boxes}
    return PlacedCase(id=case.id, requests=case.requests, truths=case.truths, named=named) if boxes else case


def covers(case):
    return [move for moves in space(case, ("region",)).parts for move in moves]


def painted(case, move):
    return np.asarray(perturbed(case, (move,)).requests[0].image.load())


def test_no_region_touches_what_the_texts_name():
    found = covers(photographed())
    assert len(found) > 50
    for move in found:
        pixels = painted(photographed(), move)
        assert (pixels[DOG, DOG] == (10, 200, 30)).all()
        share = (pixels != (10, 200, 30)).any(axis=2).mean()
        assert 0 < share <= 0.26
        assert move.distance == pytest.approx(share * 4, abs=0.08)


def test_without_boxes_or_in_texts_about_numbers_and_edges_no_region_is_covered():
    for text in ("Two dogs.", "A dog in the corner.", "Many dogs."):
        assert covers(photographed(text)) == []
    assert covers(photographed(boxes=())) == []
    assert space(photographed(boxes=()), ("region",)).no_parts == UNKNOWN


def test_the_boxes_of_a_perturbed_copy_are_known():
    copy = perturbed_image(PHOTO, "blur6", [Box(x=20, y=20, w=60, h=60)], size=(200, 160))
    requests = tuple(Ask(image=image, question="Is there a dog?", choices=("yes", "no")) for image in (PHOTO, copy))
    case = Case(id="1", requests=requests, truths=("yes", "yes"))
    assert covers(case)
    for move in covers(case):
        assert (painted(case, move)[DOG, DOG] == (10, 200, 30)).all()
        assert perturbed(case, (move,)).requests[1].image == copy


def test_the_smallest_region_that_breaks_a_model_is_found():
    def covered(pixels):
        return np.abs(pixels[78, 98] - np.array(IMAGENET_MEAN)).max() < 2

    class Model:
        """Wrong if the lower right corner is covered."""

        def predict(self, requests):
            wrong = {one: covered(np.asarray(one.image.load())) for one in requests}
            return {one: Prediction(request=one, score=float(("dog" in one.text) != wrong[one])) for one in wrong}

    batch = Batch(task=task_of([photographed()]), positions=(0,))
    found = smallest_change(batch, Model(), budget=200, families=("region",)).find
    corner = [move.distance for move in covers(photographed()) if covered(painted(photographed(), move))]
    assert (found.distance, found.moves[0].about) == (min(corner), "a region that the texts do not name")


@tabled
def test_other_wordings_of_a_statement_are_true_of_the_same_scenes(text):
    others = list(restated(text))
    assert others
    assert text not in others
    reader = Reader()
    for graph in world_graphs(0, 40):
        image = image_of(graph)
        scores = reader.match([Match(image=image, text=one) for one in (text, *others)])
        assert set(scores) in ({0.0}, {1.0})


@tabled
def test_a_statement_whose_meaning_is_not_certain_is_not_restated(text, restatements):
    assert tuple(restated(text)) == restatements
