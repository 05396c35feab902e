"""A run says what it left out, and cases under dispute: what was not asked makes a gate inconclusive."""

import json
from pathlib import Path

import numpy as np
import pytest
from builders import tabled, write_lines
from PIL import Image

from vlgate.cli import main
from vlgate.record.folder import read_run
from vlgate.record.judging_again import judge_again


@pytest.fixture(autouse=True)
def images_may_be_missing(place):
    """The models here never open an image, and the images of plurality are not there."""
    (place.path / "pytest.ini").write_text("[pytest]\nvlgate_missing_images = skip\n")


@pytest.fixture
def two_tasks(place):
    """Two tasks that the right model passes, with a gate on each."""
    place.valse()
    place.ready(file="plurals.json")
    return place


def test_a_task_or_suite_that_was_left_out_is_inconclusive_and_a_required_one_without_a_gate(two_tasks, right, workers):
    result = two_tasks.run(right, "-k", "existence", *workers, ret=1)
    assert two_tasks.decisions() == {"valse/existence:acc_r": "pass", "valse/plurality:acc_r": "inconclusive"}
    result.stdout.fnmatch_lines(["inconclusive: valse/plurality:acc_r: none of 40 cases was judged*40 deselected*"])
    (two_tasks.path / "test_own.py").write_text("def test_own():\n    pass\n")
    result = two_tasks.run(right, "test_own.py", "-k", "test_own", *workers, ret=1)
    result.stdout.fnmatch_lines(["inconclusive: valse/existence:acc_r*: none of 40*"])
    gate = '[gate."valse/existence".acc_r]\nmin = 0.5\n'
    two_tasks.thresholds(f'[defaults]\nrequire = ["valse/ex*", "valse/plurality"]\n{gate}')
    assert two_tasks.run(right, "--require-gates").ret == 0
    assert "run:require-gates" not in two_tasks.decisions()
    result = two_tasks.run(right, "-k", "existence", ret=1)
    assert two_tasks.decisions() == {"valse/plurality:required": "inconclusive", "valse/existence:acc_r": "pass"}
    result.stdout.fnmatch_lines(["*valse/plurality:required*40 of the task's 40 cases were deselected*"])


