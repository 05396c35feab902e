"""The generator's promises, on the drawn world and on graphs written here; the truth of answers is test_truth's."""

from collections import Counter
from itertools import chain

import pytest

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.question_tests import VISUAL
from vlgate.perturb.questions import TESTS, Corpus, Generator
from vlgate.perturb.questions.shares import makeup
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

SIZE = 300
WORLD = world_graphs(3, 150)


@pytest.fixture(scope="module")
def generator():
    return Generator(Corpus(WORLD, default_ontology(), least_box=0, least_objects=0))


@pytest.fixture(scope="module")
def made(generator):
    return {test: generator.make(test, size=SIZE, seed=5) for test in TESTS}


def pairs_of(made):
    return list(chain.from_iterable(one.pairs for one in made.values()))


def graph(name, *objects):
    return SceneGraph(id=name, objects={item.id: item for item in objects}, width=400, height=300)


def thing(number, name, attributes=(), relations=(), side=90):
    return SceneObject(
        id=str(number),
        name=name,
        box=Box(x=10.0 * number, y=5, w=side, h=side),
        attributes=tuple(attributes),
        relations=tuple(Relation(name=text, object=other) for text, other in relations),
    )


def test_every_kind_of_every_test_is_made(made):
    for test, one in made.items():
        questions = Counter(pair.kind for pair in one.pairs if pair.perturbation in {"", "crop"})
        assert questions + Counter(one.wanting) == makeup(test, SIZE)
        assert {"attribute", "attribute-related"} >= one.wanting.keys()  # few things stand beside an opposite


def test_the_same_seed_gives_the_same_pairs_whatever_was_made_before(made):
    fresh = Generator(Corpus(WORLD, default_ontology(), least_box=0, least_objects=0))
    for test in reversed(TESTS):
        assert repr(fresh.make(test, size=SIZE, seed=5).pairs) == repr(made[test].pairs)


def test_another_seed_gives_other_pairs(generator, made):
    for test in TESTS:
        other = generator.make(test, size=SIZE, seed=6)
        assert {pair.questions for pair in other.pairs} != {pair.questions for pair in made[test].pairs}


def test_ids_are_unique_within_a_test_and_no_question_is_asked_twice(made):
    for one in made.values():
        assert len({pair.id for pair in one.pairs}) == len(one.pairs)
        asked = Counter(
            (pair.graph.id, pair.questions, pair.perturbation, frozenset(pair.choices[0]), pair.kind)
            for pair in one.pairs
        )
        assert max(asked.values()) == 1


def test_yes_and_no_are_right_equally_often(made):
    for one in made.values():
        by_kind = Counter((pair.kind, pair.answers[0]) for pair in one.pairs if pair.choices[0] == ("yes", "no"))
        for kind, answer in by_kind:
            assert abs(by_kind[kind, answer] - by_kind[kind, "no" if answer == "yes" else "yes"]) <= len(VISUAL)


def test_the_right_choice_stands_everywhere_equally_often(made):
    for one in made.values():
        positions = Counter(
            (pair.kind, len(pair.choices[0]), pair.choices[0].index(pair.answers[0]))
            for pair in one.pairs
            if "choice" in pair.kind and pair.perturbation in {"", "crop"}
        )
        for kind, offered, position in positions:
            assert abs(positions[kind, offered, position] - positions[kind, offered, 0]) <= 1


def test_what_is_expected_of_the_answers(made):
    for test, one in made.items():
        assert {pair.test for pair in one.pairs} == {test}
        for pair in one.pairs:
            assert (pair.answers[0] == pair.answers[1]) == test.endswith("-inv")
            assert all(answer in offered for answer, offered in zip(pair.answers, pair.choices, strict=True))


def test_only_what_a_test_is_about_changes(made):
    for pair in pairs_of(made):
        assert (pair.questions[0] == pair.questions[1]) == (pair.test == "visual-inv")
        assert (pair.perturbation != "") == (pair.test == "visual-inv")
        assert bool(pair.foreground) == (pair.test == "visual-inv")
        if pair.test == "order-inv" and "choice" in pair.kind:
            assert sorted(pair.choices[0]) == sorted(pair.choices[1])
            assert pair.choices[0] != pair.choices[1]
        else:
            assert pair.choices[0] == pair.choices[1]


def test_choices_stand_in_the_question_in_their_order(made):
    for pair in pairs_of(made):
        if "choice" in pair.kind:
            for question, choices in zip(pair.questions, pair.choices, strict=True):
                places = [question.rindex(f" {choice}") for choice in choices]
                assert places == sorted(places), (question, choices)


