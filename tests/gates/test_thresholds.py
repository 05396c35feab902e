import hashlib
import re

import pytest

from vlgate.errors import ThresholdsError
from vlgate.gates.decide import expand
from vlgate.gates.thresholds import read_thresholds

TASKS = {
    "valse/existence": "pair",
    "valse/plurality": "pair",
    "winoground/all": "quad",
    "carets/order-inv": "questions",
    "scenes/relations": "pair",
    "scenes/word-swap": "quad",
}


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "gates.toml"
        file.write_text(text, encoding="utf-8")
        return read_thresholds(file, TASKS)

    return reading


@pytest.fixture
def complaint(read, tmp_path):
    def complaining(text):
        with pytest.raises(ThresholdsError) as caught:
            read(text)
        file = tmp_path / "gates.toml"
        assert str(caught.value).startswith(f"{file}: ")
        return str(caught.value).removeprefix(f"{file}: ")

    return complaining


def gate(keys, task="valse/existence", metric="acc_r"):
    return f'[gate."{task}".{metric}]\n{keys}\n'


def one(read, keys, defaults=""):
    [rule] = read(f"schema = 1\n[defaults]\n{defaults}\n{gate(keys)}").rules
    return rule


def test_a_rule_has_what_the_file_says(read, tmp_path):
    found = read(
        'schema = 1\n[defaults]\nrequire = ["valse/*", "winoground/all"]\n'
        + gate('min = 0.25\nmax = 0.75\nbasis = "value"\nconfidence = 0.9\nmin_cases = 7\nwhy = "as published"')
    )
    [rule] = found.rules
    assert (rule.task, rule.metric, rule.id) == ("valse/existence", "acc_r", "valse/existence:acc_r")
    assert (rule.min, rule.max, rule.basis, rule.confidence, rule.min_cases) == (0.25, 0.75, "value", 0.9, 7)
    assert rule.why == "as published"
    assert found.require == ("valse/*", "winoground/all")
    assert found.file == tmp_path / "gates.toml"


def test_an_unsaid_key_has_its_default_and_the_files_defaults_come_between(read):
    rule = one(read, "min = 0.5")
    assert (rule.basis, rule.confidence, rule.min_cases, rule.max, rule.why) == ("lower", 0.95, 30, None, "")
    rule = one(read, "min = 0.5", 'basis = "value"\nconfidence = 0.8\nmin_cases = 5')
    assert (rule.basis, rule.confidence, rule.min_cases) == ("value", 0.8, 5)
    rule = one(read, 'min = 0.5\nbasis = "lower"\nconfidence = 0.99\nmin_cases = 6', 'basis = "value"\nmin_cases = 5')
    assert (rule.basis, rule.confidence, rule.min_cases) == ("lower", 0.99, 6)


@pytest.mark.parametrize(("written", "value"), [("1", 1.0), ("1.0", 1.0), ("1e-3", 0.001), ("0.5", 0.5)])
def test_a_minimum_may_be_any_number_above_0(read, written, value):
    rule = one(read, f"min = {written}")
    assert rule.min == value
    assert isinstance(rule.min, float)


@pytest.mark.parametrize(
    "keys",
    [
        *("min = 0", "min = 0.0", "min = -0.0", "min = -0", "min = 0e0", "max = 1", "max = 1.0", "max = 1e0"),
        *("min = 0\nmax = 1", "min = -0.0\nmax = 1.0", 'min = 0.0\nbasis = "value"', "min = 0\nmin_cases = 1"),
        *("min = 0\nmax_drop = 0.1", "max_drop = 1", "max_drop = 1.0", "min = 0.5\nmax_churn = 1"),
        'max_drop = 1.0\nbasis = "value"',
    ],
)
def test_a_gate_that_every_model_passes_is_refused(complaint, keys):
    said = complaint(f"schema = 1\n{gate(keys)}")
    assert said.startswith('gate."valse/existence".acc_r: ')
    assert "every model keeps to it, so nothing is judged; write a m" in said
    assert said.endswith(f", or leave {'it' if 'max_drop' in keys or 'max_churn' in keys else 'this table'} out")


