from dataclasses import replace

import numpy as np
import pytest
from builders import image, judged, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.metrics import score_rules
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.shapes import SHAPES
from vlgate.metrics.stats import wilson
from vlgate.types import Ask, Case, Match, Read

POLICIES = ("strict", "half", "credit")
CAPABILITIES = {"pair": "foil", "quad": "compositional", "set": "compositional", "questions": "directional"}
few_scores = st.integers(-2, 2).map(float)  # many ties
opinions = st.sampled_from([True, False, None])


def verdicts(shape, replies, ties="strict", images=None, capability=None):
    cases = []
    for number, case in enumerate(replies):
        about = image(f"{number if images is None else images[number]}.jpg")
        texts = [f"{number}/{index}" for index in range(len(case))]
        if shape == "questions":
            requests = tuple(Ask(image=about, question=text) for text in texts)
            truths = ("yes", "no")
        else:
            requests = tuple(Match(image=about, text=text) for text in texts)
            truths = (True, True, False, False) if shape == "set" else (True, False, False, True)[: len(case)]
        cases.append(Case(id=str(number), requests=requests, truths=truths))
    task = task_of(cases, capability=capability or CAPABILITIES[shape], shape=shape)
    return judged(task, replies, ties=ties)


def scored(*scores):
    return [{"score": score} for score in scores]


def answered(*answers):
    return [{"answer": answer} for answer in answers]


pairs = st.lists(
    st.tuples(few_scores, few_scores, opinions, opinions).map(
        lambda drawn: [{"score": drawn[0], "accepted": drawn[2]}, {"score": drawn[1], "accepted": drawn[3]}]
    ),
    min_size=1,
    max_size=12,
)
quads = st.lists(st.tuples(*[few_scores] * 4).map(lambda four: scored(*four)), min_size=1, max_size=12)
answers = st.sampled_from(["yes", "Yes.", "no", "perhaps"])
questions = st.lists(st.tuples(answers, answers).map(lambda two: answered(*two)), min_size=1, max_size=12)
DRAWN = (("pair", pairs), ("quad", quads), ("set", quads), ("questions", questions))


def points(cases):
    return {name: metric.value for name, metric in metrics(cases).items()}


@given(data=st.data(), capability=st.sampled_from(["invariance", "directional"]))
@settings(max_examples=40)
def test_the_facts_say_what_the_metrics_say(data, capability):
    for shape, drawn in DRAWN:
        judged = verdicts(shape, data.draw(drawn), capability=capability if shape == "questions" else None)
        found = points(columns(shape, judged))
        assert {name for verdict in judged for name in verdict.facts} - {"tied"} <= found.keys()
        for name, value in found.items():
            known = [verdict.facts[name] for verdict in judged if name in verdict.facts]
            assert value == sum(known) / len(known) if known else name in {"min_pc_pf", "auroc"}


@pytest.mark.parametrize("ties", POLICIES)
@given(data=st.data())
def test_under_strict_and_credit_the_headline_is_the_share_of_right_cases(ties, data):
    for shape, drawn in DRAWN:
        judged = verdicts(shape, data.draw(drawn), ties)
        right = sum(verdict.right for verdict in judged) / len(judged)
        headline = points(columns(shape, judged))[SHAPES[shape].headline]
        assert headline == right if ties != "half" else headline >= right


@given(pairs, st.sampled_from(POLICIES))
@settings(max_examples=30)
def test_each_metric_has_its_own_n_and_a_value_inside_its_interval(replies, ties):
    found = metrics(columns("pair", verdicts("pair", replies, ties)))
    known = sum(all(reply["accepted"] is not None for reply in case) for case in replies)
    assert tuple(found) == (score_rules.PAIR_METRICS if known else ("acc_r",))
    assert [found[name].n for name in found] == [len(replies), *[known] * (len(found) - 1)]
    assert all(0.0 <= metric.low <= metric.value <= metric.high <= 1.0 for metric in found.values())


def test_one_image_tells_next_to_nothing_however_many_cases_it_has():
    replies = [[{"score": 1.0, "accepted": True}, {"score": 0.0, "accepted": False}]] * 3
    replies += [[{"score": 0.0, "accepted": False}, {"score": 0.5, "accepted": True}]]
    apart = metrics(columns("pair", verdicts("pair", replies * 10)))
    assert (apart["acc_r"].low, apart["acc_r"].high) == wilson(0.75, 40)
    one_image = metrics(columns("pair", verdicts("pair", replies * 10, images=[0] * 40)))
    for name in ("acc_r", "min_pc_pf"):
        assert (one_image[name].low, one_image[name].high) == wilson(apart[name].value, 1)
    for name, metric in one_image.items():
        assert (metric.value, metric.deff, apart[name].deff) == (apart[name].value, 40.0, 1.0)
        assert metric.high - metric.low > 2 * (apart[name].high - apart[name].low)


def test_replies_that_are_alike_for_each_image_count_once_per_image():
    replies = [scored(float(image % 3 > 0), 0.0) for image in range(60) for _ in range(5)]
    found = metrics(columns("pair", verdicts("pair", replies, images=[row // 5 for row in range(300)])))["acc_r"]
    assert found.n == 300
    assert found.deff == pytest.approx(5, rel=0.05)
    assert (found.low, found.high) == pytest.approx(wilson(2 / 3, 60), abs=0.01)


@pytest.mark.parametrize("shape", SHAPES)
def test_without_cases_there_are_no_metrics(shape):
    assert metrics(columns(shape, [])) == {}


def test_taking_rows_is_judging_those_cases_alone():
    replies = [[{"score": s % 5, "accepted": s % 4 > 0}, {"score": s % 3, "accepted": s % 2 == 0}] for s in range(30)]
    judged = verdicts("pair", replies)
    rows = np.array([3, 4, 9, 20])
    some = columns("pair", judged).take(rows)
    alone = columns("pair", [judged[row] for row in rows])
    assert metrics(some) == metrics(alone)
    asked = columns("questions", verdicts("questions", [answered("yes", "no"), answered("no", "no")]))
    alone = columns("questions", verdicts("questions", [answered("no", "no")]))
    assert points(asked.take(np.array([1]))) == points(alone)


@pytest.mark.parametrize("state", ["unscored", "skipped"])
def test_a_verdict_that_is_not_judged_never_reaches_a_metric(state):
    judged, unjudged = verdicts("pair", [scored(1.0, 0.0), scored(1.0, 0.0)])
    with pytest.raises(ValueError, match="judged"):
        columns("pair", [judged, replace(unjudged, state=state)])


def test_cases_without_an_image_are_clusters_of_their_own():
    requests = [(Read(text=f"{n} true"), Read(text=f"{n} false")) for n in range(3)]
    cases = [Case(id=str(n), requests=pair, truths=(True, False)) for n, pair in enumerate(requests)]
    alone = judged(task_of(cases), [[{"score": 1.0}] * 2] * 3)
    assert columns("pair", alone).images.tolist() == [0, 1, 2]
