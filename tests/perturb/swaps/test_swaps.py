"""Swaps between the captions and the graphs of two images: what is found, and what only looks like one."""

import re
from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from builders import tabled
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.foils.swap_captions import caption_scenes
from vlgate.perturb.foils.swap_facts import BROADER, Has, Lacks, Relates, Scene, Statement, Vocabulary, graph_scene
from vlgate.perturb.foils.swap_mining import BOTH_TRUE, NO_CONTRADICTION, SAME_FACTS, SAME_IMAGE, mine
from vlgate.perturb.graphs.absence import WHOLE
from vlgate.perturb.ontology.ontology import default_ontology
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

VOCABULARY = Vocabulary(default_ontology())


@pytest.fixture
def found(parser):
    """Mine (image, caption) pairs; return the captions of each pair, the candidates and the reasons."""

    def find(*captions):
        images, texts = zip(*captions, strict=True)
        result = mine(caption_scenes(zip(images, parser.parse(texts), strict=True), VOCABULARY), VOCABULARY)
        return [swap.captions for swap in result.candidates], result.candidates, Counter(result.refused)

    return find


@pytest.fixture
def facts(parser):
    def read(caption):
        [scene] = caption_scenes([("1", next(iter(parser.parse([caption]))))], VOCABULARY)
        return scene

    return read


def test_two_things_that_change_places_are_found_inside_longer_captions(found):
    captions, [swap], _ = found(("1", "A small dog sits behind a cat."), ("2", "A cat behind a dog in the park."))
    assert captions == [("a dog behind a cat", "a cat behind a dog")]
    assert swap.images == ("1", "2")
    assert swap.tags == {"collapsed_tag": "Object", "tag": "Noun", "num_main_preds": "1", "origin": "part"}
    assert swap.why == "The first image has a dog behind a cat, the second has a cat behind a dog."


def test_whole_captions_are_taken_as_they_are(found):
    captions, [swap], _ = found(("1", "A red bus behind a blue car."), ("2", "A blue bus behind a red car."))
    assert captions == [("A red bus behind a blue car.", "A blue bus behind a red car.")]
    assert swap.tags == {
        "collapsed_tag": "Relation",
        "tag": "Adjective-Color",
        "num_main_preds": "1",
        "origin": "caption",
    }


def test_numbers_and_actions_change_places(found):
    captions, swaps, _ = found(
        ("1", "Two women stand beside one giraffe."),
        ("2", "One woman and two giraffes."),
        ("3", "There is a man sitting and a woman standing."),
        ("4", "There is a woman sitting and a man standing in a park."),
    )
    assert sorted(captions) == [
        ("a man sitting and a woman standing", "a man standing and a woman sitting"),
        ("one giraffe and two women", "two giraffes and one woman"),
    ]
    assert {swap.tags["tag"] for swap in swaps} == {"Determiner-Numeral", "Verb-Intransitive"}


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("a bathroom with a mirror and a sink", "a bathroom with a sink and a mirror", SAME_FACTS),
        ("A cat and a dog.", "A dog and a cat.", SAME_FACTS),
        ("In the park a man runs.", "A man runs in the park.", NO_CONTRADICTION),
        ("A dog next to a cat.", "A cat next to a dog.", SAME_FACTS),
        ("A large city bus driving down a street.", "A large bus driving down a city street.", NO_CONTRADICTION),
        ("A dog and a large cat.", "A large dog and a cat.", NO_CONTRADICTION),
    ],
)
def test_another_order_that_may_mean_the_same_is_refused_with_its_reason(found, one, other, why):
    captions, _, refused = found(("1", one), ("2", other))
    assert captions == []
    assert refused == {why: 1}


def test_captions_that_hold_of_both_images_are_refused(found):
    turned = [("2", "A cat behind a dog."), ("2", "A dog behind a cat.")]
    captions, _, refused = found(("1", "A dog behind a cat."), *turned)
    assert captions == []
    assert refused[BOTH_TRUE] >= 1
    assert found(*turned)[2][SAME_IMAGE] >= 1


