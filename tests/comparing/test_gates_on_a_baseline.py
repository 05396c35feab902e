"""A run with ``--baseline``: what it refuses, decides, prints and writes."""

import json
import shutil

import pytest

from tests.plugin.conftest import Workplace
from vlgate.cli import main


@pytest.fixture
def place(pytester):
    return Workplace(pytester)


def rest_slow(rows, *quick):
    """The rows of a table, of which only those of these places run by default."""
    return [row if at in quick else pytest.param(*row, marks=pytest.mark.slow) for at, row in enumerate(rows)]


def worse(broken):
    """A model that is right but for the records of these numbers."""
    wrong = f"def match(self, pairs):\n    wrong = {set(broken)!r}\n"
    return wrong + (
        "    return [float(('no ' not in pair.text) != (int(pair.text.split()[-2]) in wrong)) for pair in pairs]"
    )


def cut_short(place):
    file = place.path / "before/metrics.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "complete": False, "why": "stopped"}))


def other_words(i, record):
    record.update(caption=f"Here are {i} dogs.")


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


def test_the_row_of_a_gate_on_a_count_shows_the_number_that_it_judges(before):
    before.thresholds(gate("max_broken = 1\nmax_churn = 0.9\nmax_drop = 0.5"))
    result = run(before, [1, 5, 9])
    result.stdout.re_match_lines(
        [
            r"foil +valse/existence +acc_r +40 +-0.025 +-\S+ to \S+ +- +- +max_drop = 0.5 +pass",
            r"foil +valse/existence +acc_r +40 +3 changed +- +- +- +max_churn = 0.9 +pass",
            r"foil +valse/existence +acc_r +40 +2 broken +- +- +- +max_broken = 1 +fail",
        ]
    )
    figures = before.metrics()
    assert [figure.get("counted") for figure in figures["gates"]] == [None, 3, 2]


def test_what_is_newly_broken_is_counted_named_and_written(before):
    result = run(before, [1, 5, 9], ret=0)
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
    change = found["baseline"]["tasks"]["valse/existence"]
    assert (change["broken"], change["fixed"]) == (["record_5", "record_9"], ["record_0"])
    assert change["differences"]["acc_r"]["value"] == pytest.approx(-0.025)
    assert "newly broken: valse/existence:record_9" in (before.path / "out/summary.md").read_text()


@pytest.mark.parametrize(
    ("keys", "broken", "outcome"),
    rest_slow(
        [
            ("max_broken = 2", [5, 9], "pass"),
            ("max_broken = 1", [5, 9], "fail"),
            ("max_broken = 0.05", [5, 9], "pass"),
            ("max_broken = 0.04", [5, 9], "fail"),
            ("max_churn = 0.1", [5, 9], "pass"),
            ("max_churn = 0.09", [5, 9], "fail"),
            ("max_drop = 0.3", [0, 1], "pass"),
            ("max_drop = 0.18", list(range(2, 40)), "fail"),
            ("max_drop = 0.3", list(range(2, 12)), "inconclusive"),
            ('max_drop = 0.05\nbasis = "value"', [0, 1, 2, 3], "pass"),
            ('max_drop = 0.05\nbasis = "value"', [0, 1, 2, 3, 4], "fail"),
        ],
        0,
        3,
        7,
        8,
    ),
)
def test_a_gate_on_the_comparison(before, keys, broken, outcome):
    before.thresholds(gate(keys))
    result = run(before, broken)
    name = f"valse/existence:acc_r:{keys.split(' ')[0]}"
    assert before.decisions()[name] == outcome
    assert result.ret == (0 if outcome == "pass" else 1)


def test_without_a_baseline_such_a_gate_is_inconclusive(before):
    before.thresholds(gate("max_broken = 2"))
    result = before.run(before.model(worse([]), "newest"), ret=1)
    result.stdout.fnmatch_lines(["inconclusive: valse/existence:acc_r:max_broken: *--baseline DIR"])


def test_a_number_that_the_compared_cases_cannot_exceed_is_inconclusive(before):
    before.ready(gate("max_broken = 45"), n=60)
    assert run(before, list(range(60))).ret == 1
    assert before.decisions() == {"valse/existence:acc_r:max_broken": "inconclusive"}