def test_the_objects_are_in_the_graph_and_named_in_the_question(made):
    for pair in pairs_of(made):
        for name in filter(None, pair.objects):
            assert name in pair.graph.objects
        if pair.kind in {"object", "conjunction"} and pair.test != "ontological-inv" and pair.answers[0] == "yes":
            assert all(pair.graph.objects[name].name in pair.questions[0] for name in pair.objects)


def test_a_negative_names_nothing_that_might_be_in_the_image(generator, made):
    """By hand, from the ontology's words alone."""
    ontology = default_ontology()
    checked = 0
    for pair in made["negation-dir"].pairs:
        if pair.kind == "object" and pair.answers[0] == "no":
            named = [
                name
                for name in generator.corpus.places
                if not name[1] and f" {name[0]} " in f"{pair.questions[0].rstrip('?')} "
            ]
            asked = max((name for name, _ in named), key=len)
            for item in pair.graph.objects.values():
                assert asked not in ontology.possible(item.name) | ontology.parts(item.name)
            checked += 1
    assert checked > 20


def test_the_foreground_is_what_the_question_names(made):
    by_question = {}
    for pair in made["visual-inv"].pairs:
        shown = [pair.graph.objects[name].box for name in pair.objects if name is not None]
        boxes = {item.box for item in pair.graph.objects.values()}
        if shown:
            assert list(pair.foreground) == shown
        else:
            assert len(pair.foreground) == min(len(boxes), 2 if "junction" in pair.kind else 1)
            assert set(pair.foreground) <= boxes
        by_question.setdefault(pair.id.rpartition("/")[0], []).append(pair)
    for group in by_question.values():
        assert [pair.perturbation for pair in group] == list(VISUAL)
        assert len({(pair.questions, pair.foreground) for pair in group}) == 1


def test_an_ontological_pair_goes_up_or_down_whatever_the_answer_is(made):
    ontology, found = default_ontology(), Counter()
    for pair in made["ontological-inv"].pairs:
        direction, _, words = pair.rule.partition(": ")
        old, _, new = words.partition(" to ")
        low, high = (old, new) if direction == "hypernym" else (new, old)
        assert high in ontology.hypernyms(low)
        assert pair.tags["direction"] == direction
        follows = (direction == "hypernym") == (pair.answers[0] == "yes")
        assert pair.tags["follows"] == ("yes" if follows else "no")
        found[direction, pair.answers[0]] += 1
    assert min(found[one, answer] for one in ("hypernym", "hyponym") for answer in ("yes", "no")) >= SIZE / 6


@pytest.mark.slow
def test_the_words_of_ontological_originals_say_nothing_about_the_answer(generator):
    made = generator.make("ontological-inv", size=2000, seed=1)
    words = Counter((pair.rule.split(": ")[1].split(" to ")[0], pair.answers[0]) for pair in made.pairs)
    for word in {word for word, _ in words}:
        total = words[word, "yes"] + words[word, "no"]
        if total >= 60:
            assert 0.3 <= words[word, "yes"] / total <= 0.7, word


def test_training_data_keep_apart_from_a_test(generator, made):
    asked = {(pair.graph.id, text) for pair in made["order-inv"].pairs for text in pair.questions}
    other = generator.make("order-inv", size=SIZE, seed=9, without=asked)
    assert other.pairs
    assert not asked & {(pair.graph.id, text) for pair in other.pairs for text in pair.questions}


def test_too_few_graphs_are_counted_and_never_made_up_for():
    small = [graph("1", thing(1, "dog", ["brown"])), graph("2", thing(1, "bench"))]
    made = Generator(Corpus(small, default_ontology())).make("rephrase-inv", size=100)
    assert made.wanting["conjunction"] == makeup("rephrase-inv", 100)["conjunction"]
    assert len(made.pairs) + sum(made.wanting.values()) == 100


def test_no_graph_is_an_error():
    with pytest.raises(ValueError, match="graphs="):
        Corpus([], default_ontology())


def test_graphs_without_anything_to_ask_about_are_an_error_that_says_why():
    corpus = Corpus([graph("1", thing(1, "dog", side=5), thing(2, "zzyzx"))], default_ontology())
    with pytest.raises(ValueError, match=r"graphs=1:.*under 32 pixels: 1.*the ontology does not know: 1"):
        Generator(corpus)