@tabled
def test_where_there_may_be_several_nothing_is_said_of_one(found, more):
    one, other = ("1", "A dog behind a cat."), ("2", "A cat behind a dog.")
    assert found(one, other)[0]
    assert found(one, other, ("2", more))[0] == []


def test_two_numbers_must_be_said_in_one_caption_and_captions_of_one_image_must_agree(found):
    one, other = ("1", "Two women beside one giraffe."), [("2", "One woman."), ("2", "There are two giraffes.")]
    assert found(one, *other)[0] == []
    # People who face each other are both in front.
    assert found(("1", "A man in front of a woman in a bus."), ("2", "A woman in front of a man."))[0] == []
    assert found(("1", "A man in front of a bus in a city."), ("2", "A bus in front of a man."))[0]
    pair = [("1", "A black dog and a white cat."), ("2", "A white dog and a black cat.")]
    assert found(*pair)[0]
    assert found(*pair, ("2", "A black dog."))[0] == []


def test_each_image_is_in_one_pair_with_the_same_captions(found):
    many = [(f"a{n}", "A dog behind a cat.") for n in range(3)] + [(f"b{n}", "A cat behind a dog.") for n in range(2)]
    _, swaps, _ = found(*many)
    assert [swap.images for swap in swaps] == [("a0", "b0"), ("a1", "b1")]


@pytest.mark.parametrize(
    ("kind", "caption", "expected"),
    [
        (Relates, "A man rides down a road on a bike.", set()),
        (Relates, "A man riding a horse.", {Relates("man", "riding", "horse"), Relates("man", "on", "horse")}),
        (Relates, "A cat on top of a laptop.", {Relates("cat", "on top of", "laptop"), Relates("cat", "on", "laptop")}),
        (Relates, "A cat sits in a sink.", {Relates("cat", "in", "sink"), Relates("cat", "sitting in", "sink")}),
        (Relates, "A stuffed dog behind a cat.", set()),
        (Relates, "A picture of a dog behind a cat.", set()),
        (Relates, "A dog is not behind a cat.", set()),
        (Relates, "A dog and a boy behind a car.", set()),
        (Has, "A black and white dog.", {("dog", "black"), ("dog", "white"), ("dog", "one")}),
        (Has, "The bus is red.", {("bus", "red"), ("bus", "one")}),
        (Has, "A light blue car.", {("car", "one")}),
        (Has, "Three red apples.", {("apple", "three"), ("apple", "some"), ("apple", "red")}),
        (Has, "No dogs.", set()),
    ],
)
def test_only_what_the_parse_says_plainly_is_a_fact(facts, kind, caption, expected):
    found = {fact for fact in facts(caption).facts if isinstance(fact, kind)}
    assert {fact for fact in found if BROADER.isdisjoint(fact)} == expected


@tabled
def test_broader_names_and_vaguer_words_give_two_images_the_same_words(found, one, other, captions):
    assert set(captions) <= {caption for pair in found(("1", one), ("2", other))[0] for caption in pair}


@tabled
def test_what_leaves_a_number_open_gives_no_pair(found, fault):
    one, other = ("1", "One animal and two people."), ("2", "A woman with two dogs.")
    assert found(one, other)[0]
    assert [pair for pair in found(one, ("2", fault))[0] if "two animals and one person" in pair] == []


@pytest.mark.parametrize("fault", ["A brown, black and white cat.", "A gray cat.", "A cat and a kitten with a cat."])
def test_a_thing_of_two_colours_has_neither(found, fault):
    one, other = ("1", "A black cat on a white bed."), ("2", "A white cat in a black box.")
    assert found(one, other)[0]
    assert found(one, other, ("2", fault))[0] == []


def test_an_image_is_in_two_cases_at_most(found):
    others = [(noun, f"One {noun} and two cows.") for noun in ("dog", "cup", "man", "bus")]
    assert len(found(("1", "Two dogs, two cups, two men, two buses and one cow."), *others)[0]) == 2


