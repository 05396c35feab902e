"""Gates on metrics over a part of the cases, on controls and on acuity; refusing never helps."""

from dataclasses import replace
from pathlib import Path

import builders
import numpy as np
import pytest
from builders import asked_task, image, judged, task_of
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.gates.acuity import AcuityGate, decide_acuity
from vlgate.gates.decide import Coverage, Judged, decide, decide_all
from vlgate.gates.error_rates import error_rates
from vlgate.gates.records import Decision, Gate
from vlgate.gates.thresholds import Thresholds, read_thresholds, thresholds_errors
from vlgate.judging.chance import chance as level
from vlgate.judging.judged import verdicts_of
from vlgate.metrics.compute import columns, metrics
from vlgate.metrics.controlled import ControlledTask, Figure
from vlgate.metrics.measures import GROUPED, Columns
from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.metrics.perception import FACULTIES, Acuity
from vlgate.metrics.shapes import SHAPES
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, Match, Metric, Task

N = 200
GOOD = [[{"score": 1.0}, {"score": 0.0}]]


def figures(task, replies):
    return metrics(columns(task.shape, judged(task, replies)))


def outcome(task, replies, metric, least):
    coverage = Coverage(cases=N, judged=N, unscored=0, skipped=0, distinct=N)
    return decide(Gate(task=task.id, metric=metric, min=least), coverage, figures(task, replies)).outcome


def pair(n, key=None, **tags):
    shown = image(key or n)
    return Case(
        id=str(n), requests=tuple(Match(image=shown, text=f"{n} {p}") for p in "ab"), truths=(True, False), tags=tags
    )


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "accuracy"])
def test_a_good_model_passes_a_gate_on_the_answers_yes(metric):
    task = asked_task(*((n, "?", ("yes", "no")[n % 2]) for n in range(N)), shape="single")
    assert outcome(task, [[{"answer": case.truths[0]}] for case in task.cases], metric, 0.9) == "pass"
    assert outcome(task, [[{"answer": "no"}]] * N, metric, 0.9) != "pass"


@pytest.mark.parametrize(("tag", "shape"), [("macro", "pair"), ("set_all", "choice")])
def test_a_good_model_passes_a_gate_on_groups(tag, shape):
    task = task_of([pair(n, **{tag: f"4 of {n // 4}"}) for n in range(N)], shape=shape)
    assert outcome(task, GOOD * N, tag, 0.5) == "pass"


@pytest.mark.parametrize(("tag", "chance"), [("macro", 1 / 16), ("pair_all", 1 / 256)])
def test_every_shape_has_metrics_over_groups_with_their_chance(tag, chance):
    truths = ("yes", "no", "no", "yes")
    cases = []
    for n in range(N):
        asked = [Ask(image=image(f"{n} {i}"), question=q, choices=("yes", "no")) for i in "ab" for q in "cd"]
        cases.append(Case(id=str(n), requests=tuple(asked), truths=truths, tags={tag: f"2 of {n // 2}"}))
    task = task_of(cases, shape="question_quad")
    assert outcome(task, [[{"answer": truth} for truth in truths]] * N, tag, 0.5) == "pass"
    assert level("question_quad", "foil", task.cases)[tag] == pytest.approx(chance)