@pytest.mark.parametrize("keys", ["max = 1", "max = 1.0", 'max = 1.0\nmodel = "blip"'])
def test_a_limit_that_no_model_exceeds_is_refused(complaint, keys):
    assert "max = 1" in complaint(f"schema = 1\n{gate(keys).replace('gate', 'limit')}")


def test_a_difference_may_be_above_0_only(read, complaint):
    assert "write a min above -1" in complaint(f"schema = 1\n{gate('min = -1', metric='visual_gain')}")
    [rule] = read(f"schema = 1\n{gate('min = 0', metric='visual_gain')}").rules
    assert rule.min == 0.0


@pytest.mark.parametrize(
    ("keys", "bounds"),
    [("min = 0\nmax = 0.4", (0.0, 0.4)), ("min = 0.5\nmax = 1.0", (0.5, 1.0)), ("max = 0", (None, 0))],
)
def test_a_bound_of_the_scale_may_stand_beside_one_that_decides(read, keys, bounds):
    rule = one(read, keys)
    assert (rule.min, rule.max) == bounds


def test_the_mark_that_windows_writes_at_the_beginning_is_not_read(tmp_path):
    file = tmp_path / "gates.toml"
    file.write_bytes(
        b"\xef\xbb\xbf" + f'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n{gate("min = 0.5")}'.encode()
    )
    held = b'\xef\xbb\xbf{"task": "valse/existence", "case": "1"}\n'
    (tmp_path / "held.jsonl").write_bytes(held)
    found = read_thresholds(file, TASKS)
    assert [rule.min for rule in found.rules] == [0.5]
    assert found.must_hold is not None
    assert (found.must_hold.cases, found.must_hold.digest) == (
        {"valse/existence": ("1",)},
        hashlib.sha256(held).hexdigest(),
    )


@pytest.mark.parametrize("written", ["true", "1.0", "false", "0x2", "[1]", "1e0", "inf"])
def test_a_schema_that_only_equals_1_is_refused(complaint, written):
    assert "write schema = 1" in complaint(f"schema = {written}")


def test_a_file_without_gates_has_no_rules(read):
    assert read("schema = 1").rules == ()


def test_rules_come_in_the_order_of_the_file(read):
    tasks = ("winoground/all", "valse/existence", "carets/order-inv")
    metrics = ("group", "acc_r", "cons")
    text = "".join(gate("min = 0.5", task, metric) for task, metric in zip(tasks, metrics, strict=True))
    assert tuple(rule.task for rule in read("schema = 1\n" + text).rules) == tasks


@pytest.mark.parametrize(
    ("text", "where", "problem", "remedy"),
    [
        ("", "schema", "is None", "write schema = 1"),
        ("schema = 2", "schema", "is 2", "write schema = 1"),
        ('schema = "1"', "schema", "is '1'", "write schema = 1"),
        ("schema = 1\ndefault = {}", "top level", "unknown key 'default'", "did you mean 'defaults'?"),
        (
            "schema = 1\nfail_correction = 'bh'",
            "top level",
            "unknown key 'fail_correction'",
            "it belongs into [defaults]",
        ),
        ("schema = 1\n[gates]", "top level", "unknown key 'gates'", "did you mean 'gate'?"),
        ("schema = 1\n[defaults]\nmin_case = 3", "[defaults]", "unknown key 'min_case'", "did you mean 'min_cases'?"),
        ("schema = 1\ndefaults = 3", "defaults", "is 3,", "write [defaults]"),
        ("schema = 1\ngate = true", "gate", "is True,", "write [gate"),
        ("schema = 1\n[defaults]\nconfidence = 95", "[defaults]", "confidence = 95", "at least 0.5 and below 1"),
        ("schema = 1\n[defaults]\nmin_cases = 0", "[defaults]", "min_cases = 0", "whole number above 0"),
        ('schema = 1\n[defaults]\nbasis = "low"', "[defaults]", "basis = 'low'", '"lower"'),
        ('schema = 1\n[defaults]\nrequire = "valse/*"', "defaults.require", "is 'valse/*'", "list of patterns"),
        (
            'schema = 1\n[defaults]\nrequire = ["valse/existance"]',
            "defaults.require",
            "no task matches 'valse/existance'",
            "did you mean 'valse/existence'?",
        ),
    ],
)
def test_an_error_names_the_file_the_key_and_the_remedy(complaint, text, where, problem, remedy):
    said = complaint(text)
    assert said.startswith(f"{where}: {problem}")
    assert remedy in said


