"""The control ``look``: its conditions, the gain of models that look and that do not, and images that are not there."""

from pathlib import Path

import numpy as np
import pytest
from builders import model as fake
from builders import pair_case, predictor, task_of

from vlgate.asking.items import images_of_case
from vlgate.asking.predictor import score
from vlgate.errors import NoReplyError
from vlgate.gates.decide import Coverage, Judged, decide_all
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.verdicts import judge
from vlgate.metrics.shapes import SHAPES as SPECS
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.perturb.images.graded import blurred_away, uniform
from vlgate.probes.controls.control import Sample
from vlgate.probes.controls.look import LOOK, NOTHING, QUESTIONS, REFUSALS, TOLD, about_model, describes, others_of
from vlgate.record.options import Options
from vlgate.run.loading import blind_predictor
from vlgate.run.planning import make_plan
from vlgate.types import Ask, Batch, Case, LazyImage

SHAPES = {"existence": "pair", "word-swap": "quad", "relative-clause": "set", "active-passive": "active_passive_set"}
SHAPES |= {"order-inv": "questions", "visual-inv": "questions"}
OPTIONS = Options(
    folder=Path.cwd(), suite=tuple(f"scenes/{name}" for name in SHAPES), limit=40, thresholds=None, results=Path.cwd()
)


@pytest.fixture(scope="module")
def tasks():
    found = make_plan(OPTIONS).tasks
    assert {task.id.removeprefix("scenes/"): task.shape for task in found} == SHAPES
    return found


def measured(model, task, *, brief=False):
    if hasattr(model, "prepare"):
        model.prepare([task])
    return measured_by(predictor(model, 512), task, brief=brief)


def measured_by(asked, task, *, brief=False):
    batch = Batch(task=task, positions=tuple(range(len(task.cases))))
    verdicts = judge(batch, score(asked, batch))
    return LOOK.measure(Sample(task=task, verdicts=verdicts, ties="strict", brief=brief), asked)


def toy(says, **parts):
    """A model that says what ``says`` maps the text of a pair, or a question, and the key of an image to."""
    return fake(
        match=lambda pairs: np.array([says(pair.text, pair.image.key) for pair in pairs], dtype=np.float64),
        answer=lambda questions: [says(one.question, one.image.key) for one in questions],
        **parts,
    )


def test_a_brief_control_asks_what_the_gain_needs_and_counts_that(tasks):
    for task in tasks:
        whole, brief = (measured(Oracle(), task, brief=brief) for brief in (False, True))
        assert whole.columns.keys() - brief.columns.keys() == {"blurred"}, task.id
        assert brief.metric("visual_gain") == whole.metric("visual_gain"), task.id
        assert brief.requests <= LOOK.requests(task.cases, True) < LOOK.requests(task.cases, False), task.id


@pytest.mark.slow
def test_models_that_ignore_the_image_gain_nothing(tasks):
    length = fake(
        match=lambda pairs: np.array([float(len(pair.text)) for pair in pairs]),
        answer=lambda questions: ["yes" if len(one.question) % 2 else "no" for one in questions],
    )
    for task in tasks:
        for asked in (blind_predictor(OPTIONS, [task]), predictor(Constant()), predictor(length)):
            found = measured_by(asked, task).metric("visual_gain")
            assert found.low <= 0.0 <= found.high, (task.id, asked.name)
            assert found.value == 0.0, (task.id, asked.name)


def test_a_model_that_guesses_gains_nothing_that_an_interval_shows(tasks):
    """Both images of visual-inv become one, so a model that guesses agrees with itself only without them."""
    for task in tasks:
        assert measured(Random(), task).metric("visual_gain").low <= 0.0, task.id


def test_the_oracle_gains_all(tasks):
    for task in tasks:
        found = measured(Oracle(), task)
        gain = found.metric("visual_gain")
        if any(len({request.image.key for request in case.requests}) > 1 for case in task.cases):
            assert gain is None, task.id  # over grey and blank alone, every model that sees pixels gains
            continue
        assert (gain.value, gain.high, gain.n) == (1.0, 1.0, len(task.cases)), task.id
        assert set(found.left_out) == {"without a value for other"}, task.id  # it knows no truth of another image


