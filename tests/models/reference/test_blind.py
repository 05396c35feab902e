import random
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from builders import image, pair_case, quads_task, question_case, task_of, texts_task

from vlgate.errors import NoReplyError
from vlgate.metrics.text_learning import FOLDS, stratified_folds
from vlgate.models.reference.blind import Blind, Lesson
from vlgate.types import Ask, Case, Read

NOUNS = [f"noun{number}" for number in range(40)]


def pair(number, caption, foil, key=None):
    return pair_case(number, caption, foil, image(key or f"img{number}.jpg"))


def sentence(draw):
    return f"a {draw.choice(NOUNS)} near the {draw.choice(NOUNS)}"


def prepared(*tasks):
    model = Blind()
    model.prepare(tasks)
    return model


def accuracy(model, some):
    scores = [model.match(case.requests) for case in some.cases]
    return float(np.mean([caption > foil for caption, foil in scores]))


@pytest.fixture
def revealing():
    draw = random.Random(1)
    return task_of(pair(n, sentence(draw), f"a {draw.choice(NOUNS)} near no {draw.choice(NOUNS)}") for n in range(400))


def test_a_revealing_word_is_found(revealing):
    model = prepared(revealing)
    assert accuracy(model, revealing) > 0.99
    scores = np.concatenate([model.match(case.requests) for case in revealing.cases])
    assert np.mean((scores > Blind.decision_threshold) == np.tile([True, False], 400)) > 0.98


def test_word_order_is_found():
    draw = random.Random(2)
    cases = [
        pair(n, f"one {noun} ran home", f"home ran one {noun}") for n in range(300) for noun in [draw.choice(NOUNS)]
    ]
    assert accuracy(prepared(task_of(cases)), task_of(cases)) == 1.0


def test_the_order_of_cases_and_tasks_makes_no_difference(revealing):
    draw = random.Random(4)
    other = task_of([pair(n, sentence(draw), sentence(draw)) for n in range(200)], "a/a")
    shuffled = replace(revealing, cases=tuple(draw.sample(revealing.cases, len(revealing.cases))))
    turned = replace(other, cases=other.cases[::-1])
    requests = [request for some in (revealing, other) for case in some.cases for request in case.requests]
    first = prepared(revealing, other).match(requests)
    assert np.array_equal(first, prepared(turned, shuffled).match(requests))


def naive_bayes(rows, folds):
    """The log-likelihood of a truth, given an image and a text, after the rows of the other folds, in plain lines."""

    def grams(text):
        words = ["<", *text.split(), "<"]
        return words[1:-1] + list(pairwise(words))

    # the mark for a text's end counts as a word of its own
    size = len({gram for _, text, _ in rows for gram in grams(text)}) + 1

    def likely(key, text, truth):
        own = [row for row in rows if folds[row[0]] != folds[key] and row[2] == truth]
        seen = [gram for row in own for gram in grams(row[1])]
        return np.log(len(own) + 1) + sum(np.log((seen.count(gram) + 1) / (len(seen) + size)) for gram in grams(text))

    return likely


def test_it_agrees_with_naive_bayes_in_plain_lines():
    draw = random.Random(5)
    cases = [pair(n, sentence(draw), sentence(draw) + " today", key=f"img{n % 60}.jpg") for n in range(120)]
    rows = [(r.image.key, r.text, t) for c in cases for r, t in zip(c.requests, c.truths, strict=True)]
    plain = naive_bayes(rows, stratified_folds(cases))
    some = [case.requests[place] for case in cases[::10] for place in (0, 1)]
    asked = [(request.image.key, request.text) for request in some]
    expected = [plain(*one, True) - plain(*one, False) for one in asked]
    assert prepared(task_of(cases)).match(some) == pytest.approx(expected, abs=1e-9)


def test_a_text_of_a_two_by_two_ties_with_itself():
    draw = random.Random(6)
    quads = quads_task(*((f"{n}_a", f"{n}_b", sentence(draw), sentence(draw)) for n in range(100)), name="q/q")
    model = prepared(quads)
    for case in quads.cases:
        scores = model.match(case.requests)
        assert (scores[0], scores[1]) == (scores[2], scores[3])