def test_a_gate_may_hold_a_minimum_and_a_comparison(before):
    before.thresholds(gate("min = 0.1\nmax_broken = 0"))
    run(before, [0, 1])
    assert before.decisions() == {"valse/existence:acc_r": "pass", "valse/existence:acc_r:max_broken": "pass"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda place: place.valse(n=30), "*has 10 cases (record_30, *) that the later run does not ask*"),
        (lambda place: place.valse(change=other_words), "*asks something else in 40 cases*"),
        (lambda place: (place.path / "before/metrics.json").unlink(), "*holds no metrics.json*"),
        (lambda place: (place.path / "before/metrics.json").write_text("{"), "*metrics.json is not JSON*"),
        (lambda place: (place.path / "before/cases.parquet").write_text("x"), "*cases.parquet cannot be read*"),
        (lambda place: (place.path / "before/cases.parquet").unlink(), "*holds no cases.parquet*"),
        (lambda place: shutil.rmtree(place.path / "before"), "*does not exist*"),
        (cut_short, "*the run is incomplete (stopped)*"),
        (lambda _: None, "*was judged with --ties strict, the later run with --ties half*"),
    ],
)
def test_an_earlier_run_that_is_unlike_is_refused_before_the_model_is_loaded(before, change, expected):
    change(before)
    run(before, [], *(["--ties=half"] if "ties" in expected else []), ret=4, error=f"ERROR: --baseline {expected}")
    assert not (before.path / "out").exists()


def test_a_part_of_the_cases_is_compared_and_passes_no_gate(before):
    before.thresholds(gate("max_broken = 5"))
    run(before, [5], "-k=record_5", ret=1)
    assert before.decisions() == {"valse/existence:acc_r:max_broken": "inconclusive"}
    assert before.metrics()["baseline"]["tasks"]["valse/existence"]["broken"] == ["record_5"]


def test_new_cases_are_named_and_not_compared(before):
    before.ready(gate("max_broken = 5"), n=44)
    run(before, [42], ret=0)
    [made] = before.metrics()["gates"]
    assert made["why"].endswith("; 4 cases of this run are not in the baseline")
    change = before.metrics()["baseline"]["tasks"]["valse/existence"]
    assert (change["n"], change["added"], change["broken"]) == (40, 4, [])


@pytest.mark.parametrize(
    ("lines", "broken", "outcome"),
    [
        (['{"task": "valse/existence", "case": "record_7"}', ""], [], "pass"),
        (['{"task": "valse/existence", "case": "record_7"}'], [7], "fail"),
        (['{"task": "valse/existence", "case": "record_99"}'], [], "inconclusive"),
        (['{"task": "valse/plurality", "case": "record_7"}'], [], "not run"),
    ],
)
def test_cases_that_must_hold(before, lines, broken, outcome):
    (before.path / "held.jsonl").write_text("\n".join(lines))
    before.thresholds('[defaults]\nmust_hold = "held.jsonl"\n' + gate("min = 0.1"))
    result = run(before, broken)
    assert before.decisions()["run:must_hold"] == outcome
    assert result.ret == (0 if outcome in {"pass", "not run"} else 1)


@pytest.mark.parametrize("line", ["{", "[]", '{"task": "valse/existence"}', '{"task": 1, "case": "a"}'])
def test_a_line_that_names_no_case_is_refused_with_its_number(before, line):
    (before.path / "held.jsonl").write_text(f'{{"task": "a/b", "case": "c"}}\n{line}\n')
    before.thresholds('[defaults]\nmust_hold = "held.jsonl"\n' + gate("min = 0.1"))
    run(before, [], ret=4, error="*held.jsonl, record 2: *write one case per line*")


ELSEWHERE = [("valse/existence", "record_5"), ("valse/plurality", "record_7")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("held", "args", "outcome"),
    rest_slow(
        [
            (ELSEWHERE[1:], (), "not run"),
            (ELSEWHERE[1:], ("--require-gates",), "inconclusive"),
            (ELSEWHERE, ("--require-gates",), "inconclusive"),
            (ELSEWHERE, (), "pass"),
            (ELSEWHERE, ("--require-gates", "--suite=valse/existence"), "pass"),
            (ELSEWHERE[1:], ("--require-gates", "--suite=valse/existence"), "not run"),
        ],
        1,
        3,
    ),
    ids=str,
)
def test_cases_that_must_hold_without_data(before, capsys, held, args, outcome):
    lines = [json.dumps({"task": task, "case": case}) for task, case in held]
    (before.path / "held.jsonl").write_text("\n".join(lines))
    before.thresholds('[defaults]\nmust_hold = "held.jsonl"\n' + gate("min = 0.1"))
    result = run(before, [], "--health=off", *args)
    assert before.decisions()["run:must_hold"] == outcome
    assert result.ret == (1 if outcome == "inconclusive" else 0)
    judged = ["judge", "out", "--thresholds", "thresholds.toml", "--baseline", "before"]
    required = [] if "--require-gates" in args else ["--no-require-gates"]
    capsys.readouterr()
    assert main([*judged, *required]) == result.ret


