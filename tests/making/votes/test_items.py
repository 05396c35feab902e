"""What is asked: which texts, in which order, and how they differ."""

import pytest
from builders import tabled
from hypothesis import given
from hypothesis import strategies as st
from voting import PAIRS, QUAD, SET, read_items, write_cases

from vlgate.errors import OptionError
from vlgate.making.votes.form import digest, items_of
from vlgate.report.difference import bold, difference
from vlgate.types import Ask, Case, LazyImage, Task

TEXTS = st.text(alphabet="ab <>&'-.é", max_size=20)


def test_the_caption_comes_first_in_half_of_the_items_of_each_task(tmp_path):
    tasks = {"mine/even": PAIRS * 5, "mine/odd": PAIRS[:3]}
    items = read_items(write_cases(tmp_path / "set", tasks))
    first = {task: [item.caption_first for item in items if item.task == task] for task in tasks}
    assert sum(first["mine/even"]) == 10
    assert sum(first["mine/odd"]) in {1, 2}
    for item in items:
        assert item.texts == ((item.caption, item.foil) if item.right == "first" else (item.foil, item.caption))


def test_the_order_depends_on_the_seed_only(tmp_path):
    folder = write_cases(tmp_path / "set", {"mine/x": PAIRS * 5})
    orders = [[(item.case.id, item.caption_first) for item in read_items(folder, seed)] for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert digest(read_items(folder, 0)) != digest(read_items(folder, 1))


def test_a_changed_caption_makes_another_form(tmp_path):
    before = read_items(write_cases(tmp_path / "a", {"mine/x": PAIRS}))
    changed = [{**PAIRS[0], "foil": "A cow on a mat."}, *PAIRS[1:]]
    after = read_items(write_cases(tmp_path / "b", {"mine/x": changed}))
    assert digest(before) != digest(after)
    assert len({item.id for item in before} & {item.id for item in after}) in {2, 3}


def test_a_2x2_is_asked_once_for_each_image_and_a_set_once_for_each_true_sentence(tmp_path):
    items = read_items(write_cases(tmp_path / "set", {"mine/quad": [QUAD], "mine/set": [SET]}))
    assert {(item.image.key, item.caption, item.foil) for item in items} == {
        ("1.png", "a dog on a cat", "a cat on a dog"),
        ("2.png", "a cat on a dog", "a dog on a cat"),
        ("1.png", "A man eats.", "A man sleeps."),
        ("1.png", "Food is eaten.", "Food is sold."),
    }


def test_questions_have_nothing_to_choose_between():
    ask = Ask(image=LazyImage(key="1", load=lambda: None), question="Is it?", choices=("yes", "no"))
    case = Case(id="1", requests=(ask, ask), truths=("yes", "no"))
    with pytest.raises(OptionError, match=r"'mine/asked' has questions.*--suite"):
        items_of(Task(id="mine/asked", capability="invariance", shape="questions", cases=(case,)), 0)


@tabled
def test_the_words_that_differ_are_in_bold(first, second, bold_first, bold_second):
    assert tuple(map(bold, difference(first, second))) == (bold_first, bold_second)


@given(TEXTS, TEXTS)
def test_the_pieces_of_a_text_join_to_it_and_the_plain_ones_are_shared(first, second):
    pieces = difference(first, second)
    assert tuple("".join(text for text, _ in side) for side in pieces) == (first, second)
    plain = ["".join("".join(text for text, marked in side if not marked).split()) for side in pieces]
    assert plain[0] == plain[1]