def test_the_chance_of_a_group_is_that_of_its_cases_and_one_that_lacks_a_case_is_left_out():
    cases = []
    for n, size in enumerate((2, 3, 4)):
        asked = tuple(Match(image=image(n), text=f"{n} {p}") for p in range(size))
        tags = dict.fromkeys(("set_all", "macro"), "one" if n < 2 else "two")
        cases.append(Case(id=str(n), requests=asked, truths=(True, *[False] * (size - 1)), tags=tags))
    found = level("choice", "foil", cases)
    assert found["set_all"] == pytest.approx((1 / 6 + 1 / 4) / 2)
    assert found["macro"] == pytest.approx(((1 / 2 + 1 / 3) / 2 + 1 / 4) / 2)
    for named, n in (("4 of {}", N // 4 - 1), ("{}", N // 4)):
        task = task_of([pair(index, set_all=named.format(index // 4)) for index in range(N - 1)], shape="choice")
        assert figures(task, GOOD * (N - 1))["set_all"].n == n


def test_a_model_that_says_neither_yes_nor_no_to_some_statements_is_wrong_there():
    asked = [Match(image=image(n), text="x") for n in range(N)]
    cases = [Case(id=str(n), requests=(one,), truths=(n % 2 == 0,)) for n, one in enumerate(asked)]
    replies = [[{"score": float(n % 2 == 0), "accepted": None if n < 20 else n % 2 == 0}] for n in range(N)]
    found = figures(task_of(cases, shape="single"), replies)
    assert (found["accuracy"].value, found["read"].value) == (0.9, 0.9)
    assert found["auroc"].value == 1.0


def test_regions_of_one_photograph_are_one_cluster():
    task = task_of([pair(n, f"{n // 15}.jpg#{n},0,5,5") for n in range(300)])
    right = np.repeat(np.arange(20) % 2 == 0, 15)
    found = figures(task, [[{"score": float(yes)}, {"score": float(not yes)}] for yes in right])
    assert found["acc_r"].deff > 10


TASK = "valse/existence"


def gain(**keys):
    return Gate(task=TASK, metric="visual_gain", **keys)


def controlled(gained, n=40):
    """A control in which so many of n cases need the image."""
    image = np.ones(n)
    return ControlledTask(
        cases=tuple(map(str, range(n))),
        images=tuple(map(str, range(n))),
        columns={"image": image, "grey": np.where(np.arange(n) < gained, 0.0, 1.0)},
        figures={"visual_gain": Figure(column="image", before="grey")},
    )


def decision(gate, found, deselected=0):
    """The decision of a gate of a task with 500 cases, given what a control found."""
    empty = np.zeros((500, 2))
    columns = Columns(shape="pair", scores=empty, accepted=empty, facts={}, images=np.arange(500))
    coverage = Coverage(cases=500, judged=500, unscored=0, skipped=0, deselected=deselected)
    task = Judged(shape="pair", coverage=coverage, columns=columns, controls={} if found is None else {"look": found})
    thresholds = Thresholds(file=Path("t.toml"), rules=(gate,), require=())
    return decide_all(thresholds, {TASK: task})[0]


@pytest.mark.parametrize(("gained", "outcome"), [(30, "pass"), (0, "fail"), (12, "inconclusive")])
def test_a_gate_judges_the_interval_of_the_sample(gained, outcome):
    found = decision(gain(min=0.3), controlled(gained))
    assert found.outcome == outcome
    assert found.metric.n == 40
    assert (found.p is not None) == (outcome == "fail")


def test_the_confidence_of_the_gate_counts():
    """12 of 40 gained reach 0.2 at 70 %, and not at 99 %."""
    assert decision(gain(min=0.2, confidence=0.7), controlled(12)).outcome == "pass"
    found = decision(gain(min=0.2, confidence=0.99), controlled(12))
    assert (found.outcome, "raise --controls-limit" in found.why) == ("inconclusive", True)


@pytest.mark.parametrize(
    ("found", "deselected", "says"),
    [(None, 0, "--controls look"), (controlled(20, n=20), 0, "20"), (controlled(40), 3, "deselected")],
)
def test_without_the_control_with_too_few_cases_or_deselected_ones_a_gate_is_inconclusive(found, deselected, says):
    made = decision(gain(min=0.1), found, deselected)
    assert (made.outcome, says in made.why) == ("inconclusive", True)


def rates(value, half):
    metric = Metric(value=value, low=value - half, high=value + half, n=100)
    return error_rates([Decision(gate=gain(min=0.1), outcome="pass", why="", metric=metric)])


def test_error_rates_of_a_difference():
    """A model on the threshold fails at one end of the interval; one far above passes again, one far below never."""
    assert rates(0.4, 0.1).threshold_fails == pytest.approx(0.025, abs=0.006)
    assert (rates(0.4, 0.1).unchanged_passes, rates(0.4, 0.1).unchanged_fails) == (1.0, 0.0)
    assert rates(-0.4, 0.1).unchanged_fails == 1.0


def test_a_difference_may_have_a_negative_threshold_and_a_pattern_gates_the_figure_of_every_task(tmp_path):
    file = tmp_path / "t.toml"
    file.write_text(f'schema = 1\n[gate."{TASK}".visual_gain]\nmin = -0.1\n[gate."*".visual_gain]\nmin = 0.1\n')
    rules = read_thresholds(file, {TASK: "pair", "carets/order-inv": "questions"}).rules
    assert [(rule.task, rule.metric, rule.min) for rule in rules] == [
        (TASK, "visual_gain", -0.1),
        ("*", "visual_gain", 0.1),
    ]
    assert decision(rules[0], controlled(0)).outcome == "pass"
    assert decision(gain(min=0.1), controlled(0)).outcome == "fail"


def chart(faculty, level, low, high, word="threshold"):
    """A chart with a threshold at a level, and an interval from the hard to the easy side."""
    places = (float(FACULTIES[faculty].place_of(np.array(one, float))) for one in (level, low, high))
    ends = dict(zip(("place", "low", "high"), places, strict=True)) | {"best": 0.9, "best_low": 0.8, "best_high": 1.0}
    ones = (1,) * len(FACULTIES[faculty].levels())
    return Acuity(faculty=faculty, word=word, asked=ones, right=ones, ties=0, unscored=0, **ends)


def test_a_thresholds_file_of_runs_may_have_gates_on_acuity_and_every_error_of_them_is_found(tmp_path):
    file = tmp_path / "thresholds.toml"
    file.write_text('schema = 1\n[acuity.noun]\nmax = 20\nwhy = "thumbnails"\n[acuity.count]\nmin = 5\n')
    gates = [(gate.faculty, gate.key, gate.bound, gate.why) for gate in read_thresholds(file, {}).acuity]
    assert gates == [("noun", "max", 20.0, "thumbnails"), ("count", "min", 5.0, "")]
    file.write_text("schema = 1\n[acuity.noun]\nmin = 20\n[acuity.blurr]\nmin = 3\n")
    assert len(thresholds_errors(file, {})) == 2


@pytest.mark.parametrize(("gate", "chart", "outcome"), [
    (("noun", 20), chart("noun", 12, 10, 15), "pass"), (("noun", 20), chart("noun", 18, 15, 21), "inconclusive"),
    (("noun", 20), chart("noun", 30, 25, 40), "fail"), (("count", 5), chart("count", 8, 9, 6), "pass"),
    (("count", 5), chart("count", 6, 8, 4), "inconclusive"), (("count", 5), chart("count", 3, 4, 2), "fail"),
    (("noun", 4), chart("noun", 2, 1, 3, "beyond the range"), "pass"),
    (("noun", 4), chart("noun", 3, 1, 6, "beyond the range"), "inconclusive"),
    (("noun", 128), chart("noun", 200, 150, 250, "out of reach"), "fail"),
    (("noun", 128), chart("noun", 12, 10, 15, "at chance"), "fail"),
    (("noun", 128), chart("noun", 12, 10, 15, "below chance"), "fail"),
    (("noun", 128), chart("noun", 12, 10, 15, "no fit"), "inconclusive"),
    (("noun", 128), chart("noun", 12, 10, 15, "unscored"), "inconclusive"), (("noun", 20), None, "not run"),
])  # fmt: skip
def test_the_unfavourable_end_decides(gate, chart, outcome):
    decision = decide_acuity(AcuityGate(faculty=gate[0], bound=gate[1]), chart)
    assert decision.outcome == outcome
    assert decision.why


YES_NO, LETTERS = ("yes", "no"), ("red", "green", "blue")
SILENCE = (None, "", "I am not sure.", "yes or no", "red or green", "Sorry, I can't help with that.")
LENGTHS = {"single": 1, "pair": 2, "choice": 3, "image_choice": 3, "two_true": 3, "question_quad": 4}
UNDIRECTED = {"yes_share", "tp1_tp2", "fp1_fp2", "ta_tp", "fa_fp"}
NOT_COMPARED = {"auroc"}  # the scores of other cases move it, whatever this case ties
KINDS = [("questions", "invariance"), ("questions", "directional"), ("twin_questions", "foil")]
KINDS += [("question_quad", "compositional")]
ASKED = [*((*kind, choices) for kind in KINDS for choices in (YES_NO, LETTERS)), ("single", "foil", YES_NO)]
SCORED = [(shape, "compositional", ()) for shape in SHAPES if shape not in {one for one, *_ in ASKED}]
ROWS = [*ASKED, *SCORED]


def length_of(shape, choices):
    return LENGTHS.get(shape, 2 if choices else 4)


def a_task(shape, capability, choices, truths):
    """A case per row of truths, each of its own image, in groups of two."""
    cases = []
    for number, row in enumerate(truths):
        requests = tuple(
            Ask(image=image(f"{number}.{index}"), question=f"{number}.{index}?", choices=choices)
            if choices
            else Match(image=image(f"{number}.{index}"), text=f"{number}.{index}")
            for index in range(len(row))
        )
        tags = dict.fromkeys(GROUPED, f"group {number // 2}")
        cases.append(Case(id=str(number), requests=requests, truths=tuple(row), tags=tags))
    return Task(id=f"x/{shape}", capability=capability, shape=shape, cases=tuple(cases))


def answered(task, replies):
    kinds = [["score" if isinstance(request, Match) else "answer" for request in case.requests] for case in task.cases]
    said = [[{kind: one} for kind, one in zip(*both, strict=True)] for both in zip(kinds, replies, strict=True)]
    columns = verdicts_of(builders.judged(task, said)).columns(task.shape)
    n = len(task.cases)
    coverage = Coverage(cases=n, judged=n, unscored=0, skipped=0)
    return Judged(shape=task.shape, coverage=coverage, columns=columns, metrics=metrics(columns))


def drawn(data, shape, choices):
    """Truths, replies, and the same replies with those of some cases taken back (True for a case)."""
    n = data.draw(st.sampled_from([2, 5, 12]))
    random = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    length = length_of(shape, choices)
    if not choices:
        truths = [[index == 0 for index in range(length)]] * n
        return truths, random.integers(0, 4, (n, length)).astype(float).tolist(), random.random(n) < 0.6
    truths = random.choice(choices, (n, length)).tolist()
    replies = random.choice([*choices, *choices, *choices, "perhaps", None], (n, length)).tolist()
    if shape == "twin_questions":
        truths = [random.permutation(choices)[:2].tolist() for _ in range(n)]
    return truths, replies, random.random((n, length)) < data.draw(st.sampled_from([0.3, 1.0]))


def taken_back(replies, back, choices, silence):
    """The replies in which those that name a choice, or the scores of a case, say nothing if ``back`` is true."""
    if not choices:
        return [[row[0]] * len(row) if refuse else row for row, refuse in zip(replies, back.tolist(), strict=True)]
    pairs = [zip(row, hidden, strict=True) for row, hidden in zip(replies, back.tolist(), strict=True)]
    return [[silence if refuse and reply in choices else reply for reply, refuse in row] for row in pairs]


def rules(shape):
    """Gates on every metric, by its value and by its interval."""
    for name in (*SHAPES[shape].metrics, *GROUPED):
        for side in ("max",) if name in LOWER_IS_BETTER else ("min", "max") if name in UNDIRECTED else ("min",):
            gate = Gate(task=f"x/{shape}", metric=name, min_cases=1)
            for bound in (0.3, 0.5, 0.7):
                yield replace(gate, basis="value", **{side: bound})
            yield replace(gate, **{side: 0.2 if side == "min" else 0.8})


def outcomes(task, gates):
    files = {gate: Thresholds(file=Path("t.toml"), rules=(gate,), require=()) for gate in gates}
    return {gate: decide_all(file, {f"x/{task.shape}": task})[0].outcome for gate, file in files.items()}


@pytest.mark.parametrize(("shape", "capability", "choices"), ROWS)
@settings(max_examples=20)
@given(data=st.data(), silence=st.sampled_from(SILENCE))
def test_taking_replies_back_raises_no_metric_and_passes_no_gate(shape, capability, choices, data, silence):
    truths, replies, back = drawn(data, shape, choices)
    task = a_task(shape, capability, choices, truths)
    before, after = answered(task, replies), answered(task, taken_back(replies, back, choices, silence))
    better = set(SHAPES[shape].metrics) - LOWER_IS_BETTER - UNDIRECTED - NOT_COMPARED
    for name in {*better, *GROUPED} & before.metrics.keys() & after.metrics.keys():
        assert after.metrics[name].value <= before.metrics[name].value + 1e-12, name
    gates = list(rules(shape))
    was, now = outcomes(before, gates), outcomes(after, gates)
    helped = [(gate.metric, gate.min, gate.max, gate.basis) for gate in gates if now[gate] == "pass" != was[gate]]
    assert not [one for one in helped if one[0] not in NOT_COMPARED]


@pytest.mark.parametrize("silence", SILENCE[:3])
@pytest.mark.parametrize(("shape", "capability", "choices"), ROWS)
def test_a_model_that_never_answers_passes_nothing(shape, capability, choices, silence):
    length = length_of(shape, choices)
    truths = [[index == 0 for index in range(length)]] * 60
    if choices:
        truths = [[choices[(n + index) % len(choices)] for index in range(length)] for n in range(60)]
    reply = silence if choices else 0.5
    task = answered(a_task(shape, capability, choices, truths), [[reply] * length] * 60)
    found = outcomes(task, list(rules(shape)))
    passed = {gate.metric for gate, outcome in found.items() if outcome == "pass"}
    assert passed <= ({"read", "unread_rate"} if silence is None else set())  # a tie has no text to read


def twins(shape, n=60):
    """The task of a twin shape asked with its images together, a pair of images per case."""
    made = []
    for number in range(n):
        pair = (image(f"{number}.0"), image(f"{number}.1"))
        if shape == "twin_captions":
            asked = tuple(Match(image=one, text=f"{number} {text}") for one in pair for text in ("usual", "odd"))
            made.append(Case(id=str(number), requests=asked, truths=(True, False, False, True)))
        else:
            asked = tuple(Ask(image=one, question=f"{number}?", choices=LETTERS) for one in pair)
            made.append(Case(id=str(number), requests=asked, truths=("red", "green")))
    [task], _ = asked_together([Task(id=f"x/{shape}", capability="foil", shape=shape, cases=tuple(made))], 0)
    return task


@pytest.mark.parametrize("reply", [*SILENCE, "first", "second", "first or second"])
@pytest.mark.parametrize("shape", ["twin_captions", "twin_questions"])
def test_a_model_that_chooses_nothing_in_both_orders_passes_no_rate_of_a_prior(shape, reply):
    task = twins(shape)
    found = answered(task, [[reply] * len(case.requests) for case in task.cases])
    names = [name for name in ("prior_rate", "other_rate") if name in SHAPES[shape].metrics]
    gates = [Gate(task=task.id, metric=name, max=0.3, basis=on) for name in names for on in ("value", "lower")]
    assert "pass" not in outcomes(found, gates).values()


@pytest.mark.parametrize("orders", [("first", "first"), ("second", "second"), (None, "first"), ("first", "Sorry.")])
def test_a_choice_that_depends_on_the_order_does_not_pass_for_a_choice_against_the_prior(orders):
    """All is right but the deciding pair, whose two replies name two texts, or one of them none."""
    task = twins("twin_captions")
    rows = [[*case.truths[:2], *orders, *case.truths[4:]] for case in task.cases]
    found = answered(task, rows)
    assert found.metrics["prior_rate"].value == 0.0
    assert outcomes(found, [gate := Gate(task=task.id, metric="prior_rate", max=0.3)])[gate] == "inconclusive"
    right = answered(task, [case.truths for case in task.cases])
    assert outcomes(right, [gate])[gate] == "pass"
