import random

import numpy as np
import pytest
from builders import image, task_of

from vlgate.errors import NoReplyError
from vlgate.models.reference.blind import Blind
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.types import Answerer, Ask, Case, Compare, LanguageModel, Match, Matcher, Prepared


def match(key, text):
    return Match(image=image(key), text=text)


def ask(key, question, *choices):
    return Ask(image=image(key), question=question, choices=choices)


def task(*rows, name="a/b"):
    return task_of([Case(id=str(n), requests=(asked,), truths=(truth,)) for n, (asked, truth) in enumerate(rows)], name)


def test_protocols():
    assert isinstance(Oracle(), Prepared)
    assert isinstance(Constant(), LanguageModel)
    assert not isinstance(Random(), LanguageModel | Prepared)
    assert all(isinstance(model, Matcher) and isinstance(model, Answerer) for model in (Oracle(), Constant(), Random()))
    assert Oracle.decision_threshold == Constant.decision_threshold == Random.decision_threshold == 0.5


def test_the_oracle_knows_the_truths():
    oracle = Oracle()
    oracle.prepare([task((match("p", "cat"), True), (match("p", "dog"), False), (ask("p", "what?", "x", "y"), "y"))])
    scores = oracle.match([match("p", "dog"), match("p", "cat")])
    assert scores.tolist() == [0.0, 1.0]
    assert scores.dtype == np.float64
    assert oracle.answer([ask("p", "what?", "x", "y")]) == ["y"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_text_that_is_true_anywhere_is_true(order):
    tasks = [task((match("p", "cat"), True)), task((match("p", "cat"), False), name="a/c")]
    oracle = Oracle()
    oracle.prepare([tasks[place] for place in order])
    assert oracle.match([match("p", "cat")]).tolist() == [1.0]


def test_of_two_answers_the_first_prepared_holds():
    oracle = Oracle()
    oracle.prepare([task((ask("p", "q"), "yes")), task((ask("p", "q"), "no"), name="a/c")])
    assert oracle.answer([ask("p", "q")]) == ["yes"]


def test_the_oracle_has_no_reply_to_what_it_was_not_prepared_for():
    oracle = Oracle()
    oracle.prepare([task((match("p", "cat"), True))])
    with pytest.raises(NoReplyError, match="2 of 3") as caught:
        oracle.match([match("q", "cat"), match("p", "cat"), match("p", "dog")])
    assert caught.value.positions == {0, 2}
    with pytest.raises(NoReplyError):
        oracle.answer([ask("p", "q")])


def test_the_constant_says_the_same():
    constant = Constant()
    assert constant.match([match("p", "cat"), match("q", "dog")]).tolist() == [0.0, 0.0]
    assert constant.answer([ask("p", "q", "No", "Yes"), ask("p", "q", "red", "blue"), ask("p", "q")]) == [
        "Yes", "red", "yes"]  # fmt: skip
    assert constant.perplexity(["a", "b"]).tolist() == [1.0, 1.0]


def test_chance_depends_on_seed_and_request_alone():
    pairs = [match(f"p{number}", f"text {number % 7}") for number in range(200)]
    scores = dict(zip(pairs, Random(seed=3).match(pairs), strict=True))
    shuffled = random.Random(0).sample(pairs, len(pairs))
    assert [scores[pair] for pair in shuffled] == Random(seed=3).match(shuffled).tolist()
    assert [Random(seed=3).match([pair])[0] for pair in pairs[:5]] == [scores[pair] for pair in pairs[:5]]
    assert not set(Random(seed=4).match(pairs)) & set(scores.values())


def test_chance_is_uniform():
    scores = Random().match([match(str(number), "t") for number in range(20_000)])
    assert 0 <= scores.min() < scores.max() < 1
    assert np.histogram(scores, bins=10, range=(0, 1))[0] == pytest.approx(2_000, abs=200)


def test_chance_picks_a_choice_whatever_their_order():
    model = Random()
    one = model.answer([ask(str(number), "q", "a", "b", "c") for number in range(900)])
    assert one == model.answer([ask(str(number), "q", "c", "a", "b") for number in range(900)])
    assert all(one.count(choice) == pytest.approx(300, abs=60) for choice in "abc")
    assert set(model.answer([ask(str(number), "q") for number in range(50)])) == {"yes", "no"}


def compare(keys, question="which?"):
    return Compare(images=tuple(map(image, keys)), question=question, choices=("first", "second"))


def test_questions_about_several_images():
    questions = [compare("ab"), compare("ba")]
    cases = [Case(id=str(n), requests=tuple(questions), truths=("first", "second")) for n in range(3)]
    oracle, blind = Oracle(), Blind()
    for model in (oracle, blind):
        model.prepare([task_of(cases, shape="image_choice")])
    assert oracle.compare(questions) == ["first", "second"]
    with pytest.raises(NoReplyError):
        oracle.compare([compare("ab", "another?")])
    assert Constant().compare(questions) == ["first", "first"]
    many = [compare("ab", f"{n}?") for n in range(50)]
    found = Random(1).compare(many)
    assert set(found) == {"first", "second"}
    assert found == Random(1).compare(many) != Random(2).compare(many)
    assert found != Random(1).compare([compare("ba", f"{n}?") for n in range(50)])
    assert len(set(blind.compare(questions))) == 1  # it sees no image, so both orders have one answer
