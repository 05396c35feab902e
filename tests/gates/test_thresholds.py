import hashlib
import re
from operator import attrgetter
from pathlib import Path

import pytest
from builders import table, tabled

from vlgate.errors import ThresholdsError
from vlgate.gates.decide import expand
from vlgate.gates.thresholds import read_thresholds
from vlgate.sources.registry import shapes

TASKS = dict.fromkeys(("valse/existence", "valse/plurality", "scenes/relations"), "pair")
TASKS |= {"winoground/all": "quad", "scenes/word-swap": "quad", "carets/order-inv": "questions"}
LIMIT = '[limit."valse/existence".acc_r]\n'


@pytest.fixture
def read(tmp_path):
    def reading(text):
        file = tmp_path / "gates.toml"
        file.write_text(text, encoding="utf-8")
        return read_thresholds(file, TASKS)

    return reading


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
    keys = attrgetter("basis", "confidence", "min_cases", "max_skipped", "max", "why")
    assert keys(one(read, "min = 0.5")) == ("lower", 0.95, 30, 0.05, None, "")
    defaults = 'basis = "value"\nconfidence = 0.8\nmin_cases = 5\nmax_skipped = 0.2'
    assert keys(one(read, "min = 0.5", defaults)) == ("value", 0.8, 5, 0.2, None, "")
    own = 'min = 0.5\nbasis = "lower"\nconfidence = 0.99\nmin_cases = 6\nmax_skipped = 0'
    assert keys(one(read, own, defaults)) == ("lower", 0.99, 6, 0.0, None, "")


@tabled
def test_a_bound_may_be_any_number_and_one_of_the_scale_stand_beside_one_that_decides(read, keys, bounds):
    rule = one(read, keys)
    assert (rule.min, rule.max) == bounds
    assert not isinstance(rule.min, int)
    assert read(f"schema = 1\n{gate('min = 0', metric='visual_gain')}").rules[0].min == 0.0  # a difference may be 0


def test_the_mark_that_windows_writes_at_the_beginning_is_not_read(tmp_path):
    file = tmp_path / "gates.toml"
    text = f'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n{gate("min = 0.5")}'
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())
    held = b'\xef\xbb\xbf{"task": "valse/existence", "case": "1"}\n'
    (tmp_path / "held.jsonl").write_bytes(held)
    found = read_thresholds(file, TASKS)
    assert [rule.min for rule in found.rules] == [0.5]
    assert found.must_hold.cases == {"valse/existence": ("1",)}
    assert found.must_hold.digest == hashlib.sha256(held).hexdigest()


def test_rules_come_in_the_order_of_the_file_which_may_have_none_and_allow_a_check_by_name(read):
    metrics = {"winoground/all": "group", "valse/existence": "acc_r", "carets/order-inv": "cons"}
    text = "".join(gate("min = 0.5", task, metric) for task, metric in metrics.items())
    assert [rule.task for rule in read("schema = 1\n" + text).rules] == list(metrics)
    empty = read("schema = 1\n")
    assert (empty.rules, empty.allowed, empty.fail_correction) == ((), {}, "none")
    assert read('schema = 1\n[defaults]\nfail_correction = "holm"').fail_correction == "holm"
    text = 'schema = 1\n[checks]\nbatch_invariance = { allow = true, why = "an API" }\npolarity = { allow = false }\n'
    assert read(text).allowed == {"batch_invariance": "an API"}


@pytest.mark.parametrize(("text", "begins", "says"), table(Path(__file__).with_name("wrong_thresholds.tsv")))
def test_an_error_names_the_file_the_key_and_the_remedy(read, tmp_path, text, begins, says):
    with pytest.raises(ThresholdsError) as caught:
        read(text)
    assert str(caught.value).startswith(f"{tmp_path / 'gates.toml'}: {begins}")
    assert all(part in str(caught.value) for part in says.split(".*"))