@pytest.mark.parametrize(
    ("keys", "problem", "remedy"),
    [
        ("", "has neither min nor max", "min = 0.50"),
        ('why = "x"', "has neither min nor max", "min = 0.50"),
        ("minimum = 0.5", "unknown key 'minimum'", "did you mean 'min'?"),
        ("min = true", "min = True", "fraction from 0 to 1"),
        ("max = false", "max = False", "fraction from 0 to 1"),
        ("min = 60", "min = 60", "fraction from 0 to 1"),
        ("min = -0.1", "min = -0.1", "fraction from 0 to 1"),
        ("max = 1.01", "max = 1.01", "fraction from 0 to 1"),
        ("min = nan", "min = nan", "fraction from 0 to 1"),
        ("min = inf", "min = inf", "fraction from 0 to 1"),
        ('min = "0.6"', "min = '0.6'", "fraction from 0 to 1"),
        ("min = [0.6]", "min = [0.6]", "fraction from 0 to 1"),
        ("min = 0.8\nmax = 0.2", "min = 0.8 is above max = 0.2", "no value can pass"),
        ("min = 0.5\nbasis = 'upper'", "basis = 'upper'", '"lower"'),
        ("min = 0.5\nbasis = ['lower']", "basis = ['lower']", '"lower"'),
        ("min = 0.5\nconfidence = true", "confidence = True", "at least 0.5 and below 1"),
        ("min = 0.5\nconfidence = 1.0", "confidence = 1.0", "at least 0.5 and below 1"),
        ("min = 0.5\nconfidence = 0.05", "confidence = 0.05", "at least 0.5 and below 1"),
        ("min = 0.5\nconfidence = nan", "confidence = nan", "at least 0.5 and below 1"),
        ("min = 0.5\nmin_cases = true", "min_cases = True", "whole number above 0"),
        ("min = 0.5\nmin_cases = 2.0", "min_cases = 2.0", "whole number above 0"),
        ("min = 0.5\nmin_cases = -3", "min_cases = -3", "whole number above 0"),
    ],
)
def test_a_wrong_key_of_a_gate_is_an_error_that_names_the_gate(complaint, keys, problem, remedy):
    said = complaint("schema = 1\n" + gate(keys))
    assert said.startswith(f'gate."valse/existence".acc_r: {problem}')
    assert remedy in said


@pytest.mark.parametrize(
    ("task", "metric", "problem", "remedy"),
    [
        ("valse/existance", "acc_r", "no task matches 'valse/existance'", "did you mean 'valse/existence'?"),
        ("vals/*", "acc_r", "no task matches 'vals/*'", "known are 'carets/order-inv'"),
        ("valse/existence", "acc-r", "'acc-r' is not a metric of these tasks", "did you mean 'acc_r'?"),
        ("valse/existence", "group", "'group' is not a metric of these tasks", "known are 'acc'"),
        ("winoground/all", "groups", "'groups' is not a metric of these tasks", "did you mean 'group'?"),
        ("winoground/*", "acc_r", "'acc_r' is not a metric of these tasks", "known are 'group'"),
    ],
)
def test_an_unknown_task_or_metric_names_the_nearest(complaint, task, metric, problem, remedy):
    said = complaint("schema = 1\n" + gate("min = 0.5", task, f'"{metric}"'))
    assert said.startswith(f'gate."{task}".{metric}: {problem}')
    assert remedy in said


def test_a_threshold_in_place_of_a_metric_is_an_error(complaint):
    said = complaint('schema = 1\n[gate."valse/existence"]\nmin = 0.5')
    assert said.startswith('gate."valse/existence".min: is 0.5, ')


def test_an_error_in_the_toml_names_the_line(complaint):
    assert re.match(r"is not valid TOML .*line 2", complaint("schema = 1\nmin 0.5"))