def test_images_of_one_case_are_in_one_fold():
    def case(number, *keys):
        requests = tuple(Ask(image=image(key), question="q") for key in keys)
        return Case(id=str(number), requests=(*requests, Read(text="t")), truths=("yes",) * len(keys) + (True,))

    cases = [case(0, "b", "a"), case(1, "c", "b"), case(2, "z"), case(3, "z", "z#blur6")]
    folds = stratified_folds(cases)
    assert folds["a"] == folds["b"] == folds["c"] == stratified_folds([case(0, "a")])["a"]
    assert folds["z"] == folds["z#blur6"] == stratified_folds([case(0, "z")])["z"]
    assert folds == stratified_folds(cases[::-1])
    many = stratified_folds([case(0, str(number)) for number in range(5_000)])
    assert np.bincount(list(many.values()), minlength=FOLDS) == pytest.approx(500, abs=100)


def test_one_fold_alone_teaches_nothing():
    cases = [pair(n, "a cat", "no cat", key="same.jpg") for n in range(50)]
    assert prepared(task_of(cases)).match(cases[0].requests).tolist() == [0.0, 0.0]


def test_what_is_in_two_tasks_has_the_reply_of_the_first_id(revealing):
    reversed_truths = replace(
        revealing, id="z/z", cases=tuple(replace(case, truths=case.truths[::-1]) for case in revealing.cases)
    )
    assert accuracy(prepared(reversed_truths, revealing), revealing) > 0.99
    assert accuracy(prepared(replace(reversed_truths, id="A/A"), revealing), revealing) < 0.01


def test_what_was_not_prepared_has_no_reply(revealing, banana):
    model = prepared(revealing)
    model.prepare([])
    with pytest.raises(NoReplyError, match="2 of 2") as caught:
        model.match(revealing.cases[0].requests)
    assert caught.value.positions == {0, 1}
    with pytest.raises(NoReplyError) as caught:
        prepared(banana).answer([banana.cases[0].requests[0], asked(0, "else?", "x").requests[0]])
    assert caught.value.positions == {1}


@pytest.mark.slow
def test_odd_texts():
    odd = ["", " ", "\0", "!!!", "été ΣΑΣ", "a\nb", "x" * 10_000]
    cases = [pair(n, odd[n % 7], odd[(n + 3) % 7]) for n in range(100)]
    assert np.isfinite(np.concatenate([prepared(task_of(cases)).match(case.requests) for case in cases])).all()


def asked(number, question, truth, *choices):
    return question_case(number, question, truth, choices)


def questions(cases, name="c/q"):
    return task_of(cases, name, "invariance", "questions")


def right(model, some):
    return float(np.mean([model.answer(case.requests)[0] == case.truths[0] for case in some.cases]))


@pytest.fixture
def banana():
    draw = random.Random(7)
    fruit = {"banana": "yellow", "cherry": "red", "lime": "green"}
    cases = []
    for n in range(300):
        name = draw.choice(sorted(fruit))
        wrong = draw.choice([colour for colour in fruit.values() if colour != fruit[name]])
        cases.append(asked(n, f"what is the {name}?", fruit[name], *draw.sample([fruit[name], wrong], 2)))
    return questions(cases)


def test_an_answer_that_the_question_gives_away_is_found(banana):
    assert right(prepared(banana), banana) == 1.0
    free = replace(banana, cases=tuple(
        replace(case, requests=(replace(case.requests[0], choices=()),)) for case in banana.cases))  # fmt: skip
    assert right(prepared(free), free) == 1.0


def test_answers_do_not_depend_on_the_order_of_choices_or_cases(banana):
    model = prepared(banana)
    turned = prepared(replace(banana, cases=banana.cases[::-1]))
    for case in banana.cases:
        ask = case.requests[0]
        reordered = replace(ask, choices=ask.choices[::-1])
        assert model.answer([ask]) == model.answer([reordered]) == turned.answer([ask])