def image(key):
    return LazyImage(key=key, load=uniform("grey").load, where=key)


def pairs(n=40):
    """Foil cases, two of each image."""
    return task_of(pair_case(i, f"true {i}", f"false {i}", picture=image(f"{i // 2}.jpg")) for i in range(n))


def test_the_gain_is_over_the_condition_that_keeps_most():
    """The model is right with the image, and in half of the cases with another image; else it is wrong."""

    def says(text, key):
        what, number = text.split()
        if key.startswith("uniform") or key.endswith("#blurred-away"):
            return float(what == "false")
        own = key == f"{int(number) // 2}.jpg"
        return float((what == "true") == (own or int(number) % 2 == 0))

    found = measured(toy(says), pairs())
    values = {name: found.metric(name).value for name in ("image", "grey", "blank", "other", "blurred")}
    assert values == {"image": 1.0, "grey": 0.0, "blank": 0.0, "other": 0.5, "blurred": 0.0}
    assert found.metric("visual_gain") == found.metric("gain_other")
    assert found.metric("visual_gain").value == 0.5
    assert found.metric("visual_gain").deff > 0.99
    assert found.requests <= LOOK.requests(pairs().cases)


def test_a_model_that_has_no_reply_without_an_image_is_left_out_and_counted():
    def match(pairs):
        missing = [index for index, pair in enumerate(pairs) if "#" in pair.image.key or "-" in pair.image.key]
        if missing:
            raise NoReplyError(missing, "no such image")
        return [float(pair.text.startswith("true")) for pair in pairs]

    found = measured(fake(match=match), pairs())
    assert found.left_out == {f"without a value for {name}": 40 for name in ("grey", "blank", "blurred")}
    assert found.metric("grey") is None
    assert found.metric("visual_gain") == found.metric("gain_other")


def test_the_other_image_is_of_a_case_that_shares_nothing(tasks):
    for task in (*tasks, pairs()):
        found = others_of(task, task.cases, 0)
        by_image = {one: case for case in task.cases for one in images_of_case(case)}
        assert len(found) == len(task.cases), task.id
        for case in task.cases:
            own = {one.key.partition("#")[0] for one in images_of_case(case)}
            shown = found[case.id]
            assert shown.keys() == set(images_of_case(case))
            assert own.isdisjoint(one.key.partition("#")[0] for one in shown.values())
            for one in shown.values():
                assert not true_texts(case) & true_texts(by_image[one])
        backwards = others_of(task, task.cases[::-1], 0)
        assert {key: dict(one) for key, one in found.items()} == {key: dict(one) for key, one in backwards.items()}


def true_texts(case):
    return {
        (getattr(request, "question", getattr(request, "text", "")), str(truth))
        for request, truth in zip(case.requests, case.truths, strict=True)
        if truth is not False
    }


def test_cases_without_another_image_are_counted():
    task = pairs(2)  # two cases of one image
    found = measured(toy(lambda text, _: float(text.startswith("true"))), task)
    assert others_of(task, task.cases, 0) == {}
    assert found.left_out == {"without a value for other": 2}


def questions(n=40):
    def asked(i):
        return tuple(Ask(image=image(f"{i}.jpg"), question=f"{i}{how}?", choices=("yes", "no")) for how in "ab")

    cases = [Case(id=str(i), requests=asked(i), truths=("yes", "yes")) for i in range(n)]
    return task_of(cases, task="toy/questions", capability="invariance", shape="questions")


def speaker(alone):
    """A model that can be asked without an image, too, and what it is asked so."""
    asked = []

    def answer_without_image(questions):
        asked.extend(question.question for question in questions)
        return [alone(question.question) for question in questions]

    own = lambda _, key: "yes" if key.endswith(".jpg") else "no"  # noqa: E731
    return toy(own, answer_without_image=answer_without_image), asked


