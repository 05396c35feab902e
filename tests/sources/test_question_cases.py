"""Pairs of questions as the cases of a table, and the pictures that they show."""

from functools import partial

import numpy as np
import pytest
from PIL import Image

from vlgate.errors import PictureError
from vlgate.fixtures.scenes.scene_graphs import picture_of, world_graphs
from vlgate.perturb.images import VISUAL
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import BEYOND, TESTS, Corpus, Generator, Made, QuestionPair
from vlgate.perturb.scene_graph import Box, SceneGraph
from vlgate.sources.question_cases import capability_of, cases_of, table_of
from vlgate.types import Picture

GRAPHS = world_graphs(4, 40)
PICTURES = {graph.id: picture_of(graph) for graph in GRAPHS}


@pytest.fixture(scope="module")
def made():
    generator = Generator(Corpus(GRAPHS, default_ontology()))
    return {test: generator.make(test, size=24, seed=0) for test in (*TESTS, *BEYOND)}


def gradient():
    """A picture of 60 x 40 pixels, each of another colour, so that whatever changes shows."""
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
        tags={},
        picture=name,
        foreground=(box,),
    )


def shown(pair):
    """The second picture of a pair about ``gradient``."""
    (case,) = cases_of([pair], {"7": Picture(key="7", load=gradient)})
    return case.requests[1].picture


@pytest.mark.parametrize("test", TESTS)
def test_a_case_holds_its_pair(made, test):
    table = table_of("mine/all", made[test], test, PICTURES, left_out={"a fault": 2}, note="drawn")
    assert (table.id, table.shape, table.note) == ("mine/all", "questions", "drawn")
    assert table.left_out == {"a fault": 2}
    assert len({case.id for case in table.cases}) == len(table.cases)
    for case, pair in zip(table.cases, made[test].pairs, strict=True):
        assert case.id == pair.id
        assert case.truths == pair.answers
        assert tuple(ask.question for ask in case.requests) == pair.questions
        assert tuple(ask.choices for ask in case.requests) == pair.choices
        assert case.tags == pair.tags
        assert case.requests[0].picture == PICTURES[pair.graph.id]
        assert pair.rule in case.origin
        assert pair.graph.origin in case.origin


@pytest.mark.parametrize("test", [*TESTS, *BEYOND])
def test_the_answers_stay_in_a_test_of_invariance_and_change_in_a_directional_one(made, test):
    capability = capability_of(test)
    assert table_of("mine/all", made[test], test, PICTURES).capability == capability
    for pair in made[test].pairs:
        assert (pair.answers[0] == pair.answers[1]) == (capability == "invariance")


def test_the_tests_are_of_the_capabilities_that_the_paper_has_them_under():
    directional = {test for test in (*TESTS, *BEYOND) if capability_of(test) == "directional"}
    assert directional == {"negation-dir", "antonym-dir", "occlusion-dir"}


def test_what_the_graphs_gave_too_little_for_is_counted(made):
    few = Made(pairs=made["negation-dir"].pairs[:1], wanting={"disjunction": 5})
    table = table_of("mine/all", few, "negation-dir", PICTURES, left_out={"a fault": 2})
    assert table.left_out == {"a fault": 2, "too few graphs for a question of kind disjunction": 5}


def test_cases_of_equal_tags_share_them(made):
    table = table_of("mine/all", made["order-inv"], "order-inv", PICTURES)
    assert len({id(case.tags) for case in table.cases}) == len({tuple(case.tags.items()) for case in table.cases})


def test_the_visual_test_shows_the_picture_and_its_five_perturbed_forms(made):
    cases = table_of("mine/all", made["visual-inv"], "visual-inv", PICTURES).cases
    assert [case.requests[1].picture.key.partition("#")[2] for case in cases[:5]] == list(VISUAL)
    for case in cases:
        first, second = (ask.picture for ask in case.requests)
        assert second.key.partition("#")[0] == first.key
        assert second != first
    assert len({case.requests[1].picture for case in cases[:5]}) == 5


def test_only_the_visual_test_perturbs_pictures(made):
    for test in set(TESTS) - {"visual-inv"}:
        cases = table_of("mine/all", made[test], test, PICTURES).cases
        assert all(case.requests[0].picture is case.requests[1].picture for case in cases)


def test_the_occluded_picture_is_the_one_that_shows_nothing_of_what_is_asked_about(made):
    for case in table_of("mine/all", made["occlusion-dir"], "occlusion-dir", PICTURES).cases:
        covered = ["#occlude" in request.picture.key for request in case.requests]
        assert [truth == "no" for truth in case.truths] == covered


def test_the_mirrored_picture_comes_second(made):
    for case in table_of("mine/all", made["mirror-inv"], "mirror-inv", PICTURES).cases:
        first, second = (request.picture.key for request in case.requests)
        assert second == f"{first}#flip"


def test_what_is_asked_about_stays_as_it_is_and_the_rest_does_not():
    box = Box(x=10, y=5, w=32, h=32)
    before = np.asarray(gradient())
    after = np.asarray(shown(pair_of("mask", box)).image())
    assert after.shape == before.shape
    assert (after[10:30, 15:35] == before[10:30, 15:35]).all()
    assert len(np.unique(after[:, 50:].reshape(-1, 3), axis=0)) == 1


def test_boxes_are_of_the_graphs_size_whatever_size_the_file_has():
    small = shown(pair_of("crop", Box(x=10, y=0, w=40, h=40), width=60, height=40)).image()
    double = shown(pair_of("crop", Box(x=20, y=0, w=80, h=80), width=120, height=80)).image()
    assert small.size == double.size == (40, 40)
    assert small.tobytes() == double.tobytes()


def test_a_box_beside_the_picture_is_a_fault_of_the_picture_and_named():
    picture = shown(pair_of("blur6", Box(x=700, y=500, w=40, h=40), origin="mine.json, graph '7'"))
    with pytest.raises(PictureError, match=r"picture '7#blur6': does not go with mine\.json, graph '7'.*60 x 40"):
        picture.image()


def test_a_picture_that_is_missing_stays_missing():
    def gone():
        raise PictureError("7", "is gone", "find it")

    pair = pair_of("blur6", Box(x=0, y=0, w=40, h=40))
    (case,) = cases_of([pair], {"7": Picture(key="7", load=gone)})
    with pytest.raises(PictureError, match="is gone"):
        case.requests[1].picture.image()


def test_nothing_is_decoded_before_it_is_asked_for(made):
    fail = partial(pytest.fail, "was decoded")
    pictures = {graph.id: Picture(key=graph.id, load=fail) for graph in GRAPHS}
    assert table_of("mine/all", made["visual-inv"], "visual-inv", pictures).cases


def test_perturbed_drawings_can_be_shown(made):
    sizes = {graph.id: (graph.width, graph.height) for graph in GRAPHS}
    for case in table_of("mine/all", made["visual-inv"], "visual-inv", PICTURES).cases[:10]:
        first, second = (ask.picture.image() for ask in case.requests)
        assert first.size == sizes[case.requests[0].picture.key]
        assert second.mode == "RGB"
        assert second.tobytes() != first.tobytes()
