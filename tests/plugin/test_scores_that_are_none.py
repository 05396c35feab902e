"""Scores that say nothing: first words that are neither yes nor no, and replies that are a yes or a no only."""

import pytest

WEAK = """
decision_threshold = 0.5
fingerprint = "{name}"
def __init__(self):
    self.neither = set()
def match(self, pairs):
    self.neither |= {{pair for pair in pairs if {which}}}
    return np.array([0.01 + 0.001 * len(pair.text) for pair in pairs])
"""
REASON = "in {} of 80 replies yes and no together have less than half of the probability of the first word"


@pytest.mark.slow
def test_gates_on_first_words_that_are_neither_yes_nor_no_are_inconclusive(data, workers):
    result = data.run(data.model(WEAK.format(name="all", which="True")), *workers, ret=1)
    [gate] = data.metrics()["gates"]
    assert gate["decision"] == "inconclusive"
    assert REASON.format(80) in gate["why"]
    assert "[checks] in thresholds.toml can allow it as first_word" in gate["why"]
    result.stdout.fnmatch_lines(["inconclusive: valse/existence:acc_r: in 80 of 80 replies yes and no together*"])
    result.stdout.fnmatch_lines(["unknown *valse/existence *not measured: its replies begin with neither yes nor no*"])
    result.stdout.fnmatch_lines(["with a score although yes and no have less than half of the first word: 40 cases *"])
    assert data.task()["neither"] == {"replies": 80, "of": 80}
    page = (data.path / "out" / "report.html").read_text()
    assert "not measured: its replies begin with neither yes nor no" in page


def test_a_check_that_is_allowed_lets_the_gates_decide_and_says_so(data):
    allowed = '[checks]\nfirst_word = {allow = true, why = "a tiny model"}\n'
    data.thresholds(f'{allowed}[gate."valse/*".acc_r]\nmin = 0.5\n')
    data.run(data.model(WEAK.format(name="all", which="True")))
    assert [(gate["gate"], gate["decision"]) for gate in data.metrics()["gates"]] == [
        ("model:first_word", "not run"),
        ("valse/existence:acc_r", "fail"),
    ]
    assert data.metrics()["gates"][0]["why"].endswith("allowed because a tiny model")


def test_half_of_the_replies_are_not_most_of_them(data):
    data.run(data.model(WEAK.format(name="half", which="'no' in pair.text")))
    assert data.task()["neither"] == {"replies": 40, "of": 80}
    assert data.metrics()["gates"][0]["decision"] == "fail"


def test_known_limits_and_falls_are_inconclusive_too(data):
    data.run(data.matching("1.0 / len(pair.text)", name="base"))
    (data.path / "out").rename(data.path / "earlier")
    data.thresholds('[limit."valse/existence".acc_r]\nmax = 0.5\n[gate."valse/*".p_c]\nmax_drop = 0.9\n')
    data.run(data.model(WEAK.format(name="some", which="True")), "--baseline=earlier")
    made = {gate["gate"]: (gate["decision"], gate["why"][:8]) for gate in data.metrics()["gates"]}
    assert made == {
        "limit:valse/existence:acc_r": ("inconclusive", "in 80 of"),
        "valse/existence:p_c:max_drop": ("inconclusive", "in 80 of"),
    }


@pytest.mark.slow
def test_the_cache_and_judging_again_and_merging_know_it_too(data, tmp_path, capsys):
    from vlgate.cli import main

    model = data.model(WEAK.format(name="cached", which="True"))
    data.run(model, f"--cache={tmp_path}")
    again = data.run(model, f"--cache={tmp_path}", "--limit=35")
    again.stdout.fnmatch_lines(["cache: 70 replies from *, 0 asked*"])
    assert REASON.format(70).replace("80", "70") in data.metrics()["gates"][0]["why"]
    assert main(["judge", "out", "--thresholds", "thresholds.toml"]) == 1
    assert "in 70 of 70 replies" in capsys.readouterr().out
    for number in (1, 2):
        data.run(model, f"--shard={number}/2", f"--results=part{number}", "--cache=off")
    assert main(["merge", "part1", "part2", "--results", "whole"]) == 1
    assert data.task(folder="whole")["neither"] == {"replies": 80, "of": 80}
    assert data.metrics("whole")["gates"][0]["decision"] == "inconclusive"


YES = """
def answer(self, questions):
    return ["yes" if {which} else "no" for q in questions]
"""


def test_a_model_that_says_yes_or_no_only_is_not_measured_by_ties(data):
    result = data.run(data.model(YES.format(which="'dogs' in q.question")))
    result.stdout.fnmatch_lines(["unknown *valse/existence *not measured: yes/no replies only*"])
    remedy = "ask both texts as questions, or gate acc, p_c or p_f"
    result.stdout.fnmatch_lines([f"with a tie: 40 cases in valse/existence; every reply is a yes or a no: {remedy}"])
    assert data.task()["yes_or_no"] is True
    for name in ("summary.md", "report.html"):
        assert "not measured: yes/no replies only" in (data.path / "out" / name).read_text()
    assert "ask both texts as questions" in (data.path / "out" / "summary.md").read_text()


def test_a_few_ties_do_not_hide_that_a_model_is_wrong_or_right(data):
    wrong = data.run(data.model(YES.format(which="' no ' in q.question or '\"There are 7 ' in q.question")))
    wrong.stdout.fnmatch_lines(["cannot *valse/existence *0.00 (0.00-0.18), n = 40*"])
    right = data.run(data.model(YES.format(which="' no ' not in q.question or ' no 7 ' in q.question"), name="other"))
    right.stdout.no_fnmatch_line("*not measured*")


def test_scores_and_a_constant_are_measured(data):
    for model in ("constant", "random"):
        result = data.run(f"--model={model}")
        result.stdout.no_fnmatch_line("*not measured*")
        assert "yes_or_no" not in data.task()