def test_a_model_that_is_told_that_there_is_no_image():
    model, asked = speaker(lambda question: "yes" if int(question.split()[-1][:-2]) % 2 else "no")
    found = measured(model, questions())
    assert found.metric("told").value == 0.5
    assert len(asked) == 80
    assert all(one.startswith(f"{TOLD} ") for one in asked)
    assert found.metric("visual_gain") == found.metric("gain_other")  # every other image makes it say yes
    assert found.metric("visual_gain").value == 0.0
    assert found.metric(SPECS["questions"].headline) is None
    assert "told" not in measured(toy(lambda *_: "yes"), questions()).figures  # it cannot be asked without an image
    assert about_model(predictor(toy(lambda *_: "yes")), 0) is None


def refuser(refuses):
    """It knows the answer to all questions from their text, and refuses some if the image is not their own."""

    def reply(question, key):
        number = question.split()[-1][:-2]
        return "I cannot see an image." if key != f"{number}.jpg" and refuses(int(number), key) else "yes"

    return toy(reply)


@pytest.mark.parametrize("share", [2, 3, 10])
def test_a_model_that_does_not_look_gains_nothing_by_refusing_without_the_image(share):
    found = measured(refuser(lambda number, _: number % share == 0), questions())
    assert found.metric("other").value == pytest.approx(1 - 1 / share, abs=0.02)
    assert found.metric("visual_gain").value == 0.0
    assert any(note.startswith("grey: the answers of ") for note in found.notes)


def test_a_condition_that_most_answers_refuse_is_left_out():
    found = measured(refuser(lambda _, key: key.startswith("uniform")), questions())
    assert (found.metric("grey").value, found.metric("other").value) == (0.0, 1.0)
    assert found.figures["visual_gain"].before == "other"
    assert not found.doubt


def test_a_model_that_refuses_whatever_is_not_its_image_has_no_gain_and_no_gate_passes():
    found = measured(refuser(lambda *_: True), questions())
    assert found.metric("visual_gain") is None
    assert "could not be read" in found.doubt
    task = Judged(
        shape="questions", coverage=Coverage(cases=40, judged=40, unscored=0, skipped=0), controls={"look": found}
    )
    gate = Gate(task="toy/questions", metric="visual_gain", min=0.1)
    [decision] = decide_all(Thresholds(file=Path("t.toml"), rules=(gate,), require=()), {"toy/questions": task})
    assert decision.outcome == "inconclusive"
    assert found.doubt in decision.why


def test_how_often_an_absent_image_is_described():
    said = dict(zip(QUESTIONS, ["A dog.", "I can\u2019t see an image.", "", "None.", *["A red car."] * 8], strict=True))
    found = about_model(predictor(speaker(said.__getitem__)[0]), 0)
    metric = found.metric("describes_absent")
    assert (metric.value, metric.n) == (pytest.approx(9 / 11), 11)
    assert found.left_out == {"questions without an answer": 1}
    assert "'A dog.'" in found.notes[0]


@pytest.mark.parametrize("phrase", REFUSALS)
def test_an_answer_with_a_phrase_of_refusal_describes_nothing(phrase):
    assert not describes(f"Well, {phrase.upper()} it seems.")


@pytest.mark.parametrize("word", NOTHING)
def test_an_answer_that_is_nothing_describes_nothing(word):
    assert not describes(f" {word.title()}. ")
    assert describes(f"{word} dogs on a beach")


def test_an_image_that_is_blurred_away_keeps_its_size_and_mean_and_no_detail():
    chance = np.random.default_rng(0)
    blocks = np.kron(chance.integers(0, 2, (12, 16, 1)) * 255, np.ones((10, 10, 3))).astype(np.uint8)
    found = blurred_away(blocks)
    assert found.shape == blocks.shape
    assert abs(found.mean() - blocks.mean()) < 8
    assert found.std() < blocks.std() / 4
    assert np.array_equal(blurred_away(np.full((3, 500, 3), 90, np.uint8)), np.full((3, 500, 3), 90, np.uint8))
