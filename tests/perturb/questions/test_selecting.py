"""Which drafts are kept or drawn: words that are right as often as by chance, and relations that are usual."""

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import Corpus, Generator
from vlgate.perturb.questions.chance import Links
from vlgate.perturb.questions.drafts import Draft, NounPhrase
from vlgate.perturb.questions.shares import UNIFORM, selected
from vlgate.perturb.scene_graph import Box, Relation, SceneGraph, SceneObject

COLORS = ("red", "blue", "green", "black")


def graph(name, *things):
    """A graph of things: a name, its attributes, and perhaps a relation to the thing of that place."""
    objects = [
        SceneObject(
            id=str(index),
            name=thing,
            box=Box(x=0, y=0, w=90, h=90),
            attributes=tuple(attributes.split()),
            relations=tuple(Relation(name=text, object=other) for text, other in related),
        )
        for index, (thing, attributes, *related) in enumerate(things)
    ]
    return SceneGraph(id=name, objects={item.id: item for item in objects})


def corpus(*graphs):
    return Corpus(graphs, default_ontology(), least_objects=0)


def test_no_word_tells_whether_it_is_right():
    """Of the candidates, red is right in 9 of 10 that offer it."""
    [view], chance = corpus(graph("1", ("cup", ""))).views, Random(0)
    cup, pool = NounPhrase("cup", "singular"), []
    for number in range(1200):
        others = chance.sample(COLORS[1:], 2)
        words = ("red", others[0]) if number % 4 < 2 else tuple(others)
        words = words[::-1] if number % 20 == 0 else words
        pool.append(Draft("attribute-choice", view, words[0], cup, (str(number),), category="color", choices=words))
    kept = selected(chance, pool, 60, replace(UNIFORM, three=0.0))
    offered = Counter(word for draft in kept for word in draft.choices)
    right = Counter(draft.answer for draft in kept)
    assert len(kept) == 60
    assert offered["red"] >= 4
    for word in COLORS:
        assert abs(right[word] - offered[word] / 2) <= 3, (word, right, offered)


@pytest.mark.parametrize(
    ("relation", "images", "drawn"), [("stuck on", 1, False), ("stuck on", 2, True), ("leaning against", 1, True)]
)
def test_one_image_makes_no_odd_relation_usual(relation, images, drawn):
    fence = [graph(f"{index}", ("sign", "", (relation, "1")), ("fence", "")) for index in range(images)]
    views = corpus(*fence, graph("table", ("cup", "", ("on", "1")), ("table", ""))).views
    links, chance = Links(views, 0.0, default_ontology().expected.odd), Random(1)
    found = [links.draw(chance, None, Counter()) for _ in range(60)]
    assert (relation in {link[0].text for _, _, link in found}) == drawn


def test_a_rare_relation_is_drawn_as_often_as_a_frequent_one():
    images = [graph(f"{index}", ("cup", "", ("on", "1")), ("table", "")) for index in range(60)]
    views = corpus(*images, graph("rare", ("cup", "", ("behind", "1")), ("table", ""))).views
    links, chance, drawn = Links(views, 0.25), Random(1), Counter()
    for _ in range(100):
        links.draw(chance, None, drawn)
    assert 30 <= drawn["behind"] <= 70


def test_the_answers_about_an_attribute_so_far_do_not_tell_the_next():
    """If yes and no were right equally often for each word, the other questions would give every answer away."""
    cups = [graph(f"{index}", ("cup", color)) for index in range(40) for color in [("white", "black")[index % 2]]]
    generator, more = Generator(corpus(*cups)), []
    for seed in range(6):
        made = generator.make("antonym-dir", size=200, seed=seed).pairs
        answers = Counter(pair.answers[0] for pair in made if pair.asked[0].attribute == "white")
        more.append(abs(answers["yes"] - answers["no"]))
    assert max(more) >= 4, more