def test_texts_that_are_no_captions_give_nothing_and_no_error(found):
    shouted = ("EIN HUND HINTER EINER KATZE", "A DOG BEHIND A CAT.")
    for text in ("", "   ", "!!!", "🎈🐕", *shouted, "<b>A dog</b> behind", "dog " * 10_000):
        assert found(("1", text), ("2", text), ("3", "A dog"))[0] == []


@settings(max_examples=30)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_no_text_is_an_error(parser, texts):
    captions = ((str(n), parsed) for n, parsed in enumerate(parser.parse(texts)))
    mine(caption_scenes(captions, VOCABULARY), VOCABULARY)


BOX = Box(x=0, y=0, w=9, h=9)


def graph(name, *things, relations=()):
    """A graph of things such as "red cup", and relations by their positions: (0, "on", 1)."""
    objects = {}
    for index, thing in enumerate(things):
        *attributes, noun = thing.split()
        joined = tuple(Relation(name=text, object=str(b)) for a, text, b in relations if a == index)
        objects[str(index)] = SceneObject(
            id=str(index), name=noun, box=BOX, attributes=tuple(attributes), relations=joined
        )
    return SceneGraph(id=name, objects=objects, complete=True)


def swaps(*graphs):
    return mine([graph_scene(one, VOCABULARY) for one in graphs], VOCABULARY).candidates


def test_a_relation_that_is_turned_and_attributes_that_are_exchanged_are_found():
    one = graph("1", "red cup", "blue plate", relations=[(0, "on", 1)])
    other = graph("2", "blue cup", "red plate")
    turned = graph("3", "plate", "cup", relations=[(0, "on", 1)])
    assert [swap.captions for swap in swaps(one, other)] == [
        ("a red cup and a blue plate", "a blue cup and a red plate")
    ]
    assert [swap.captions for swap in swaps(one, turned)] == [("a cup on a plate", "a plate on a cup")]


@pytest.mark.parametrize(
    "other",
    [
        graph("2", "blue cup", "red plate", "cup"),  # the second cup may be red
        graph("2", "blue cup", "red plate", "mug"),  # a mug is a cup
        graph("2", "blue cup", "round plate"),
        graph("2", "large cup", "red plate"),
    ],
)
def test_graphs_that_leave_it_open_give_no_pair(other):
    assert swaps(graph("1", "red cup", "blue plate"), other) == ()


def test_a_symmetric_relation_gives_no_pair():
    one = graph("1", "dog", "cat", relations=[(0, "near", 1)])
    assert swaps(one, graph("2", "dog", "cat", relations=[(1, "near", 0)])) == ()


def test_on_drawn_scenes_each_caption_is_true_of_its_image_and_false_of_the_other():
    graphs = {world_graph.id: world_graph for world_graph in world_graphs(3, 300)}
    found = swaps(*graphs.values())
    assert len(found) > 30
    assert {swap.tags["collapsed_tag"] for swap in found} == {"Object", "Relation"}
    for swap in found:
        words = [sorted(re.sub(r"\ban\b", "a", caption).split()) for caption in swap.captions]
        assert words[0] == words[1]
        for image, mine_, theirs in zip(swap.images, swap.captions, reversed(swap.captions), strict=True):
            said = sayings(graphs[image])
            assert mine_ in said
            assert theirs not in said


def sayings(graph):
    """Everything that a graph makes true, in the words of the captions, without regard to what is certain."""
    things = graph.objects.values()
    for_one = [
        (one.name, value, VOCABULARY.wording([Has(one.name, value)])) for one in things for value in one.attributes
    ]
    related = {
        VOCABULARY.wording([Relates(one.name, r.name, graph.objects[r.object].name)])
        for one in things
        for r in one.relations
        if VOCABULARY.one_way(r.name)
    }
    for one, other in permutations(things, 2):
        if one.box.x + one.box.w <= other.box.x:
            related.add(VOCABULARY.wording([Relates(one.name, "to the left of", other.name)]))
            related.add(VOCABULARY.wording([Relates(other.name, "to the right of", one.name)]))
    bare = [VOCABULARY.wording([Lacks(one.name, "")]) for one in things]
    return related | {f"{a} and {b}" for _, _, a in for_one for b in (*bare, *(said for *_, said in for_one))}