def test_a_file_that_is_not_utf_8_does_not_exist_or_is_a_folder_is_an_error(tmp_path):
    latin = tmp_path / "gates.toml"
    latin.write_bytes('why = "für alle"'.encode("latin-1"))
    for file, says in (
        (latin, "is not UTF-8"),
        (tmp_path / "none.toml", ".*--thresholds"),
        (tmp_path, ".*--thresholds"),
    ):
        with pytest.raises(ThresholdsError, match=rf"^{re.escape(str(file))}: {says}"):
            read_thresholds(file, TASKS)


def test_a_gate_that_a_pattern_makes_keeps_all_keys_of_its_rule(read):
    keys = 'max = 0.9\nmin = 0.1\nbasis = "value"\nconfidence = 0.8\nmin_cases = 3\nwhy = "so"'
    gates, _ = expand(read("schema = 1\n" + gate(keys, "valse/*")).rules, {"valse/existence": "pair"})
    [rule] = read("schema = 1\n" + gate(keys)).rules
    assert gates == [rule]


RULES = {
    "exact": gate("min = 0.9"),
    "pattern": gate("min = 0.5", "valse/*"),
    "ending": gate("min = 0.4", "*/existence"),
}
RULES |= {"area": gate("min = 0.6", metric="auroc"), "scenes": gate("min = 0.5", "scenes/*")}
RULES |= {"quads": gate("min = 0.3", "winoground/all", "group"), "groups": gate("min = 0.3", "*", "group")}


@tabled
def test_which_rule_holds_for_which_task(read, rules, tasks, made, idle):
    text = "".join(RULES[name] for name in rules.split())
    gates, unused = expand(read(f"schema = 1\n{text}").rules, {task: TASKS[task] for task in tasks or TASKS})
    assert {one.id: one.min for one in gates} == made
    assert " ".join(rule.task for rule, _ in unused) == idle


def test_the_shipped_file_can_be_read(pytestconfig):
    assert read_thresholds(pytestconfig.rootpath / "thresholds.toml", shapes()).rules


def test_the_file_and_the_cases_that_must_hold_are_read_once_and_are_of_known_tasks(read, tmp_path):
    held = tmp_path / "held.jsonl"
    held.write_text('{"task": "valse/existence", "case": "a"}\n')
    text = 'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n'
    found = read(text)
    held.unlink()
    assert found.must_hold.cases == {"valse/existence": ("a",)}
    assert found.digest == hashlib.sha256(text.encode()).hexdigest()
    assert found.must_hold.digest == hashlib.sha256(b'{"task": "valse/existence", "case": "a"}\n').hexdigest()
    (tmp_path / "held.jsonl").write_text('{"task": "valse/existance", "case": "1"}\n')
    with pytest.raises(ThresholdsError, match="no task is named 'valse/existance'; did you mean 'valse/existence'"):
        read(f'schema = 1\n[defaults]\nmust_hold = "held.jsonl"\n{gate("min = 0.5")}')


def test_a_limit_and_a_gate_of_the_same_metric_both_hold(read):
    defaults = "[defaults]\nmin_cases = 7\nconfidence = 0.9\n"
    both = f'schema = 1\n{defaults}{gate("min = 0.4")}{LIMIT}max = 0.6\nwhy = "left and right"'
    made, idle = expand(read(both).rules, {"valse/existence": "pair"})
    assert [rule.id for rule in made] == ["valse/existence:acc_r", "limit:valse/existence:acc_r"]
    assert [(rule.min, rule.max, rule.why) for rule in made] == [(0.4, None, ""), (None, 0.6, "left and right")]
    assert [(rule.kind, rule.min_cases, rule.confidence) for rule in made] == [("gate", 7, 0.9), ("limit", 7, 0.9)]
    assert not idle


@tabled
def test_a_limit_of_a_model_holds_for_that_model_only(read, model, held):
    made, idle = expand(read(f'schema = 1\n{LIMIT}max = 0.6\nmodel = "tiny-lxmert"').rules, TASKS, model)
    assert [rule.task for rule in made] == (["valse/existence"] if held else [])
    assert [why for _, why in idle] == ([] if held else ["it is about the model tiny-lxmert"])