@pytest.mark.parametrize(
    ("missing", "keys", "option", "said"),
    [
        (40, "", "--seed=1", "40 of 40 cases are skipped, more than max_skipped = 0.05"),
        (40, "max_skipped = 1", "--seed=1", "none of its cases was judged"),
        (4, "", "--seed=1", "4 of 40 cases are skipped, more than max_skipped = 0.05"),
        (4, "max_skipped = 0.1", "--seed=1", ""),
        (0, "", "--limit=30", "--limit leaves out 10 of its 40 cases"),
        (0, "", "--limit=40", ""),
    ],
)
def test_a_required_task_is_judged_whole(place, missing, keys, option, said):
    gate = '[gate."valse/*".acc_r]\nmin = 0.1\nmin_cases = 9\nmax_skipped = 1\n'
    place.ready(f'[defaults]\n{keys}\nrequire = ["valse/ex*"]\n{gate}')
    for number in range(missing // 2):
        (place.path / f"data/images/vg/{100 + number}.jpg").unlink()
    place.run(place.matching(first="[pair.image.load() for pair in pairs]"), option, "--health=off", ret=bool(said))
    why = {gate["gate"]: gate["why"] for gate in place.metrics()["gates"]}
    asked = said and f"thresholds.toml requires this task, but {said}"
    assert why.get("valse/existence:required", "") == asked
    assert {one.gate.id: one.why for one in judged_again(place)} == why


def test_the_last_failed_tests_alone_do_not_pass(two_tasks, monkeypatch):
    seven = "any('There are 7 dogs.' == pair.text for pair in pairs)"
    model = two_tasks.matching(first=f"if 'FAIL' in os.environ and {seven}: raise ValueError('no sevens')")
    monkeypatch.setenv("FAIL", "1")
    assert two_tasks.run(model, "--suite=valse/existence").ret == 1
    monkeypatch.delenv("FAIL")
    two_tasks.run(model, "--lf", ret=1)
    assert set(two_tasks.decisions().values()) == {"inconclusive"}


@tabled
def test_a_run_without_a_judged_gate_fails_if_gates_are_required(place, right, monkeypatch, how, status):
    args, ini, ci = how
    place.ready('[gate."scenes/foil-it".acc_r]\nmin = 0.9\n')
    (place.path / "pytest.ini").write_text(f"[pytest]\nvlgate_require_gates = {ini}\n" if ini else "[pytest]\n")
    monkeypatch.setenv("CI", ci)
    result = place.run(right, *args.split(), ret=status)
    said = "inconclusive: run:require-gates: no gate was judged" in result.stdout.str()
    assert said == bool(status)


def test_collecting_says_that_figures_in_the_folder_are_older(data, right):
    line = "nothing was run: *metrics.json holds the figures of an earlier run"
    data.run(right, "--collect-only").stdout.no_fnmatch_line(line)
    assert data.run(right).ret == 0
    before = (data.path / "out" / "metrics.json").read_bytes()
    result = data.run(right, "--collect-only")
    result.stdout.fnmatch_lines([line])
    assert (data.path / "out" / "metrics.json").read_bytes() == before


def _same(place, change=None):
    """40 records about one image, under a name of its own for each."""

    def one(i, record):
        record.update(image_file=f"v7w_{100 + i}.jpg", caption="There are 3 dogs.", foil="There are no 3 dogs.")
        if change is not None:
            change(i, record)

    place.valse(change=one)
    for i in range(40):
        place.image(f"vg/{100 + i}.jpg", (7, 90, 40))
    place.thresholds()


def _bytes(place, write):
    for i, file in enumerate(sorted((place.path / "data/images/vg").iterdir())):
        write(i, file)


def _files(write):
    return lambda place: (_same(place), _bytes(place, write))


def _rewritten(i, record):
    texts = ("There are 3 dogs.", "there are 3 dogs.", "There  are 3 dogs.", "There are\u00a03 dogs. ")
    text = (*texts, "THERE ARE \uff13 DOGS.")[i % 5]
    record.update(caption=text, foil=f"No: {text}" + "\u200b" * (i % 3))


def _stored_again(i, file):
    cells = np.random.default_rng(0).integers(60, 200, (12, 12, 3), dtype=np.uint8)
    pixels, side = Image.fromarray(cells).resize((240, 240)), 200 + i
    pixels.putpixel((i % 7, i % 5), (250, 10, 10))
    pixels.resize((side, side)).save(file, "JPEG", quality=75 + i % 20)


COPIES = {
    "lossy-files": _files(_stored_again),
    "other-names": _same,
    "one-name": lambda place: _same(place, lambda _, record: record.update(image_file="v7w_100.jpg")),
    "other-texts": lambda place: _same(place, _rewritten),
    "longer-files": _files(lambda i, file: file.write_bytes(file.read_bytes() + b"\0" * i)),
    "links": _files(lambda i, file: i and (file.unlink(), file.symlink_to("100.jpg"))),
}
QUICK = ["other-names", "one-name"]


@pytest.mark.parametrize(
    "how", [*QUICK, *(pytest.param(copy, marks=pytest.mark.slow) for copy in COPIES if copy not in QUICK)]
)
def test_copies_of_one_image_are_one_case(place, right, how):
    COPIES[how](place)
    result = place.run(right, "--health=off", ret=1)
    named = "record_1, record_2, record_3 and 36 more ask what other cases ask*"
    named = named if how == "one-name" else named.replace("*", ", of images that look the same")
    result.stdout.fnmatch_lines([f"  only 1 of 40 cases have different requests, fewer than min_cases = 30: {named}"])
    judged = ["judge", "out", "--thresholds", "thresholds.toml", "--no-require-gates"]
    assert main(judged) == 1
    if how == "other-names":
        assert place.run(right, "--health=off", "-n", "2").ret == 1
        place.thresholds('[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 1\n')
        assert place.run(right, "--health=off").ret == 0
        place.thresholds()
        assert main(judged) == 1  # the run counted copies though its own gate did not need to know


def test_some_copies_among_enough_cases_do_no_harm_and_images_are_compared_only_if_texts_are_too_few(place, right):
    model = place.matching("float('There' in pair.text)", name="other")
    for different, status in ((30, 0), (29, 1)):
        texts = [
            {"caption": f"There are {i % different + 1} dogs.", "foil": f"No {i % different + 1} dogs."}
            for i in range(40)
        ]
        _same(place, lambda i, record, texts=texts: record.update(texts[i]))
        assert place.run(model, "--health=off").ret == status
    _same(place)
    for i in range(40):
        place.image(f"vg/{100 + i}.jpg", (7, 6 * i, 255 - 6 * i))
    assert place.run(right, "--health=off").ret == 0  # texts are equal, images are not
    place.valse()
    _bytes(place, lambda _, file: file.write_bytes(b"not an image"))
    assert place.run(right, "--health=off").ret == 0  # nothing is decoded for 40 different texts


@pytest.mark.parametrize(("ties", "status"), [("half", 0), ("credit", 1)])
def test_gates_name_the_rule_for_ties(data, right, ties, status):
    data.run(right, f"--ties={ties}", ret=status)
    [gate] = data.metrics()["gates"]
    assert f"--ties {ties}" in gate["why"]
    assert gate["decision"] == ("pass" if ties == "half" else "inconclusive")


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["strict", "half", "credit"])
@pytest.mark.parametrize("model", ["constant", "random"])
def test_no_shipped_gate_passes_for_a_model_that_does_not_look(place, model, ties):
    place.run(f"--model={model}", f"--ties={ties}", "--health=off", "--items=batch", data=False)
    judged = {gate: decision for gate, decision in place.decisions().items() if decision != "not run"}
    assert len(judged) >= 3
    assert "pass" not in judged.values()
    assert json.dumps(place.metrics()["run"]["thresholds"]).endswith('thresholds.toml"')