def test_without_any_clue_the_most_common_answer_among_the_choices_is_given():
    draw = random.Random(8)
    cases = [asked(n, sentence(draw), "no" if n % 4 else "yes", "yes", "no") for n in range(400)]
    assert right(prepared(questions(cases)), questions(cases)) > 0.65
    cases = [asked(n, "what?", "cat", "cat", "dog") for n in range(50)] + [asked(90, "what?", "eel", "eel", "bee")]
    model = prepared(questions(cases))
    assert model.answer(cases[-1].requests) == ["bee"]  # equally unlikely: the first in the alphabet
    assert model.answer(cases[0].requests) == ["cat"]


def test_answers_agree_with_naive_bayes_in_plain_lines():
    draw = random.Random(9)
    colours = ["red", "green", "blue"]
    cases = [asked(n, sentence(draw), draw.choice(colours), *colours) for n in range(150)]
    rows = [(case.requests[0].image.key, case.requests[0].question, case.truths[0]) for case in cases]
    plain = naive_bayes(rows, stratified_folds(cases))
    expected = [max(sorted(colours), key=lambda colour: plain(key, text, colour)) for key, text, _ in rows]
    model = prepared(questions(cases))
    assert [model.answer(case.requests)[0] for case in cases] == expected


WORDS = "dog cup red tall sits near box man runs tree lamp shoe bird blue old small house road sky grass".split()


def caption(draw):
    return " ".join(draw.sample(WORDS, 6))


def edited(draw, text, times=1):
    words = text.split()
    for place in draw.sample(range(len(words)), times):
        words[place] = draw.choice([word for word in WORDS if word not in words])
    return " ".join(words)


def medoid(draw):
    first = caption(draw)
    return [first, *(edited(draw, first) for _ in range(3))]


def two_true(draw):
    first = caption(draw)
    return [first, f"{first} today", f"{edited(draw, first, 3)} {caption(draw)}"]


def four(draw):
    """Two true sentences that differ in one word, and two false ones that differ from these and from one another."""
    first = caption(draw)
    other = edited(draw, first)
    return [first, other, edited(draw, first, 3), edited(draw, other, 3)]


def odd_one(draw):
    first = caption(draw)
    return [caption(draw), first, edited(draw, first), edited(draw, first)]


def in_the_alphabet(place):
    def texts(draw):
        ordered = sorted(caption(draw) for _ in range(4))
        return [ordered.pop(place), *ordered]

    return texts


def by_length(sign):
    def texts(draw):
        ordered = sorted((caption(draw) for _ in range(4)), key=lambda text: sign * len(text))
        return [f"{ordered[0]} today" if sign < 0 else ordered[0][:-3], *ordered[1:]]

    return texts


GIVEAWAYS = {
    "medoid": ("choice", medoid, (True, False, False, False)),
    "medoid of three": ("choice", lambda draw: medoid(draw)[:3], (True, False, False)),
    "two true": ("two_true", two_true, (True, True, False)),
    "set": ("set", four, (True, True, False, False)),
    "odd one out": ("choice", odd_one, (True, False, False, False)),
    "first in the alphabet": ("choice", in_the_alphabet(0), (True, False, False, False)),
    "last in the alphabet": ("choice", in_the_alphabet(-1), (True, False, False, False)),
    "longest": ("choice", by_length(-1), (True, False, False, False)),
    "shortest": ("choice", by_length(1), (True, False, False, False)),
}


@pytest.mark.parametrize("name", GIVEAWAYS)
def test_a_text_that_gives_itself_away_among_the_others_is_found(name):
    shape, texts, truths = GIVEAWAYS[name]
    draw = random.Random(name)
    rows = [(f"img{n}", *texts(draw)) for n in range(60)]
    some = texts_task(*rows, shape=shape, truths=truths, name=f"x/{shape}")
    model, found = prepared(some), []
    for case in some.cases:
        scores = model.match(case.requests)
        true, false = (scores[[truth is wanted for truth in truths]] for wanted in (True, False))
        found.append(true.min() > false.max())
    assert np.mean(found) > 0.75