def test_a_gate_that_is_given_twice_is_an_error(complaint):
    assert complaint("schema = 1\n" + gate("min = 0.5") + gate("min = 0.9")).startswith("is not valid TOML")


def test_a_file_that_is_not_utf_8_is_an_error(tmp_path):
    file = tmp_path / "gates.toml"
    file.write_bytes('why = "für alle"'.encode("latin-1"))
    with pytest.raises(ThresholdsError, match=rf"^{re.escape(str(file))}: is not UTF-8"):
        read_thresholds(file, TASKS)


def test_a_file_that_does_not_exist_or_is_a_folder_is_an_error(tmp_path):
    for file in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(ThresholdsError, match=rf"^{re.escape(str(file))}: .*--thresholds"):
            read_thresholds(file, TASKS)


def minima(read, text, tasks=tuple(TASKS)):
    gates, idle = expand(read("schema = 1\n" + text).rules, {task: TASKS[task] for task in tasks})
    return {made.id: made.min for made in gates}, [rule.task for rule, _ in idle]


def test_a_pattern_makes_a_gate_of_each_task_that_it_matches(read):
    assert minima(read, gate("min = 0.5", "valse/*")) == (
        {"valse/existence:acc_r": 0.5, "valse/plurality:acc_r": 0.5},
        [],
    )


def test_a_gate_that_a_pattern_makes_keeps_all_keys_of_its_rule(read):
    keys = 'max = 0.9\nmin = 0.1\nbasis = "value"\nconfidence = 0.8\nmin_cases = 3\nwhy = "so"'
    gates, _ = expand(read("schema = 1\n" + gate(keys, "valse/*")).rules, {"valse/existence": "pair"})
    [rule] = read("schema = 1\n" + gate(keys)).rules
    assert gates == [rule]


@pytest.mark.parametrize("exact_first", [True, False])
@pytest.mark.parametrize("tasks", [tuple(TASKS), ("valse/existence",)])
def test_an_exact_task_wins_over_a_pattern_wherever_it_stands(read, exact_first, tasks):
    rules = [gate("min = 0.9", "valse/existence"), gate("min = 0.5", "valse/*")]
    found, idle = minima(read, "".join(rules if exact_first else rules[::-1]), tasks)
    assert found["valse/existence:acc_r"] == 0.9
    assert found.get("valse/plurality:acc_r", 0.5) == 0.5
    assert idle == []


def test_two_patterns_that_match_one_task_are_an_error_that_names_both(complaint):
    rules = [gate("min = 0.4", "*/existence"), gate("min = 0.6", "valse/*")]
    for one_first in (rules, rules[::-1]):
        said = complaint("schema = 1\n" + "".join(one_first))
        assert "*/existence" in said
        assert "valse/*" in said
        assert '[gate."valse/existence".acc_r]' in said


def test_an_exact_id_settles_which_of_two_patterns_holds(read):
    rules = [gate("min = 0.4", "*/existence"), gate("min = 0.6", "valse/*"), gate("min = 0.9", "valse/existence")]
    assert minima(read, "".join(rules))[0] == {"valse/existence:acc_r": 0.9, "valse/plurality:acc_r": 0.6}


def test_a_suspect_check_is_allowed_by_name_with_a_reason(read):
    assert read("schema = 1\n").allowed == {}
    text = 'schema = 1\n[checks]\nbatch_invariance = { allow = true, why = "an API" }\npolarity = { allow = false }\n'
    assert read(text).allowed == {"batch_invariance": "an API"}


@pytest.mark.parametrize(
    ("entry", "where", "remedy"),
    [
        ("batch_invariance = { allow = true }", "checks.batch_invariance: .*without a why", "why = "),
        ('polarity = { allow = true, why = " " }', "checks.polarity: .*without a why", "why = "),
        ('polarity = { allow = 1, why = "so" }', "checks.polarity: allow = 1", "true or false"),
        ("polarity = true", "checks.polarity: is True", "allow = true"),
        ('polarty = { allow = true, why = "so" }', "unknown check 'polarty'", "'polarity'"),
        ('polarity = { alow = true, why = "so" }', "unknown key 'alow'", "'allow'"),
    ],
)
def test_a_wrong_entry_of_checks_says_what_to_write(complaint, entry, where, remedy):
    said = complaint(f"schema = 1\n[checks]\n{entry}\n")
    assert re.search(where, said)
    assert remedy in said


