import random
from dataclasses import replace

import numpy as np
import pytest
from builders import asked_task as questions
from builders import model, quads_task, question_case, task_of
from builders import texts_task as pairs
from sklearn.linear_model import LogisticRegression

from vlgate.audit.choices import _RIDGE, at_random, choices, likelihoods
from vlgate.audit.shortcut_probes import Trigrams
from vlgate.audit.shortcuts import PROBES, by_luck, shortcuts
from vlgate.errors import NoReplyError
from vlgate.metrics.stats import proportion


def solved(task, **options):
    """The share of cases that each probe solves."""
    return dict(zip(PROBES, (shortcuts(task, **options).scores >= 0.75).mean(axis=0).tolist(), strict=True))


WORDS = ["dog", "cup", "red", "tall", "sits", "near", "box", "man", "runs", "tree"]


def texts(draw, n=4):
    return " ".join(draw.choices(WORDS, k=n))


def test_a_word_that_is_always_false_gives_its_cases_away_and_the_longer_text_by_its_form():
    draw = random.Random(0)
    found = solved(pairs(*[(str(n), f"a {texts(draw)}", f"the {texts(draw)}") for n in range(100)]))
    assert found["words"] == 1.0
    assert found["form"] < 0.9
    assert solved(pairs(*[(str(n), texts(draw, 3), texts(draw, 5)) for n in range(100)]))["form"] == 1.0


def test_the_order_of_words_gives_its_cases_away_by_its_likelihood():
    draw = random.Random(0)
    both = [draw.sample(WORDS, 2) for _ in range(200)]
    rows = [(str(n), f"the {a} of my {b}", f"my {a} of the {b}") for n, (a, b) in enumerate(both)]
    found = solved(pairs(*rows))
    assert found["likelihood"] > 0.95
    assert found["form"] == 0.0


def test_further_shapes_are_choices_too():
    draw = random.Random(5)
    rows = [(f"{n}", f"a {texts(draw)}", f"the {texts(draw)}", f"the {texts(draw)}") for n in range(60)]
    several = pairs(*rows, shape="choice")
    single = questions(*[(str(n), f"any {n % 2}?", ("yes", "no")[n % 2]) for n in range(60)], shape="single")
    for task in (several, single):
        assert solved(task)["words"] == 1.0
        assert by_luck(task) < 0.2


def test_the_question_gives_its_answer_away_but_not_one_that_is_not_offered():
    task = questions(*[(str(n), f"is thing{n} any?", "no", f"is thing{n} there?", "yes") for n in range(60)])
    assert solved(task)["words"] == 1.0
    lost = replace(task.cases[0], truths=("no", "perhaps"))
    found = shortcuts(replace(task, cases=(lost, *task.cases[1:])))
    assert found.scores[0].max() == 0.0
    assert found.solved_blind[1:].min() >= 1


def test_what_goes_with_one_image_only_gives_nothing_away():
    """Every image has a word of its own that is true ten times: the other cases of the image would tell it."""
    rows = [(f"{n // 10}", f"same abc{n // 10}", f"same xyz{n // 10}") for n in range(200)]
    found = shortcuts(pairs(*rows))
    assert found.right[:, 0].tolist() == [0.5] * 200
    assert found.solved_blind.max() == 0


def test_no_case_of_two_images_is_solved_because_each_caption_is_true_once():
    draw = random.Random(0)
    rows = ((f"{n}-a", f"{n}-b", f"a {texts(draw)}", f"the {texts(draw, 7)}") for n in range(60))
    assert shortcuts(quads_task(*rows)).scores.max() <= 0.5


@pytest.mark.parametrize("cases", [60, pytest.param(400, marks=pytest.mark.slow)])
def test_random_truths_are_solved_by_luck_only(cases):
    """The probes are cross-fitted, and so are the weights that turn what they find into probabilities."""
    right, lucky = [], []
    for seed in range(12):
        draw = random.Random(f"{seed} {cases}")
        made = pairs(*[(f"{seed}-{n}", texts(draw), texts(draw, 5)) for n in range(cases)])
        found = shortcuts(at_random(made, f"test:{seed}"))
        right.append(found.right.mean(axis=0))
        lucky.append(1 - found.unsolved.mean())
    error = np.std(right, axis=0, ddof=1) / 12**0.5
    assert (abs(np.mean(right, axis=0) - 0.5) < np.maximum(0.02, 3 * error)).all()
    assert np.mean(lucky) < (0.15 if cases == 60 else 0.02)


COLOURS = ("red", "green", "blue", "yellow", "black", "white", "brown", "pink", "grey", "teal", "orange", "purple")
SIDES = ("on", "under", "left of", "right of")


def evenly(draw, n, words):
    """Return n true words, each as often as the others."""
    return draw.sample([words[index % len(words)] for index in range(n)], n)