NAMES = st.sampled_from(["dog", "cat", "bus", "cup"])
FACTS = st.one_of(
    st.builds(Has, NAMES, st.sampled_from(["red", "blue", "large", "two", "three"])),
    st.builds(Relates, NAMES, st.sampled_from(["behind", "on"]), NAMES),
)
SCENES = st.builds(
    lambda facts, several: (frozenset(facts), several), st.lists(FACTS, max_size=6), st.frozensets(NAMES)
)


@given(st.lists(SCENES, max_size=6))
def test_a_pair_is_of_two_images_and_of_the_same_words_in_another_order(given_scenes):
    scenes = [Scene(image=str(n), facts=facts, several=several) for n, (facts, several) in enumerate(given_scenes)]
    for swap in mine(scenes, VOCABULARY).candidates:
        assert swap.images[0] != swap.images[1]
        assert swap.captions[0] != swap.captions[1]
        words = [Counter(caption.split()) for caption in swap.captions]
        assert words[0] == words[1]


def test_what_changes_places_is_tagged_as_in_the_paper():
    turned, exchanged = Relates("dog", "behind", "cat"), [Has("bus", "red"), Has("cup", "blue")]
    tags = {
        "Both": ([turned, *exchanged], [Relates("cat", "behind", "dog"), Has("bus", "blue"), Has("cup", "red")]),
        # The nouns change places under their adjectives.
        "Object": (
            [turned, Has("dog", "red"), Has("cat", "blue")],
            [Relates("cat", "behind", "dog"), Has("cat", "red"), Has("dog", "blue")],
        ),
    }
    for tag, facts in tags.items():
        scenes = [
            Scene(image=image, facts=frozenset(fact), several=frozenset(), captions=(whole(image, fact),))
            for image, fact in zip("12", facts, strict=True)
        ]
        [swap] = mine(scenes, VOCABULARY).candidates
        assert swap.tags["collapsed_tag"] == tag


def whole(image, facts):
    return Statement(image=image, key=("words",), facts=tuple(facts), text=f"caption {image}", words=(image,))


@pytest.mark.parametrize(("one", "other"), [("hat", "dress"), ("cup", "tree"), ("man", "dog")])
def test_a_graph_of_few_things_does_not_say_that_an_image_has_one_of_them(one, other):
    graphs = graph("1", f"white {one}", f"black {other}"), graph("2", f"black {one}", f"white {other}")
    assert len(swaps(*graphs)) == 1
    assert swaps(*(replace(each, complete=False) for each in graphs)) == ()


def boxed(name, *things):
    """A graph of things such as "red cup" with the left edge of each box."""
    objects = {
        str(index): SceneObject(
            id=str(index), name=text.split()[-1], box=Box(x=left, y=0, w=90, h=90), attributes=tuple(text.split()[:-1])
        )
        for index, (text, left) in enumerate(things)
    }
    others = {f"floor {n}": SceneObject(id=f"floor {n}", name="floor", box=BOX) for n in range(WHOLE)}
    return SceneGraph(id=name, objects=objects | others)


@tabled
def test_boxes_say_which_thing_is_to_the_left(one, other, captions):
    # none: boxes that overlap, things that nobody names together, and a tree that may be one of several
    exchanged = boxed("2", (one[0], other[1]), (other[0], one[1]))
    assert [swap.captions for swap in swaps(boxed("1", one, other), exchanged)] == ([captions] if captions else [])
    assert swaps(boxed("1", one, other, (one[0], 500)), exchanged) == ()  # a second cup
    few = SceneGraph(id="1", objects=dict(list(boxed("1", one, other).objects.items())[:2]))
    assert swaps(few, exchanged) == ()  # which the graph may lack


@tabled
def test_one_attribute_belongs_to_the_other_thing(first, second, captions):
    found = [set(swap.captions) for swap in swaps(graph("1", *first), graph("2", *second))]
    assert len(found) == 1 if captions is None else found == ([set(captions)] if captions else [])