def test_the_choice_that_the_others_are_edits_of_is_found():
    draw = random.Random(11)
    cases = []
    for n in range(60):
        first, *others = medoid(draw)
        cases.append(asked(n, "which caption fits?", first, *draw.sample([first, *others], 4)))
    assert right(prepared(questions(cases)), questions(cases)) > 0.9


def test_several_foils_of_one_caption_give_it_away_in_cases_of_their_own():
    draw = random.Random(12)
    cases = []
    for n in range(40):
        first, *others = medoid(draw)
        cases += [pair(f"{n}-{index}", first, other, key=f"img{n}") for index, other in enumerate(others)]
    assert accuracy(prepared(task_of(cases)), task_of(cases)) > 0.9


def clueless(seed, n):
    """Choices among four texts that have nothing in common."""
    draw = random.Random(f"clueless {seed}")
    return texts_task(*((f"{seed}-{k}", *(caption(draw) for _ in range(4))) for k in range(n)), shape="choice")


def balanced(seed, n):
    """Pairs in which left is true as often as right, and nothing else tells the truth."""
    draw = random.Random(seed)
    sides = ["left", "right"] * (n // 2)
    draw.shuffle(sides)
    other = {"left": "right", "right": "left"}
    return task_of(
        pair(f"{seed}-{number}", f"the {a} is {side} of the {b}", f"the {a} is {other[side]} of the {b}")
        for number, side in enumerate(sides)
        for a, b in [draw.sample(NOUNS, 2)]
    )


def unrelated(seed, n):
    """Pairs whose truths are drawn at random."""
    draw = random.Random(seed)
    return task_of(pair(f"{seed}-{number}", sentence(draw), sentence(draw)) for number in range(n))


@pytest.mark.parametrize(("made", "cases"), [*product([balanced, unrelated], [40, 120, 500]), (clueless, 60)])
def test_a_task_without_a_clue_is_at_chance_however_it_is_balanced(made, cases):
    found = []
    for seed in range(30):
        some = made(seed, cases)
        model = prepared(some)
        scores = np.array([model.match(case.requests) for case in some.cases])
        best = scores == scores.max(axis=1, keepdims=True)  # of texts that tie, each is right equally often
        found.append(np.mean(best[:, 0] / best.sum(axis=1)))
    assert np.mean(found) == pytest.approx(1 / scores.shape[1], abs=max(1e-9, 2 * np.std(found) / np.sqrt(30)))


def test_further_cases_of_a_task_are_what_it_is_learnt_from(revealing):
    model = Blind()
    draw = random.Random(9)
    opposite = task_of(pair(f"other {n}", f"{sentence(draw)} no", sentence(draw)) for n in range(400))
    model.study({revealing.id: [Lesson(cases=opposite.cases)]})
    model.prepare([revealing])
    assert accuracy(model, revealing) < 0.1
    model.study({})
    model.prepare([revealing])
    assert accuracy(model, revealing) > 0.99


def test_a_lesson_judges_its_own_images_and_nothing_is_learnt_from_the_judged_cases(revealing):
    model = Blind()
    draw = random.Random(9)
    same = tuple(pair(f"s{n}", sentence(draw), f"{sentence(draw)} no") for n in range(400))
    opposite = tuple(pair(f"o{n}", f"{sentence(draw)} no", sentence(draw)) for n in range(400))
    first = {f"img{number}.jpg" for number in range(200)}
    others = Lesson(cases=opposite, judges=lambda key: key not in first)
    model.study({revealing.id: [Lesson(cases=same, judges=first.__contains__), others]})
    model.prepare([revealing])
    halves = [replace(revealing, cases=revealing.cases[place : place + 200]) for place in (0, 200)]
    assert accuracy(model, halves[0]) > 0.99
    assert accuracy(model, halves[1]) < 0.1
    flipped = replace(revealing, cases=tuple(replace(case, truths=case.truths[::-1]) for case in revealing.cases))
    requests = [request for case in revealing.cases for request in case.requests]
    before = model.match(requests)
    model.prepare([flipped])
    assert np.array_equal(before, model.match(requests))