def any_other(draw, words, true, n=1):
    return draw.sample([word for word in words if word != true], n)


def exchanged(draw, n, words):
    """Return n true words and n false ones, in which each word is as often false as it is true."""
    true = evenly(draw, n, words)
    false = draw.sample(true, n)
    while clash := next((index for index in range(n) if true[index] == false[index]), None):
        other = draw.choice([index for index in range(n) if true[clash] not in (true[index], false[index])])
        false[clash], false[other] = false[other], false[clash]
    return true, false


def balanced(words, sentence, images=1):
    """Pairs in which each word is true equally often, and the foil has any other word."""

    def made(draw, n):
        rows = []
        for number, true in enumerate(evenly(draw, n, words)):
            both, noun = (true, *any_other(draw, words, true)), draw.choice(WORDS)
            rows.append((f"{number // images}", *(sentence.format(word, noun) for word in both)))
        return pairs(*rows), 1 / 2

    return made


def twice_balanced(draw, n):
    """Pairs in which each word is as often true as false."""
    rows = zip(*exchanged(draw, n, COLOURS[:6]), strict=True)
    return pairs(*[(str(number), *(f"it is {word}" for word in both)) for number, both in enumerate(rows)]), 1 / 2


def of_several(words, offered):
    """Choices of one true text among several, as in What'sUp."""

    def made(draw, n):
        rows = []
        for number, true in enumerate(evenly(draw, n, words)):
            texts, noun = (true, *any_other(draw, words, true, offered - 1)), draw.choice(WORDS)
            rows.append((str(number), *(f"a {noun} {word} a table" for word in texts)))
        return pairs(*rows, shape="choice"), 1 / offered

    return made


def answers(draw, n):
    """Questions with four choices, each of which is the answer equally often."""
    cases = [
        question_case(number, f"what colour is the {draw.choice(WORDS)}?", true, COLOURS[:4])
        for number, true in enumerate(evenly(draw, n, COLOURS[:4]))
    ]
    return task_of(cases, "x/answers", shape="single"), 1 / 4


def quads(draw, n):
    """Two images and two captions, each true of one of them."""
    words = [(true, *any_other(draw, COLOURS[:6], true)) for true in evenly(draw, n, COLOURS[:6])]
    return quads_task(*((f"{n}a", f"{n}b", *map("it is {}".format, both)) for n, both in enumerate(words))), 1 / 6


