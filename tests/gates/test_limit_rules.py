"""Known limits: what a model cannot do, which fails only if the model can."""

import pytest

from vlgate.errors import ThresholdsError
from vlgate.gates.decide import Coverage, decide, expand
from vlgate.gates.records import Gate
from vlgate.gates.thresholds import read_thresholds
from vlgate.types import Metric

TASKS = {"scenes/word-swap": "quad", "scenes/relations": "pair", "scenes/existence": "pair"}
ALL_JUDGED = Coverage(cases=100, judged=100, unscored=0, skipped=0)
LIMIT = Gate(task="scenes/relations", metric="acc_r", max=0.6, kind="limit")


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "thresholds.toml"
        file.write_text(f"schema = 1\n{text}")
        return read_thresholds(file, TASKS)

    return reading


def limit(keys, task="scenes/relations", metric="acc_r"):
    return f'[limit."{task}".{metric}]\n{keys}\n'


@pytest.mark.parametrize(
    ("low", "value", "high", "outcome"),
    [
        (0.40, 0.50, 0.59, "cannot"),
        (0.40, 0.50, 0.65, "cannot"),
        (0.55, 0.65, 0.75, "cannot"),
        (0.60, 0.70, 0.80, "cannot"),
        (0.61, 0.70, 0.80, "fail"),
    ],
)
def test_a_limit_fails_only_if_even_the_lower_end_is_above_it(low, value, high, outcome):
    decision = decide(LIMIT, ALL_JUDGED, {"acc_r": Metric(value=value, low=low, high=high, n=100)})
    assert decision.outcome == outcome
    assert f"acc_r is {value:.4f}" in decision.why
    assert "max = 0.6" in decision.why


def test_by_value_a_limit_fails_if_the_value_is_above_it():
    by_value = Gate(task="scenes/relations", metric="acc_r", max=0.6, kind="limit", basis="value")
    for value, outcome in ((0.6, "cannot"), (0.61, "fail")):
        found = Metric(value=value, low=0.5, high=0.7, n=100)
        assert decide(by_value, ALL_JUDGED, {"acc_r": found}).outcome == outcome


@pytest.mark.parametrize(
    "coverage",
    [
        Coverage(cases=100, judged=90, unscored=10, skipped=0),
        Coverage(cases=50, judged=50, unscored=0, skipped=0, deselected=50),
        Coverage(cases=100, judged=80, unscored=0, skipped=20),
        Coverage(cases=100, judged=100, unscored=0, skipped=0, distinct=3),
    ],
)
def test_a_limit_is_not_known_from_a_part_of_the_cases(coverage):
    found = Metric(value=0.2, low=0.1, high=0.3, n=coverage.judged)
    assert decide(LIMIT, coverage, {"acc_r": found}).outcome == "inconclusive"


def test_a_limit_and_a_gate_of_the_same_metric_both_hold(read):
    both = read('[gate."scenes/relations".acc_r]\nmin = 0.4\n' + limit('max = 0.6\nwhy = "left and right"'))
    made, idle = expand(both.rules, {"scenes/relations": "pair"})
    assert [rule.id for rule in made] == ["scenes/relations:acc_r", "limit:scenes/relations:acc_r"]
    assert [(rule.min, rule.max, rule.why) for rule in made] == [(0.4, None, ""), (None, 0.6, "left and right")]
    assert not idle


def test_a_limit_takes_the_defaults_of_the_file(read):
    [rule] = read("[defaults]\nmin_cases = 7\nconfidence = 0.9\n" + limit("max = 0.6")).rules
    assert (rule.kind, rule.min_cases, rule.confidence) == ("limit", 7, 0.9)


@pytest.mark.parametrize(
    ("model", "held"),
    [("tiny-lxmert", True), ("tiny-lxmert?score=logit", True), ("tiny-clip", False), ("tiny-lxmert:other", False)],
)
def test_a_limit_of_a_model_holds_for_that_model_only(read, model, held):
    made, idle = expand(read(limit('max = 0.6\nmodel = "tiny-lxmert"')).rules, TASKS, model)
    assert [rule.task for rule in made] == (["scenes/relations"] if held else [])
    assert [why for _, why in idle] == ([] if held else ["it is about the model tiny-lxmert"])


def test_an_exact_task_wins_over_a_pattern(read):
    made, _ = expand(read(limit("max = 0.6", "scenes/*") + limit("max = 0.3", "scenes/existence")).rules, TASKS)
    assert {rule.task: rule.max for rule in made} == {"scenes/relations": 0.6, "scenes/existence": 0.3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (limit("why = 'so'"), 'limit."scenes/relations".acc_r: has no max'),
        (limit("max = 0.6\nmin = 0.1"), "unknown key 'min'"),
        (limit("max = 60"), "max = 60"),
        (limit("max = 0.6\nmodel = 3"), "model = 3; write a string"),
        (limit("max = 0.6", "scenes/relation"), "did you mean 'scenes/relations'?"),
        (limit("max = 0.6", metric="group"), "'group' is not a metric of these tasks"),
        (limit("max = 0.6", "scenes/*") + limit("max = 0.5", "*/relations"), "limits acc_r of 'scenes/relations', too"),
        ("limit = 3", "limit: is 3, not a TOML table"),
    ],
)
def test_a_mistake_in_a_limit_names_the_file_and_the_remedy(read, tmp_path, text, said):
    with pytest.raises(ThresholdsError) as caught:
        read(text)
    assert str(tmp_path / "thresholds.toml") in str(caught.value)
    assert said in str(caught.value)
