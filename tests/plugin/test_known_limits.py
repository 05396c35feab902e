"""A run with known limits: what it prints, its files and its exit status."""

import json

GATE = '[gate."valse/*".acc_r]\nmin = 0.5\n'
MOST = '[gate."valse/*".acc_r]\nmax = 0.9\n'
OTHERS = ("plurality", "relations", "actant-swap", "coreference-standard", "counting-balanced")
LIMIT = '[limit."valse/existence".acc_r]\nmax = 0.6\nwhy = "it does not see what is missing"\n'


def test_a_limit_that_holds_is_shown_and_fails_nothing(place, wrong):
    place.ready(MOST + LIMIT)
    result = place.run(wrong, "-rx", "--alluredir=allure", ret=0)
    result.stdout.fnmatch_lines(["XFAIL thresholds.toml::limit:valse/existence:acc_r - cannot: acc_r is 0.0000 *"])
    result.stdout.fnmatch_lines(["cannot   valse/existence *(known limit 0.6: it does not see what is missing)"])
    found = {gate["gate"]: (gate["kind"], gate["decision"]) for gate in place.metrics()["gates"]}
    assert found["limit:valse/existence:acc_r"] == ("limit", "cannot")
    assert "1 cannot" in (place.path / "out/summary.md").read_text()
    files = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    [shown] = [file for file in files if file["name"] == "thresholds.toml::limit:valse/existence:acc_r"]
    assert shown["status"] == "skipped"
    assert {"name": "threshold", "value": "<= 0.6", "excluded": True} in shown["parameters"]


def test_a_model_that_is_better_than_its_limit_fails_the_run(place, right):
    place.ready(GATE + LIMIT)
    place.run(right, ret=1, says="fail: limit:valse/existence:acc_r: acc_r is 1.0000*better than the known limit*")
    [held] = [gate for gate in place.metrics()["gates"] if gate["kind"] == "gate"]
    assert held["decision"] == "pass"


def test_limits_alone_let_no_model_through(place, wrong):
    place.ready(LIMIT)
    place.run(wrong, "--require-gates", ret=1, says="*no gate was judged*")


def test_a_limit_of_another_model_is_not_run(place, right):
    place.ready(GATE + LIMIT + 'model = "tiny-lxmert"\n')
    place.run(right, ret=0, says="not run: limit:valse/existence:acc_r: it is about the model tiny-lxmert")


def test_gates_that_are_not_run_for_the_same_reason_take_one_line(place, right):
    place.valse()
    others = [f'[gate."valse/{name}".acc_r]\nmin = 0.5\nwhy = "{name}"\n' for name in OTHERS]
    place.thresholds("".join([GATE.replace("valse/*", "valse/existence"), *others]))
    result = place.run(right, "-rs", ret=0)
    first = ", ".join(f"valse/{name}:acc_r" for name in OTHERS[:3])
    result.stdout.fnmatch_lines([f"not run: {first} and 2 more: none of its tasks is in this run"])
    result.stdout.fnmatch_lines(["SKIPPED [[]5[]] thresholds.toml:0: not run: none of its tasks is in this run"])
    idle = {gate["gate"] for gate in place.metrics()["gates"] if gate["decision"] == "not run"}
    assert idle == {f"valse/{name}:acc_r" for name in OTHERS}
