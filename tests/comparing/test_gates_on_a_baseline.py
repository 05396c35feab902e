"""A run with ``--baseline``: what it refuses, decides, prints and writes."""

import json
import shutil
from pathlib import Path

import pytest
from builders import read_lines, table, write_lines

from tests.plugin.conftest import Workplace
from vlgate.cli import main


@pytest.fixture
def place(pytester):
    return Workplace(pytester)


def rest_slow(rows, *quick):
    """The rows of a table, of which only those of these places run by default."""
    return [row if at in quick else pytest.param(*row, marks=pytest.mark.slow) for at, row in enumerate(rows)]


def rows(test, *quick):
    return rest_slow(table(Path(__file__).with_name("gates_on_a_baseline.tsv"), test), *quick)


def numbers(text):
    """The numbers of ``5 9``, or of ``2-39``."""
    first, dash, last = text.partition("-")
    return range(int(first), int(last) + 1) if dash else [int(number) for number in text.split()]


def worse(broken):
    """A model that is right but for the records of these numbers."""
    score = f"float(('no ' not in pair.text) != (int(pair.text.split()[-2]) in {set(broken)!r}))"
    return f"def match(self, pairs):\n    return [{score} for pair in pairs]"


def cut_short(place):
    file = place.path / "before/metrics.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "complete": False, "why": "stopped"}))


def gate(keys, task="valse/existence"):
    return f'[gate."{task}".acc_r]\n{keys}\n'


@pytest.fixture
def before(place):
    """The place with a baseline of 40 cases; the earlier model misses the first two."""
    place.ready(gate("min = 0.1"))
    assert place.run(place.model(worse([0, 1]), "older"), "--results=before").ret == 0
    return place


def run(place, broken, *args, **how):
    return place.run(place.model(worse(broken), f"newer_{len(broken)}"), "--baseline=before", *args, **how)


def test_what_is_newly_broken_is_counted_named_written_and_judged(before):
    before.thresholds(gate("max_broken = 1\nmax_churn = 0.9\nmax_drop = 0.5"))
    result = run(before, [1, 5, 9], ret=1)
    result.stdout.re_match_lines(
        [
            r"fail +valse/existence +acc_r +2 broken +- +40 +max_broken = 1 +- +- +unclear",
            r"pass +valse/existence +acc_r +-0.025 +-\S+ to \S+ +40 +max_drop = 0.5 +- +- +unclear",
            r"pass +valse/existence +acc_r +3 changed +- +40 +max_churn = 0.9 +- +- +unclear",
        ]
    )
    result.stdout.fnmatch_lines(
        [
            "compared with *before (older:build): 2 newly broken, 1 fixed, 1 still wrong of 40 cases; 3 have *",
            "unlike: the model was older:build, is newer_3:build",
            "valse/existence: 2 broken, 1 fixed of 40, acc_r -0.025 (*), p by image = 0.599; 3 with another *",
            "newly broken: valse/existence:record_5",
            "newly broken: valse/existence:record_9",
        ]
    )
    found = before.metrics()
    assert [gate.get("counted") for gate in found["gates"]] == [None, 3, 2]
    change = found["baseline"]["tasks"]["valse/existence"]
    assert (change["broken"], change["fixed"]) == (["record_5", "record_9"], ["record_0"])
    assert change["differences"]["acc_r"]["value"] == pytest.approx(-0.025)
    assert "newly broken: valse/existence:record_9" in (before.path / "out/summary.md").read_text()


@pytest.mark.parametrize(("keys", "broken", "outcome"), rows("comparison", 0, 3, 7, 8))
def test_a_gate_on_the_comparison(before, keys, broken, outcome):
    before.thresholds(gate(keys))
    result = run(before, numbers(broken))
    name = f"valse/existence:acc_r:{keys.split(' ')[0]}"
    assert before.decisions()[name] == outcome
    assert result.ret == (0 if outcome == "pass" else 1)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda place: place.valse(n=30), "*has 10 cases (record_30, *) that the later run does not ask*"),
        (lambda place: place.valse(change=lambda _, row: row.update(caption="Dogs.")), "*else in 40 cases*"),
        (lambda place: (place.path / "before/metrics.json").write_text("{"), "*metrics.json is not JSON*"),
        (lambda place: (place.path / "before/cases.parquet").write_text("x"), "*cases.parquet cannot be read*"),
        (lambda place: shutil.rmtree(place.path / "before"), "*does not exist*"),
        (cut_short, "*the run is incomplete (stopped)*"),
        (lambda _: None, "*was judged with --ties strict, the later run with --ties half*"),
    ],
)
def test_an_earlier_run_that_is_unlike_is_refused_before_the_model_is_loaded(before, change, expected):
    change(before)
    run(before, [], *(["--ties=half"] if "ties" in expected else []), ret=4, error=f"ERROR: --baseline {expected}")
    assert not (before.path / "out").exists()