EXACT = {
    "eight colours": balanced(COLOURS[:8], "the {1} is {0}"),
    "three words": balanced(COLOURS[:3], "there is a {} thing"),
    "twelve words": balanced(COLOURS, "there is a {} {}"),
    "left and right": balanced(("left", "right"), "{1} is on the {0}"),
    "four sides": balanced(SIDES, "a {1} {0} a table"),
    "four of an image": balanced(COLOURS[:6], "a {} {}", images=4),
    "as often false": twice_balanced,
    "one of four": of_several(SIDES, 4),
    "one of three": of_several(COLOURS[:3], 3),
    "four of eight": of_several(COLOURS[:8], 4),
    "answers": answers,
    "two images": quads,
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("cases", [40, pytest.param(120, marks=pytest.mark.slow)])
def test_what_is_balanced_exactly_is_at_chance(name, cases):
    right = []
    for seed in range(10):
        task, chance = EXACT[name](random.Random(f"{name} {cases} {seed}"), cases)
        right.append(shortcuts(task).right.mean(axis=0))
    error = np.std(right, axis=0, ddof=1) / len(right) ** 0.5
    assert (abs(np.mean(right, axis=0) - chance) <= np.maximum(0.02, 3 * error)).all()


def edited(draw, caption):
    """Return a caption with another word in one place."""
    words = caption.split()
    words[draw.randrange(len(words))] = draw.choice([word for word in WORDS if word not in words])
    return " ".join(words)


def test_the_caption_that_the_foils_are_edits_of_gives_its_cases_away_by_its_form():
    draw = random.Random(6)
    captions = [" ".join(draw.sample(WORDS, 6)) for _ in range(60)]
    rows = [(str(n), one, *(edited(draw, one) for _ in range(3))) for n, one in enumerate(captions)]
    right = shortcuts(pairs(*rows, shape="choice")).right.mean(axis=0)
    assert right[PROBES.index("form")] > 0.9
    assert right[PROBES.index("words")] == pytest.approx(0.25, abs=0.05)


@pytest.mark.slow
def test_random_answers_are_solved_by_luck_only():
    draw = random.Random(0)
    rows = [(str(n), f"is {texts(draw)}?", "yes", f"is {texts(draw)}?", "no") for n in range(300)]
    found = shortcuts(at_random(questions(*rows), "test"))
    assert abs(found.right.mean() - 0.25) < 0.08
    assert by_luck(questions(*rows)) < 0.02


def test_a_model_that_does_not_follow_the_texts_is_at_chance_where_no_probe_solves_and_text_alone_is_below():
    draw, guess = random.Random(1), np.random.default_rng(1)
    articles = lambda: ("a " if draw.random() < share else "the " for share in (0.7, 0.3))  # noqa: E731
    rows = [(str(n), *(article + texts(draw) for article in articles())) for n in range(2000)]
    found = shortcuts(pairs(*rows))
    left = found.unsolved
    assert 0.2 < left.mean() < 0.8
    assert abs((guess.random(2000) < 0.5)[left].mean() - 0.5) < 0.05
    assert proportion(found.right[left, 0]).high < 0.45
    assert abs(found.right[found.unsure, 0].mean() - 0.5) < 0.06


def test_the_order_of_the_cases_makes_no_difference_and_few_images_are_left_out():
    draw = random.Random(2)
    task = pairs(*[(str(n), f"a {texts(draw)}", f"the {texts(draw)}") for n in range(80)])
    there, back = shortcuts(task), shortcuts(replace(task, cases=task.cases[::-1]))
    assert np.allclose(there.scores, back.scores[::-1], atol=1e-6)
    found = shortcuts(pairs(("1", "a", "b"), ("2", "c", "d")))
    assert found.note == "not run: 10 folds need 10 images, and there are 2"
    assert np.isnan(found.scores).all()
    assert found.reached("words") is None


def test_a_language_model_takes_the_place_of_the_trigrams_and_a_text_that_is_too_short_is_even():
    draw = random.Random(3)
    rows = [(str(n), texts(draw), f"odd{n} {texts(draw, 3)}") for n in range(60)] + [("60", "x", "odd y")]

    def perplexity(asked):
        """Find the word "odd" surprising, and have no perplexity of a single word."""
        if short := [index for index, text in enumerate(asked) if " " not in text]:
            raise NoReplyError(short, "too short")
        return np.array([20.0 if "odd" in text else 10.0 for text in asked])

    found = shortcuts(pairs(*rows), model(perplexity=perplexity))
    assert found.scores[:-1, 2].min() > 0.75
    assert found.scores[-1, 2] == pytest.approx(0.5)


def test_the_probabilities_are_those_of_a_logistic_regression_of_differences():
    draw = np.random.default_rng(4)
    found = choices(pairs(*[(str(n), "a", "b") for n in range(120)]))
    features = draw.normal(size=(240, 3)) + found.true[:, None] * [0.5, 0.0, 1.0]
    likely = likelihoods(found, lambda _: features)[::2]
    rows = features[::2] - features[1::2]
    fold = found.folds == found.folds[0]
    rows = rows / np.sqrt((rows[~fold] ** 2 / 4).mean(axis=0))
    x, y = np.concatenate([rows, -rows]), np.repeat([1, 0], 120)
    reference = LogisticRegression(C=1 / _RIDGE, fit_intercept=False, tol=1e-10, max_iter=1000)
    reference.fit(x[~np.tile(fold, 2)], y[~np.tile(fold, 2)], sample_weight=np.full(2 * (~fold).sum(), 0.5))
    assert likely[fold] == pytest.approx(reference.predict_proba(rows[fold])[:, 1], abs=1e-5)


def test_the_trigrams_are_those_of_counting_by_hand():
    said = ["a dog runs", "a cat sleeps", "a dog sleeps", "the dog runs", "a dog runs"]
    true, folds = np.array([True, True, True, False, True]), np.array([0, 1, 1, 1, 0])
    trigrams = Trigrams(said)
    seen = [text.split() for text, one, fold in zip(said, true, folds, strict=True) if one and fold == 1]
    words = {word for text in said for word in text.split()} | {"<end>", "<begin>"}
    total, padded = 0.0, [["<begin>", "<begin>", *text, "<end>"] for text in seen]
    every = [word for text in padded for word in text[2:]]
    asked = ["<begin>", "<begin>", "a", "dog", "runs", "<end>"]
    for at in range(4):
        one, two, three = asked[at : at + 3]
        single = (every.count(three) + 1) / (len(every) + len(words))
        after_two = [text[at] for text in padded for at in range(2, len(text)) if text[at - 1] == two]
        after_both = [text[at] for text in padded for at in range(2, len(text)) if text[at - 2 : at] == [one, two]]
        double = after_two.count(three) / len(after_two) if after_two else single
        triple = after_both.count(three) / len(after_both) if after_both else double
        total += np.log(0.2 * single + 0.3 * double + 0.5 * triple)
    assert trigrams.lengths[0] == 4
    assert trigrams.mean_logs(true, folds)[0] == pytest.approx(total / 4)