@pytest.mark.slow
def test_cases_that_must_hold_may_not_be_deselected(before, capsys):
    before.valse(file="plurals.json")
    (before.path / "held.jsonl").write_text('{"task": "valse/existence", "case": "record_5"}')
    before.thresholds('[defaults]\nmust_hold = "held.jsonl"\n' + gate("min = 0.1", "valse/plurality"))
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
def test_a_blessed_run_is_a_baseline_and_its_right_cases_can_be_held(before, capsys):
    arguments = ["bless", "before", "--to", "kept", "--must-hold", "held.jsonl"]
    assert main(arguments) == 0
    held = [json.loads(line)["case"] for line in (before.path / "held.jsonl").read_text().splitlines()]
    assert len(held) == 38
    assert not {"record_0", "record_1"} & set(held)
    assert json.loads((before.path / "kept/blessed.json").read_text())["model"] == "older:build"
    before.thresholds('[defaults]\nmust_hold = "held.jsonl"\n' + gate("max_broken = 0"))
    newer = before.model(worse([0]), "newer")
    assert before.run(newer, "--baseline=kept").ret == 0
    assert before.run(before.model(worse([30]), "newest"), "--baseline=kept").ret == 1
    capsys.readouterr()
    assert main(arguments) == 4
    assert "--overwrite" in capsys.readouterr().err
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.slow
def test_a_run_whose_gates_do_not_pass_is_blessed_only_with_a_reason(before, vlgate):
    before.thresholds(gate("min = 0.999"))
    before.run(before.model(worse(range(3, 9)), "newer"))
    assert "its gates do not pass (valse/existence:acc_r)" in vlgate("bless", "out", status=4)
    assert main(["bless", "out", "--why", "the first release"]) == 0
    record = json.loads((before.path / "baseline/blessed.json").read_text())
    assert (record["why"], record["gates_not_passed"]) == ("the first release", ["valse/existence:acc_r"])
    assert before.verdict("baseline")["verdict"] == "fail"


def test_a_run_without_a_judged_gate_is_blessed_only_with_a_reason(before, capsys):
    before.thresholds("")
    before.run(before.model(worse([3]), "newer"))
    assert main(["bless", "out"]) == 4
    assert "no gate was judged in it; bless a run that passes, or say why with --why TEXT" in capsys.readouterr().err
    assert main(["bless", "out", "--why", "there are no gates yet"]) == 0


@pytest.mark.usefixtures("before")
def test_a_suite_without_cases_that_must_hold_is_refused(capsys):
    assert main(["bless", "before", "--to", "kept", "--suite", "valse/*"]) == 4
    assert "--suite: chooses the cases of --must-hold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("gates", "expected"),
    [
        (gate("max_drop = 2"), "*max_drop = 2; write a fraction*"),
        (gate("max_broken = -1"), "*max_broken = -1*"),
        (gate("max_churn = true"), "*max_churn = True*"),
        (gate("max_dorp = 0.1"), "*unknown key 'max_dorp'*max_drop*"),
        (gate("max_drop = 0.02"), "*max_drop = 0.02 cannot be shown by 40 cases: it takes 1,* cases at 80% power*"),
        *(
            (gate(f"max_broken = {most}"), "*max_broken = * of 40 cases: every model keeps to it*")
            for most in (40, 10**9)
        ),
        ('[gate."valse/existence".auroc]\nmax_drop = 0.2\n', "*max_drop needs a mean over cases*"),
    ],
)
def test_a_gate_that_cannot_be_judged_is_refused(before, gates, expected):
    before.thresholds(gates)
    run(before, list(range(2, 40)), ret=4, error=expected)
    assert not (before.path / "out").exists()


FIRST = "not compared: first run; vlgate bless keeps it for --baseline"
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
    assert main(["bless", "out"]) == 0
    assert first.run(first.model(worse([5, 6, 7]), "newer"), "--baseline=baseline").ret == 1


