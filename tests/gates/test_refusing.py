"""Refusing never helps: no metric of any shape gets better, and no gate passes, if replies are taken back.

Every shape is asked twice: as drawn, and with some of its replies replaced by ones that answer nothing. That is a text
that names no choice, or a tie of choices, or of scores for the shapes that have scores.
"""

from dataclasses import replace
from pathlib import Path

import builders
import numpy as np
import pytest
from builders import image
from hypothesis import given, settings
from hypothesis import strategies as st

from vlgate.gates.decide import Coverage, Judged, decide_all
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import Thresholds
from vlgate.judging.judged import verdicts_of
from vlgate.metrics.compute import metrics
from vlgate.metrics.measures import GROUPED
from vlgate.metrics.names import LOWER_IS_BETTER
from vlgate.metrics.shapes import SHAPES
from vlgate.run.together import asked_together
from vlgate.types import Ask, Case, Match, Task

YES_NO, LETTERS = ("yes", "no"), ("red", "green", "blue")
SILENCE = (None, "", "I am not sure.", "yes or no", "red or green", "Sorry, I can't help with that.")
LENGTHS = {"pair": 2, "choice": 3, "image_choice": 3, "two_true": 3}
UNDIRECTED = {"yes_share", "tp1_tp2", "fp1_fp2", "ta_tp", "fa_fp"}
NOT_COMPARED = {"auroc"}  # the scores of other cases move it, whatever this case ties
ASKED = [
    ("questions", "invariance", YES_NO),
    ("questions", "directional", YES_NO),
    ("questions", "invariance", LETTERS),
    ("questions", "directional", LETTERS),
    ("twin_questions", "foil", YES_NO),
    ("twin_questions", "foil", LETTERS),
    ("single", "foil", YES_NO),
    ("question_quad", "compositional", YES_NO),
    ("question_quad", "compositional", LETTERS),
]
SCORED = [(shape, "compositional", ()) for shape in SHAPES if shape not in {one for one, *_ in ASKED}]
ROWS = [*ASKED, *SCORED]


def task_of(shape, capability, choices, truths):
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


def judged(task, replies):
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
    length = 1 if shape == "single" else LENGTHS.get(shape, 2 if choices and shape != "question_quad" else 4)
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
    task = task_of(shape, capability, choices, truths)
    before, after = judged(task, replies), judged(task, taken_back(replies, back, choices, silence))
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
    truths = [[choices[(n + index) % len(choices)] for index in range(4)] for n in range(60)] if choices else None
    length = 1 if shape == "single" else LENGTHS.get(shape, 2 if choices and shape != "question_quad" else 4)
    truths = [row[:length] for row in truths] if truths else [[index == 0 for index in range(length)]] * 60
    reply = silence if choices else 0.5
    task = judged(task_of(shape, capability, choices, truths), [[reply] * length] * 60)
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
    found = judged(task, [[reply] * len(case.requests) for case in task.cases])
    names = [name for name in ("prior_rate", "other_rate") if name in SHAPES[shape].metrics]
    gates = [Gate(task=task.id, metric=name, max=0.3, basis=on) for name in names for on in ("value", "lower")]
    assert "pass" not in outcomes(found, gates).values()


@pytest.mark.parametrize("orders", [("first", "first"), ("second", "second"), (None, "first"), ("first", "Sorry.")])
def test_a_choice_that_depends_on_the_order_does_not_pass_for_a_choice_against_the_prior(orders):
    """All is right but the deciding pair, whose two replies name two texts, or one of them none."""
    task = twins("twin_captions")
    rows = [[*case.truths[:2], *orders, *case.truths[4:]] for case in task.cases]
    found = judged(task, rows)
    assert found.metrics["prior_rate"].value == 0.0
    assert outcomes(found, [gate := Gate(task=task.id, metric="prior_rate", max=0.3)])[gate] == "inconclusive"
    right = judged(task, [case.truths for case in task.cases])
    assert outcomes(right, [gate])[gate] == "pass"