def test_the_largest_share_of_skipped_cases_has_a_default_and_can_be_set(read, complaint):
    assert one(read, "min = 0.5").max_skipped == 0.05
    assert one(read, "min = 0.5", "max_skipped = 0.2").max_skipped == 0.2
    assert one(read, "min = 0.5\nmax_skipped = 0", "max_skipped = 0.2").max_skipped == 0.0
    assert "max_skipped = 5" in complaint("schema = 1\n" + gate("min = 0.5\nmax_skipped = 5"))


def test_rules_for_other_metrics_of_a_task_stand_beside_each_other(read):
    rules = gate("min = 0.5") + gate("min = 0.6", "valse/existence", "auroc")
    assert minima(read, rules)[0] == {"valse/existence:acc_r": 0.5, "valse/existence:auroc": 0.6}


def test_a_pattern_over_tasks_of_several_shapes_gates_those_that_have_the_metric(read):
    rules = gate("min = 0.5", "scenes/*") + gate("min = 0.3", "*", "group")
    assert minima(read, rules)[0] == {
        "scenes/relations:acc_r": 0.5,
        "winoground/all:group": 0.3,
        "scenes/word-swap:group": 0.3,
    }


def test_a_rule_that_matches_no_task_of_the_run_is_idle(read):
    rules = gate("min = 0.5", "valse/*") + gate("min = 0.3", "winoground/all", "group") + gate("min = 0.1")
    found, idle = minima(read, rules, ("winoground/all",))
    assert found == {"winoground/all:group": 0.3}
    assert idle == ["valse/*", "valse/existence"]


def test_a_rule_that_others_override_everywhere_is_not_idle(read):
    rules = gate("min = 0.5", "valse/*") + gate("min = 0.9", "valse/existence")
    assert minima(read, rules, ("valse/existence",)) == ({"valse/existence:acc_r": 0.9}, [])


def test_the_shipped_file_can_be_read(pytestconfig):
    from vlgate.sources.registry import shapes

    assert read_thresholds(pytestconfig.rootpath / "thresholds.toml", shapes()).rules


def test_a_correction_of_fails_is_one_of_three(read, complaint):
    assert read("schema = 1").fail_correction == "none"
    assert read('schema = 1\n[defaults]\nfail_correction = "holm"').fail_correction == "holm"
    assert 'write "none", "holm" or "bh"' in complaint('schema = 1\n[defaults]\nfail_correction = "bonferroni"')
    assert "unknown key" in complaint('schema = 1\n[gate."valse/existence".acc_r]\nmin = 0.5\nfail_correction = "bh"')


def test_the_file_and_the_cases_that_must_hold_are_read_once_with_their_digests(read, tmp_path):
    held = tmp_path / "held.jsonl"
    held.write_text('{"task": "valse/existence", "case": "a"}\n')
    text = 'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n'
    found = read(text)
    held.unlink()
    assert found.must_hold.cases == {"valse/existence": ("a",)}
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()
    assert found.must_hold.digest == hashlib.sha256(b'{"task": "valse/existence", "case": "a"}\n').hexdigest()


@pytest.mark.parametrize("most", ["1.0", "2.5", "-1", '"2"', "true"])
def test_the_most_newly_broken_cases_are_a_whole_number_or_a_share_below_1(most, complaint):
    said = complaint(f"schema = 1\n{gate(f'max_broken = {most}')}")
    assert "write a whole number of cases, as 2, or a share of them below 1, as 0.05" in said


def test_a_case_that_must_hold_is_of_a_known_task(read, tmp_path):
    (tmp_path / "held.jsonl").write_text('{"task": "valse/existance", "case": "1"}\n')
    with pytest.raises(ThresholdsError, match="no task is named 'valse/existance'; did you mean 'valse/existence'"):
        read(f'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n{gate("min = 0.5")}')