SAID = "; with 2 disputed cases left out; with 1 disputed case corrected"


def dispute(place, *lines, name="disputes.jsonl"):
    told = {"task": "valse/existence", "evidence": "the photo shows it"}
    write_lines(place.path / name, [told | line for line in lines])


def judged_again(place):
    return judge_again(
        read_run(place.path / "out", "out"), place.path / "thresholds.toml", require_gates=False
    ).decisions


@pytest.mark.slow
def test_disputes_are_applied_and_counted_everywhere(place, right):
    place.ready('[defaults]\nmax_disputed = 0.1\n[gate."valse/*".acc_r]\nmin = 0.5\n', n=40)
    assert place.run(right).ret == 0
    before = place.verdict()
    assert not any("disput" in gate["why"] for gate in place.metrics()["gates"])
    dispute(place, {"case": "record_3", "claim": "wrong"}, {"case": "record_4", "claim": "ambiguous"})
    dispute(place, {"case": "record_5", "claim": "swapped"}, name="more.jsonl")
    result = place.run(right, "--disputes=disputes.jsonl", "--disputes=more.jsonl")
    result.stdout.fnmatch_lines(
        ["*corrected because of a dispute: 1 case in valse/existence*", "*left out as disputed (wrong): 1 case in *"]
    )
    found = place.metrics()
    task, [gate] = found["tasks"]["valse/existence"], found["gates"]
    assert (task["cases"], task["disputed"]) == (38, {"left_out": 2, "corrected": 1})
    assert task["left_out"] == {"left out as disputed (wrong)": 1, "left out as disputed (ambiguous)": 1}
    assert task["metrics"]["acc_r"]["value"] == 37 / 38  # the model that was right about record_5 is wrong now
    assert gate["why"].endswith(SAID)
    assert [Path(file).name for file in found["run"]["disputes"]] == ["disputes.jsonl", "more.jsonl"]
    out = place.path / "out"
    assert "2 disputed" in (out / "report.html").read_text()
    assert "1 corrected because of a dispute" in (out / "summary.md").read_text()
    after = json.loads((out / "verdict.json").read_text())
    assert after["digests"]["plan"] != before["digests"]["plan"]
    assert [decision.why for decision in judged_again(place)] == [gate["why"]]


def test_an_unknown_case_refuses_the_run(place, right):
    place.valse(40)
    dispute(place, {"case": "record_33", "claim": "wrong"}, {"case": "rekord_7", "claim": "wrong"})
    result = place.run(right, "--disputes=disputes.jsonl", ret=4)
    result.stderr.fnmatch_lines(
        ["*disputes.jsonl, record on line 2: valse/existence has no case 'rekord_7'; did you mean 'record_7'? (*"]
    )


def many(n, claim, first=0):
    return [{"case": f"record_{number}", "claim": claim} for number in range(first, first + n)]


@tabled
def test_more_disputes_than_allowed_make_a_gate_inconclusive(place, right, disputed, key, said):
    place.ready(f'[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 20\n{key}\n', n=40)
    dispute(place, *(line for one in disputed for line in many(*one)))
    swapped = all(claim == "swapped" for _, claim, *_ in disputed)
    model = place.matching("float(len(pair.text))", name="other")
    place.run(model if swapped else right, "--disputes=disputes.jsonl", "--health=off", ret=1 if said else 0)
    assert said in place.metrics()["gates"][0]["why"]
    assert said in judged_again(place)[0].why


@pytest.mark.slow
def test_the_share_of_disputes_is_that_of_the_whole_task_and_counts_for_a_gate_on_a_comparison(place, right):
    place.ready('[gate."valse/*".acc_r]\nmin = 0.5\nmin_cases = 20\n', n=80)
    dispute(place, *many(4, "ambiguous"))
    disputed = (right, "--disputes=disputes.jsonl", "--limit=40", "--health=off")
    assert place.run(*disputed).ret == 0
    dispute(place, *many(5, "ambiguous"))
    assert place.run(*disputed, "-n", "2").ret == 1
    assert place.metrics()["gates"][0]["why"].startswith("5 of 80 cases are disputed")
    place.ready('[gate."valse/*".acc_r]\nmax_broken = 2\n', n=40)
    dispute(place, *many(9, "ambiguous"))
    disputed = (right, "--disputes=disputes.jsonl", "--health=off")
    place.run(*disputed, "--results=before")
    assert place.run(*disputed, "--baseline=before").ret == 1
    assert "9 of 40 cases are disputed" in place.metrics()["gates"][0]["why"]
    assert judged_again(place)[0].outcome == "inconclusive"