def test_a_part_of_the_cases_or_an_idle_number_passes_no_gate_and_new_cases_are_not_compared(before):
    before.thresholds(gate("max_broken = 5"))
    run(before, [5], "-k=record_5", ret=1)
    assert before.decisions() == {"valse/existence:acc_r:max_broken": "inconclusive"}
    assert before.metrics()["baseline"]["tasks"]["valse/existence"]["broken"] == ["record_5"]
    before.ready(gate("max_broken = 5"), n=44)
    run(before, [42], ret=0)
    [made] = before.metrics()["gates"]
    assert made["why"].endswith("; 4 cases of this run are not in the baseline")
    change = before.metrics()["baseline"]["tasks"]["valse/existence"]
    assert (change["n"], change["added"], change["broken"]) == (40, 4, [])
    before.ready(gate("max_broken = 45"), n=60)
    assert run(before, list(range(60))).ret == 1
    assert before.decisions() == {"valse/existence:acc_r:max_broken": "inconclusive"}


HELD = '[defaults]\nmust_hold = "held.jsonl"\n'


def hold(place, *cases):
    write_lines(place.path / "held.jsonl", [{"task": f"valse/{task}", "case": case} for task, case in cases])
    place.thresholds(HELD + gate("min = 0.1"))


@pytest.mark.parametrize(("case", "broken", "outcome"), rows("must hold", *range(4)))
def test_cases_that_must_hold(before, case, broken, outcome):
    hold(before, case.split(":"))
    result = run(before, numbers(broken))
    assert before.decisions()["run:must_hold"] == outcome
    assert result.ret == (0 if outcome in {"pass", "not run"} else 1)


@pytest.mark.parametrize("line", [
    "{", "[]", '{"task": "valse/existence"}', '{"task": 1, "case": "a"}', '{"task": "a/b", "case": "a", "case": "b"}',
    '{"task": "a/b", "case": "a", "cases": ["b"]}',
])  # fmt: skip
def test_a_line_that_names_no_case_is_refused_with_its_number(before, line):
    before.thresholds(HELD + gate("min = 0.1"))
    (before.path / "held.jsonl").write_text(f'{{"task": "a/b", "case": "c"}}\n{line}\n')
    run(before, [], ret=4, error="*held.jsonl, record 2: *write one case per line*")


@pytest.mark.slow
@pytest.mark.parametrize(("held", "args", "outcome"), rows("held", 1, 3))
def test_cases_that_must_hold_without_data(before, capsys, held, args, outcome):
    hold(before, *(one.split(":") for one in held.split()))
    result = run(before, [], "--health=off", *args.split())
    assert before.decisions()["run:must_hold"] == outcome
    assert result.ret == (1 if outcome == "inconclusive" else 0)
    judged = ["judge", "out", "--thresholds", "thresholds.toml", "--baseline", "before"]
    required = [] if "--require-gates" in args else ["--no-require-gates"]
    capsys.readouterr()
    assert main([*judged, *required]) == result.ret


@pytest.mark.slow
def test_cases_that_must_hold_may_not_be_deselected(before, capsys):
    before.valse(file="plurals.json")
    hold(before, ("existence", "record_5"))
    before.thresholds(HELD + gate("min = 0.1", "valse/plurality"))
    model = before.model(worse([]), "newest")
    result = before.run(model, "--missing-images=skip", "--health=off", "-k", "plurality")
    assert (before.decisions()["run:must_hold"], result.ret) == ("inconclusive", 1)
    capsys.readouterr()
    assert main(["judge", "out", "--thresholds", "thresholds.toml"]) == 1
    assert "run:must_hold" in capsys.readouterr().out


