"""Pairs of questions as the cases of a task, and the images that they show."""

import numpy as np
import pytest
from builders import image
from PIL import Image

from vlgate.errors import ImageError
from vlgate.fixtures.scenes.scene_graphs import image_of, world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.questions import BEYOND, TESTS, Asked, Corpus, Generator, Made, QuestionPair
from vlgate.perturb.questions.drafts import NounPhrase
from vlgate.perturb.scene_graph import Box, SceneGraph
from vlgate.sources.graphs.question_cases import capability_of, cases_of, task_of
from vlgate.types import LazyImage

GRAPHS = world_graphs(4, 40)
IMAGES = {graph.id: image_of(graph) for graph in GRAPHS}


@pytest.fixture(scope="module")
def made():
    generator = Generator(Corpus(GRAPHS, default_ontology()))
    return {test: generator.make(test, size=24, seed=0) for test in (*TESTS, *BEYOND)}


def gradient():
    """Return an image of 60 x 40 pixels of different colours, so that every change shows."""
    rows, columns = np.mgrid[0:40, 0:60]
    return Image.fromarray(np.stack([4 * columns, 6 * rows, (37 * columns + 91 * rows) % 256], 2).astype(np.uint8))


def pair_of(name, box, **graph):
    return QuestionPair(
        id="object/00000",
        test="visual-inv",
        kind="object",
        graph=SceneGraph(id="7", objects={}, **graph),
        questions=("Is there a dog?",) * 2,
        choices=(("yes", "no"),) * 2,
        answers=("yes", "yes"),
        rule=name,
        objects=("1",),
        asked=(Asked(x=NounPhrase("dog", "singular")),) * 2,
        tags={},
        perturbation=name,
        foreground=(box,),
    )


def shown(pair):
    """Return the second image of a pair about ``gradient``."""
    (case,) = cases_of([pair], {"7": LazyImage(key="7", load=gradient)})
    return case.requests[1].image


@pytest.mark.parametrize("test", TESTS)
def test_a_case_holds_its_pair(made, test):
    task = task_of("mine/all", made[test], test, IMAGES, left_out={"a fault": 2}, note="drawn")
    assert (task.id, task.shape, task.note) == ("mine/all", "questions", "drawn")
    assert task.left_out["a fault"] == 2
    assert len({case.id for case in task.cases}) == len(task.cases)
    assert len({id(case.tags) for case in task.cases}) == len({tuple(case.tags.items()) for case in task.cases})
    for case, pair in zip(task.cases, made[test].pairs, strict=True):
        assert case.id == pair.id
        assert case.truths == pair.answers
        assert tuple(ask.question for ask in case.requests) == pair.questions
        assert tuple(ask.choices for ask in case.requests) == pair.choices
        assert case.tags == pair.tags
        assert case.requests[0].image == IMAGES[pair.graph.id]
        assert pair.rule in case.origin
        assert pair.graph.origin in case.origin


DIRECTIONAL = {"negation-dir", "antonym-dir", "occlusion-dir"}


def task_made(made, test):
    return task_of("mine/all", made[test], test, IMAGES)


@pytest.mark.parametrize("test", [*TESTS, *BEYOND])
def test_the_answers_stay_in_a_test_of_invariance_and_change_in_a_directional_one(made, test):
    capability = capability_of(test)
    assert task_made(made, test).capability == capability == ("directional" if test in DIRECTIONAL else "invariance")
    for pair in made[test].pairs:
        assert (pair.answers[0] == pair.answers[1]) == (capability == "invariance")


def test_questions_that_are_missing_for_lack_of_graphs_are_counted(made):
    few = Made(pairs=made["negation-dir"].pairs[:1], wanting={"disjunction": 5})
    task = task_of("mine/all", few, "negation-dir", IMAGES, left_out={"a fault": 2})
    assert task.left_out == {"a fault": 2, "too few graphs for a question of kind disjunction": 5}


def test_the_visual_test_shows_the_image_and_its_five_perturbed_forms(made):
    cases = task_made(made, "visual-inv").cases
    assert [case.requests[1].image.key.partition("#")[2] for case in cases[:5]] == list(VISUAL)
    for case in cases:
        first, second = (ask.image for ask in case.requests)
        assert second.key.partition("#")[0] == first.key
        assert second != first
    assert len({case.requests[1].image for case in cases[:5]}) == 5


def test_only_the_visual_test_perturbs_images_and_the_mirrored_one_comes_second(made):
    for case in task_made(made, "mirror-inv").cases:
        first, second = (request.image.key for request in case.requests)
        assert second == f"{first}#flip"
    for test in set(TESTS) - {"visual-inv"}:
        cases = task_made(made, test).cases
        assert all(case.requests[0].image is case.requests[1].image for case in cases)


def test_both_images_are_occluded_and_one_of_them_hides_the_objects_of_the_question(made):
    cases = task_made(made, "occlusion-dir").cases
    for case, pair in zip(cases, made["occlusion-dir"].pairs, strict=True):
        first, second = (request.image for request in case.requests)
        assert all("#occlude" in image.key for image in (first, second))
        assert first.key != second.key
        boxes = [image.load.made.load.boxes for image in (first, second)]
        assert boxes[case.truths.index("no")] == pair.foreground
        assert boxes[case.truths.index("yes")] == pair.instead


def test_only_the_background_is_perturbed_and_boxes_are_scaled_to_the_files_size():
    box = Box(x=10, y=5, w=32, h=32)
    before = np.asarray(gradient())
    after = np.asarray(shown(pair_of("mask", box)).load())
    assert after.shape == before.shape
    assert (after[10:30, 15:35] == before[10:30, 15:35]).all()
    assert len(np.unique(after[:, 50:].reshape(-1, 3), axis=0)) == 1
    small = shown(pair_of("crop", Box(x=10, y=0, w=40, h=40), width=60, height=40)).load()
    double = shown(pair_of("crop", Box(x=20, y=0, w=80, h=80), width=120, height=80)).load()
    assert small.size == double.size == (40, 40)
    assert small.tobytes() == double.tobytes()


def test_a_box_beside_the_image_is_an_error_of_the_image():
    beside = shown(pair_of("blur6", Box(x=700, y=500, w=40, h=40), origin="mine.json, graph '7'"))
    with pytest.raises(ImageError, match=r"image '7#blur6': .*mine\.json, graph '7'.*60 x 40"):
        beside.load()


def test_an_image_that_is_missing_stays_missing():
    def gone():
        raise ImageError("7", "is gone", "find it")

    pair = pair_of("blur6", Box(x=0, y=0, w=40, h=40))
    (case,) = cases_of([pair], {"7": LazyImage(key="7", load=gone)})
    with pytest.raises(ImageError, match="is gone"):
        case.requests[1].image.load()


def test_perturbed_drawings_can_be_shown_and_no_image_is_decoded_before(made):
    images = {graph.id: image(graph.id) for graph in GRAPHS}
    assert task_of("mine/all", made["visual-inv"], "visual-inv", images).cases
    sizes = {graph.id: (graph.width, graph.height) for graph in GRAPHS}
    for case in task_made(made, "visual-inv").cases[:10]:
        first, second = (ask.image.load() for ask in case.requests)
        assert first.size == sizes[case.requests[0].image.key]
        assert second.mode == "RGB"
        assert second.tobytes() != first.tobytes()
