"""Noun foils: a related object that no caption mentions, in the same number."""

import pytest
from builders import tabled

from vlgate.perturb.foils.captions.mentions import mentions
from vlgate.perturb.foils.captions.nouns import noun_foils
from vlgate.perturb.foils.captions.object_names import ObjectClass, coco_names, object_names


@pytest.fixture(scope="module")
def foils(parser):
    """Return what each foil of a caption says for each word that it puts in; ``others`` are captions too."""

    def made(caption, *others, **options):
        parsed, *rest = parser.parse((caption, *others))
        found = noun_foils(parsed, [mentions(one) for one in rest], **options)
        return {foil.classes[1]: foil.foil for foil in found.candidates}

    return made


def test_the_other_word_is_of_the_same_supercategory_and_number(foils):
    found = foils("Two dogs near a gate.")
    assert found["cat"] == "Two cats near a gate."
    assert found["sheep"] == "Two sheep near a gate."
    assert set(found) <= {sibling.word for sibling in coco_names().siblings["animal"]}


def test_the_article_agrees(foils):
    assert foils("A zebra in a field")["elephant"] == "An elephant in a field"
    assert foils("An old airplane")["boat"] == "An old boat"


def test_what_a_caption_mentions_by_any_name_is_not_put_in(foils):
    assert "cat" in foils("A dog on the grass")
    assert "cat" not in foils("A dog on the grass", "A kitten plays")
    assert "cat" not in foils("A dog on the grass with cats")
    assert foils("A dog on the grass", "An animal is there.") == {}


def test_annotated_objects_are_not_put_in_and_allow_what_is_often_there(foils):
    assert "truck" not in foils("A car on the street")
    assert "truck" in foils("A car on the street", objects=["car"])
    assert "truck" not in foils("A car on the street", objects=["car", "truck"])


def test_a_name_of_two_words_is_replaced_as_one(foils):
    assert foils("A child holds a teddy bear.")["vase"] == "A child holds a vase."


def test_a_mouse_is_a_device_beside_others_and_in_a_foil_a_computer_mouse(foils):
    assert foils("A mouse near a desk.")["remote"] == "A remote near a desk."
    assert foils("A batter swings a bat.")["kite"] == "A batter swings a kite."
    assert foils("A girl holding a remote.")["computer mouse"] == "A girl holding a computer mouse."


@tabled
def test_what_is_not_sure_is_refused_with_a_reason(parser, caption, reason):
    assert reason in noun_foils(next(parser.parse([caption]))).refused


def test_categories_may_be_given(foils):
    classes = [
        ObjectClass(category=word, supercategory="tool", word=word, names=frozenset({word}))
        for word in ("hammer", "saw")
    ]
    assert foils("A hammer on a bench", names=object_names(classes)) == {"saw": "A saw on a bench"}


def test_coco_has_eighty_categories_and_their_neighbours_exist():
    classes = [one for group in coco_names().siblings.values() for one in group]
    words = {one.word for one in classes} | {one.category for one in classes}
    assert len(classes) == 80
    assert len(coco_names().siblings) == 12
    assert all(one.beside <= words for one in classes)
