"""Rules by length: the longest choice, and the longer of single questions and statements."""

import pytest

from vlgate.audit.blind_baseline import probe, solved
from vlgate.types import Ask, Case, LazyImage, Match, Task


def image(key):
    return LazyImage(key=key, load=lambda: pytest.fail("an image was decoded"))


def values(task):
    return {found.name: found.value for found in probe(task)}


def questions(*rows):
    """Rows of (question, choices, answer), one per case."""
    cases = tuple(
        Case(
            id=f"{number}",
            requests=(Ask(image=image("a"), question=words, choices=choices),),
            truths=(answer,),
        )
        for number, (words, choices, answer) in enumerate(rows)
    )
    return Task(id="x/questions", capability="invariance", shape="questions", cases=cases)


def test_the_length_of_a_choice_can_give_the_answer_away():
    """Of two choices as long as each other none is the longest, and a question without one is a miss."""
    rows = [("q", ("on the table", "under it"), "on the table")] * 9 + [("r", ("cup", "mug"), "cup")]
    assert (values(questions(*rows))["longest choice"], values(questions(*rows))["shortest choice"]) == (0.9, 0.0)
    turned = [("q", ("on the table", "it", "in it"), "it")] * 40
    assert solved(probe(questions(*turned))).name in {"shortest choice", "most common answer"}


def singles(*rows):
    """Rows of a text and whether it is true; a question, if the truth is yes or no."""
    asked = [
        Ask(image=image("a"), question=text, choices=("yes", "no"))
        if isinstance(truth, str)
        else Match(image=image("a"), text=text)
        for text, truth in rows
    ]
    cases = tuple(
        Case(id=f"{n}", requests=(one,), truths=(row[1],)) for n, (one, row) in enumerate(zip(asked, rows, strict=True))
    )
    return Task(id="x/single", capability="foil", shape="single", cases=cases)


@pytest.mark.parametrize("truths", [("yes", "no"), (True, False)])
def test_the_rules_on_single_texts_by_hand(truths):
    yes, no = truths
    found = probe(singles(("a long one", yes), ("short", yes), ("long too", no), ("a", no), ("short", no)))
    assert {one.name: one.value for one in found} == {
        "always yes": 2 / 5,
        "always no": 3 / 5,
        "longer text": (3 + 1 + 0.5) / 6,
        "shorter text": 1 - (3 + 1 + 0.5) / 6,
    }
    assert [one.n for one in found] == [5, 5, 2, 2]


def test_single_texts_whose_length_tells_the_truth_are_solved():
    rows = [("a text that is long", True)] * 30 + [("a text", False)] * 30
    assert solved(probe(singles(*rows))).name == "longer text"
    assert solved(probe(singles(*[(text, not truth) for text, truth in rows]))).name == "shorter text"
    assert solved(probe(singles(*rows, *[(text, not truth) for text, truth in rows]))) is None


def test_single_texts_that_are_all_true_have_no_rule_of_length():
    found = {one.name: one for one in probe(singles(*[("a cup", True)] * 40))}
    assert (found["always yes"].value, found["longer text"].value) == (1.0, None)
    assert "not run" in found["shorter text"].note
    assert probe(singles()) == ()