def test_an_unknown_name_counts_for_all_the_names_in_it():
    """What is unknown is asked about by no question, and what it might be is never said to be absent."""
    graphs = [graph("1", thing(1, "zzyzx dog")), graph("2", thing(1, "bench"))]
    corpus = Corpus(graphs, default_ontology(), least_objects=0)
    assert corpus.unknown == {"zzyzx dog": 1}
    unknown, bench = corpus.views
    assert unknown.might & corpus.bits["dog"]
    assert not bench.might & corpus.bits["dog"]


def test_a_thing_is_meant_by_the_only_where_nothing_else_might_be():
    two = graph("1", thing(1, "cup", ["red"]), thing(2, "mug", ["white"]), thing(3, "dog", ["brown"]))
    made = Generator(Corpus([two, graph("2", thing(1, "bench"))], default_ontology())).make("order-inv", size=200)
    texts = [text for pair in made.pairs if pair.kind == "attribute-choice" for text in pair.questions]
    assert texts
    assert all("the dog" in text.lower() or "the cup" not in text.lower() for text in texts)


def test_a_contradicted_attribute_is_not_said():
    odd = graph("1", thing(1, "dog", ["large", "small", "brown"]))
    [view] = Corpus([odd], default_ontology()).views
    assert view.things[0].adjectives == ("brown",)


def test_the_mirror_exchanges_left_and_right_and_nothing_else(generator):
    made = generator.make("mirror-inv", size=60, seed=2)
    assert len(made.pairs) == 60
    sides = {"left": "right", "right": "left"}
    for pair in made.pairs:
        assert pair.perturbation == "flip"
        assert pair.answers[0] == pair.answers[1]
        words = pair.questions[0].split(" ")
        assert " ".join(sides.get(word, word) for word in words) == pair.questions[1] != pair.questions[0]


def test_an_occluded_object_is_gone_in_one_of_the_two_images_and_another_one_in_the_other(generator):
    ontology = default_ontology()
    made = generator.make("occlusion-dir", size=60, seed=2)
    assert Counter(pair.answers for pair in made.pairs) == {("yes", "no"): 30, ("no", "yes"): 30}
    for pair in made.pairs:
        assert pair.perturbation == "occlude"
        assert pair.questions[0] == pair.questions[1]
        assert pair.reverse == (pair.answers[0] == "no")
        shown = {name: pair.graph.objects[name].name for name in pair.objects}
        assert pair.foreground == tuple(pair.graph.objects[name].box for name in pair.objects)
        left = [item.name for name, item in pair.graph.objects.items() if name not in shown]
        assert len(pair.instead) == len(pair.foreground)
        assert not any(overlap(one, other) for one in pair.foreground for other in pair.instead)
        small, large = sorted(sum(box.w * box.h for box in boxes) for boxes in (pair.foreground, pair.instead))
        assert large <= 1.5 * small
        asked = [name for name in shown.values() if name in pair.questions[0]]
        assert asked
        assert all(asked[0] not in ontology.possible(name) | ontology.parts(name) for name in left)
        assert 2 * sum(box.w * box.h for box in pair.foreground) <= pair.graph.width * pair.graph.height


def overlap(one, other):
    across = min(one.x + one.w, other.x + other.w) - max(one.x, other.x)
    down = min(one.y + one.h, other.y + other.h) - max(one.y, other.y)
    return across > 0 and down > 0


def test_each_occluded_image_is_asked_about_what_it_shows_and_about_what_it_hides(generator):
    pairs = generator.make("occlusion-dir", size=60, seed=2).pairs
    answers = {}
    for pair in pairs:
        for boxes, answer in ((pair.foreground, "no"), (pair.instead, "yes")):
            answers.setdefault((pair.graph.id, boxes), Counter())[answer] += 1
    assert all(found["yes"] == found["no"] for found in answers.values())


OTHERS = ("car", "bicycle", "umbrella", "skateboard")


def test_nothing_is_absent_where_a_graph_says_little():
    def rows(number):
        return [thing(index, name) for index, name in enumerate(("dog", "bench", "cup", "tree", "kite")[:number])]

    graphs = [graph("few", *rows(4)), graph("many", *rows(5)), graph("other", *map(thing, range(4), OTHERS))]
    made = Generator(Corpus(graphs, default_ontology())).make("negation-dir", size=40)
    assert {pair.graph.id for pair in made.pairs if pair.answers[0] == "no"} == {"many"}


def test_an_attribute_that_makes_another_noun_is_not_said():
    [view] = Corpus([graph("1", thing(1, "car", ["toy", "red"]))], default_ontology()).views
    assert view.things[0].adjectives == ("red",)