@pytest.mark.slow
def test_two_folders_are_compared_without_a_model(before, capsys, vlgate):
    run(before, [1, 5, 9])
    capsys.readouterr()
    printed = vlgate("compare", "before", "out")
    assert "2 newly broken, 1 fixed, 1 still wrong of 40 cases" in printed
    assert "the model's fingerprint was" in printed
    before.thresholds(gate("max_broken = 1"))
    assert main(["compare", "before", "out", "--thresholds", "thresholds.toml", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["gates"][0]["decision"] == "fail"
    assert found["tasks"]["valse/existence"]["broken"] == ["record_5", "record_9"]
    assert "1 newly broken, 2 fixed" in vlgate("compare", "out", "before")


@pytest.mark.slow
def test_a_kept_run_is_a_baseline_and_its_right_cases_can_be_held(before, capsys):
    arguments = ["baseline", "before", "--out", "kept", "--must-hold", "held.jsonl"]
    assert main(arguments) == 0
    held = [line["case"] for line in read_lines(before.path / "held.jsonl")]
    assert len(held) == 38
    assert not {"record_0", "record_1"} & set(held)
    assert json.loads((before.path / "kept/blessed.json").read_text())["model"] == "older:build"
    before.thresholds(HELD + gate("max_broken = 0"))
    newer = before.model(worse([0]), "newer")
    result = before.run(newer, "--baseline=kept", ret=0)
    result.stdout.fnmatch_lines(["next: *vlgate baseline out --out kept --overwrite makes this run the new baseline"])
    assert before.run(before.model(worse([30]), "newest"), "--baseline=kept").ret == 1
    capsys.readouterr()
    assert main(arguments) == 4
    assert "--overwrite" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.slow
def test_a_run_whose_gates_do_not_pass_is_kept_only_with_a_reason(before, vlgate):
    before.thresholds(gate("min = 0.999"))
    before.run(before.model(worse(range(3, 9)), "newer"))
    assert "its gates do not pass (valse/existence:acc_r)" in vlgate("baseline", "out", status=4)
    assert main(["baseline", "out", "--why", "the first release"]) == 0
    record = json.loads((before.path / "baseline/blessed.json").read_text())
    assert (record["why"], record["gates_not_passed"]) == ("the first release", ["valse/existence:acc_r"])
    assert before.verdict("baseline")["verdict"] == "fail"


def test_a_run_without_a_judged_gate_is_kept_only_with_a_reason(before, vlgate):
    before.thresholds("")
    before.run(before.model(worse([3]), "newer"))
    said = vlgate("baseline", "out", status=4)
    assert "no gate was judged in it; name a run that passes, or say why with --why TEXT" in said
    assert main(["baseline", "out", "--why", "there are no gates yet"]) == 0
    said = vlgate("baseline", "before", "--out", "kept", "--suite", "valse/*", status=4)
    assert "--suite: chooses the cases of --must-hold" in said


def test_a_baseline_counts_the_cases_that_no_later_run_can_be_compared_with(before, vlgate):
    images = before.path / "data/images/vg"
    (images / "100.jpg").unlink()
    sees = "def match(self, pairs):\n    return [pair.image.load().width * ('no ' not in pair.text) for pair in pairs]"
    newer = before.model(sees, "newer")
    before.run(newer, "--missing-images=skip", "-k", "not record_7")
    said = vlgate("baseline", "out", "--why", "most of it is there")
    assert "(newer:build, 37 cases).\nnote: its other cases cannot be compared: 2 skipped, 1 deselected\n" in said
    shutil.rmtree(images)
    before.run(newer, "--missing-images=skip")
    said = vlgate("baseline", "out", "--why", "none of it is there", "--overwrite", status=4)
    assert "none of its cases was judged, so none can be compared; name one with judged cases" in said


@pytest.mark.parametrize(("gates", "expected"), rows("refused", *range(8)))
def test_a_gate_that_cannot_be_judged_is_refused(before, gates, expected):
    before.thresholds(gates)
    run(before, list(range(2, 40)), ret=4, error=expected)
    assert not (before.path / "out").exists()


FIRST = "not compared: first run; vlgate baseline keeps it for --baseline"
BOTH = gate("min = 0.1\nmax_broken = 2")
MAX_BROKEN = "valse/existence:acc_r:max_broken"


@pytest.fixture
def first(place):
    """The place with data, gates with and without a comparison, and no earlier run."""
    place.ready(BOTH)
    return place


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_a_first_run_is_not_compared_and_says_so_everywhere(first, workers, capsys):
    result = first.run(first.model(worse([0, 1]), "older"), "--baseline=first", "--alluredir=allure", *workers, ret=0)
    said = "PASS: older:build may be released: 1 of 1 gate passes, 1 not compared: first run (exit status 0)"
    result.stdout.fnmatch_lines([said, f"not run: {MAX_BROKEN}: {FIRST}"])
    figures = first.metrics()
    [compared] = [figure for figure in figures["gates"] if figure["gate"] == MAX_BROKEN]
    assert (compared["decision"], compared["why"]) == ("not run", FIRST)
    out = first.path / "out"
    verdict = first.verdict()
    assert (verdict["verdict"], verdict["status"], verdict["run"]["baseline"]) == ("pass", 0, "first")
    assert f"- **not run** `{MAX_BROKEN}`: {FIRST}" in (out / "summary.md").read_text()
    page = (out / "report.html").read_text()
    assert "This release may ship: its gate passes; 1 gate is not compared: first run." in page
    assert f"Not run ({FIRST})" in page
    allure = [json.loads(file.read_text()) for file in (first.path / "allure").glob("*-result.json")]
    [skipped] = [one for one in allure if one["name"] == f"thresholds.toml::{MAX_BROKEN}"]
    assert (skipped["status"], skipped["statusDetails"]["message"]) == ("skipped", f"not run: {FIRST}")
    capsys.readouterr()
    assert main(["baseline", "out"]) == 0
    assert first.run(first.model(worse([5, 6, 7]), "newer"), "--baseline=baseline").ret == 1


@pytest.mark.parametrize(("keys", "broken", "more", "status"), rows("first run", 1, 3, 7))
def test_a_first_run_passes_by_its_other_gates_alone(first, keys, broken, more, status):
    first.thresholds(gate(keys))
    assert first.run(first.model(worse(numbers(broken)), "older"), "--baseline=first", *more.split()).ret == int(status)


def test_a_first_run_with_gates_on_a_comparison_alone_is_not_gated_and_no_ini_file_says_first(first, capsys):
    first.thresholds(gate("max_broken = 2"))
    model = first.model(worse([0]), "older")
    result = first.run(model, "--baseline=first", "--require-gates", ret=1)
    why = "*no gate was judged: every gate * compares with an earlier run, and this is the first; add a gate with min*"
    result.stdout.fnmatch_lines([why])
    result = first.run(model, "--baseline=first")
    result.stdout.fnmatch_lines(["NOT GATED: *no gate was judged, 1 not compared: first run (exit status 0)"])
    assert first.verdict()["verdict"] == "not gated"
    capsys.readouterr()
    assert main(["baseline", "out"]) == 4
    assert main(["baseline", "out", "--why", "the first one"]) == 0
    (first.path / "pytest.ini").write_text("[pytest]\nvlgate_baseline = first\n")
    result = first.run(first.model(worse([0]), "older"), ret=4)
    result.stderr.fnmatch_lines(["*vlgate_baseline = first: *write --baseline=first on the command line*"])


def test_without_the_word_a_first_run_stays_inconclusive_until_the_command_judge_says_it(first, vlgate):
    result = first.run(first.model(worse([0]), "older"), ret=1)
    result.stdout.fnmatch_lines(["inconclusive * max_broken = 2 *", "  compares with an earlier run*--baseline DIR"])
    result.stdout.fnmatch_lines(["next: name an earlier run of valse/existence as the baseline: --baseline DIR"])
    assert "its gates do not pass" in vlgate("baseline", "out", status=4)
    given = ["judge", "out", "--thresholds=thresholds.toml"]
    again = ["judge", "again", "--thresholds=thresholds.toml"]
    assert main(given) == 1
    assert f"not run: {MAX_BROKEN}: {FIRST}" in vlgate(*given, "--baseline=first", "--results=again")
    verdict = first.verdict("again")
    assert (verdict["verdict"], verdict["run"]["baseline"]) == ("pass", "first")
    assert main(["baseline", "again"]) == 0
    shutil.copytree(first.path / "baseline", first.path / "first")
    assert main([*again, "--baseline=./first", "--results=more"]) == 0
    assert "baseline" not in first.verdict("more")["run"]
    assert main([*again, "--baseline=first"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["./first", "first/"])
def test_a_folder_of_that_name_is_compared_with_by_its_path(before, name):
    (before.path / "before").rename(before.path / "first")
    before.thresholds(BOTH)
    result = before.run(before.model(worse([5, 6, 7]), "newer"), f"--baseline={name}")
    assert (result.ret, before.decisions()[MAX_BROKEN]) == (1, "fail")
    result = before.run(before.model(worse([5, 6, 7]), "newer"), "--baseline=first")
    assert (result.ret, before.decisions()[MAX_BROKEN]) == (0, "not run")
    result.stdout.fnmatch_lines(["--baseline=first compares with no run; write --baseline=./first to compare with *"])


@pytest.mark.slow
@pytest.mark.parametrize(("parts", "joined", "status"), rows("joined", 2))
def test_parts_of_a_first_run_are_joined_to_one(before, parts, joined, status):
    before.thresholds(BOTH)
    model = before.model(worse([5, 6, 7]), "newer")
    for number, given in enumerate(parts.split(", "), 1):
        before.run(model, f"--shard={number}/2", f"--results=p{number}", *given.split(), ret=0)
    assert main(["merge", "p1", "p2", "--results=joined", *joined.split()]) == int(status)
    [outcome] = [metric["decision"] for metric in before.metrics("joined")["gates"] if metric["gate"] == MAX_BROKEN]
    assert outcome == ("not run" if status == "0" else "inconclusive" if "before" not in parts + joined else "fail")