@pytest.mark.parametrize(
    ("broken", "keys", "more", "status"),
    rest_slow(
        [
            (range(40), "min = 0.1\nmax_broken = 2", (), 1),  # the other gate fails
            (range(37), "min = 0.1\nmax_drop = 0.5", (), 1),  # the other gate is inconclusive
            ([], "min = 0.1\nmax_churn = 0.2", (), 0),
            ([], "min = 0.1\nmax_drop = 0.02", (), 4),  # refused already in the first run: the cases cannot show it
            ([], "min = 0.1\nmax_broken = 2", ("-k=record_5",), 1),
            ([], "min = 0.1\nmax_broken = 2", ("--quick",), 1),
            ([], "max_broken = 2", ("--require-gates",), 1),  # only comparisons: nothing was judged
            ([], "max_broken = 2", (), 0),
        ],
        1,
        3,
        7,
    ),
)
def test_a_first_run_passes_by_its_other_gates_alone(first, broken, keys, more, status):
    first.thresholds(gate(keys))
    assert first.run(first.model(worse(broken), "older"), "--baseline=first", *more).ret == status


def test_a_first_run_with_gates_on_a_comparison_alone_is_not_gated(first, capsys):
    first.thresholds(gate("max_broken = 2"))
    model = first.model(worse([0]), "older")
    result = first.run(model, "--baseline=first", "--require-gates", ret=1)
    why = "*no gate was judged: every gate * compares with an earlier run, and this is the first; add a gate with min*"
    result.stdout.fnmatch_lines([why])
    result = first.run(model, "--baseline=first")
    result.stdout.fnmatch_lines(["NOT GATED: *no gate was judged, 1 not compared: first run (exit status 0)"])
    assert first.verdict()["verdict"] == "not gated"
    capsys.readouterr()
    assert main(["bless", "out"]) == 4
    assert main(["bless", "out", "--why", "the first one"]) == 0


def test_without_the_word_a_first_run_stays_inconclusive_and_is_blessed_with_a_reason_only(first, vlgate):
    assert first.run(first.model(worse([0]), "older")).ret == 1
    assert first.decisions()[MAX_BROKEN] == "inconclusive"
    assert "its gates do not pass" in vlgate("bless", "out", status=4)


def test_the_command_judge_knows_a_first_run(first, capsys, vlgate):
    first.run(first.model(worse([0]), "older"))
    given = ["judge", "out", "--thresholds", "thresholds.toml"]
    assert main(given) == 1
    capsys.readouterr()
    assert f"not run: {MAX_BROKEN}: {FIRST}" in vlgate(*given, "--baseline=first", "--results=again")
    verdict = first.verdict("again")
    assert (verdict["verdict"], verdict["run"]["baseline"]) == ("pass", "first")
    assert main(["bless", "again"]) == 0
    shutil.copytree(first.path / "baseline", first.path / "first")
    assert main(["judge", "again", "--thresholds", "thresholds.toml", "--baseline=./first", "--results=more"]) == 0
    assert "baseline" not in first.verdict("more")["run"]
    assert main(["judge", "again", "--thresholds", "thresholds.toml", "--baseline=first"]) == 0


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


def test_an_ini_file_cannot_say_that_every_run_is_the_first(first):
    (first.path / "pytest.ini").write_text("[pytest]\nvlgate_baseline = first\n")
    result = first.run(first.model(worse([0]), "older"), ret=4)
    result.stderr.fnmatch_lines(["*vlgate_baseline = first: *write --baseline=first on the command line*"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "joined", "status"),
    rest_slow(
        [
            (("--baseline=first", "--baseline=first"), (), 0),
            ((), ("--baseline=first",), 0),
            (("--baseline=first", "--baseline=before"), (), 1),
            (("--baseline=first", ""), (), 1),
            (("--baseline=first", "--baseline=first"), ("--baseline=before",), 1),
        ],
        2,
    ),
)
def test_parts_of_a_first_run_are_joined_to_one(before, parts, joined, status):
    before.thresholds(BOTH)
    model = before.model(worse([5, 6, 7]), "newer")
    for number, given in enumerate(parts or ("", ""), 1):
        named = [given] if given else []
        assert before.run(model, f"--shard={number}/2", f"--results=p{number}", *named).ret == 0
    arguments = ["merge", "p1", "p2", "--results=joined", *joined]
    assert main(arguments) == status
    [outcome] = [metric["decision"] for metric in before.metrics("joined")["gates"] if metric["gate"] == MAX_BROKEN]
    assert outcome == ("not run" if status == 0 else "inconclusive" if "before" not in str((parts, joined)) else "fail")
