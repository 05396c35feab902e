"""The model of a session: how it is asked and described, what workers share, how long it takes, what scores say."""

import os
from fnmatch import fnmatch
from io import StringIO
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from builders import pair_case, tabled, task_of

from vlgate.asking.batching import Call, Caller
from vlgate.asking.predictor import Pace
from vlgate.cli import main
from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.plugin import progress
from vlgate.plugin.collected import Collected
from vlgate.plugin.progress import Estimate, Progress
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.run.loading import load_model, merged
from vlgate.types import Batch


def test_a_note_of_several_workers_is_shown_once():
    cards = [ModelCard(name="one", notes=("regions of a stub", f"{n} replies unread")) for n in (3, 2)]
    assert merged(cards, "one").notes == ("regions of a stub", "3 replies unread", "2 replies unread")


CUT = "self.cut_texts |= {pair.text for pair in pairs if len(pair.text) > 17}"
OTHER = "fingerprint = os.environ.get('PYTEST_XDIST_WORKER', 'main')"


@pytest.mark.slow
def test_texts_that_the_model_did_not_read_to_the_end_are_counted_and_named_in_the_sentences(place, workers):
    place.ready(n=12)
    result = place.run(place.matching(first=CUT, head="cut_texts = set()"), "--device=cpu", *workers)
    result.stdout.fnmatch_lines(["with a text that the model did not read to the end: 12 cases in valse/existence"])
    assert place.task()["cut"] == 12
    cases = pq.read_table(place.path / "out" / "cases.parquet").to_pylist()
    said = {row["case"]: row["why"].rpartition("; ")[2] for row in cases}
    assert said["record_2"] == "the model did not read the end of 1 of 2 texts"
    assert said["record_11"] == "the model did not read the end of 2 of 2 texts"


@pytest.mark.parametrize(
    ("workers", "status"), [("0", 0), *(pytest.param(f"{n}", n - 1, marks=pytest.mark.slow) for n in (1, 2))]
)
def test_workers_that_load_different_models_leave_the_run_inconclusive(data, workers, status):
    data.run(data.matching(head=OTHER), "--device=cpu", "-n", workers, ret=status)
    assert data.decisions()["valse/existence:acc_r"] == "pass"
    assert data.decisions().get("model:same-model") == (None if status == 0 else "inconclusive")


def test_the_verdicts_of_a_task_are_in_its_order_whatever_the_order_of_the_tests():
    task = task_of([pair_case(number) for number in range(5)], "x/y")
    batches = {name: Batch(task=task, positions=at) for name, at in (("x/y:a", (4, 1)), ("x/y:b", (3, 0)))}
    collected = Collected()
    collected.expect([f"test_foil.py::test_foil[{name}]" for name in ("x/y:b", "x/y:a")], batches)
    found = [verdict.case.id for verdict in collected.of_task(task)]
    assert found == ["pair 0", "pair 1", "pair 3", "pair 4"]


NOTING = """
    import traceback

    stack = [f"{frame.filename} {frame.name}" for frame in traceback.extract_stack()]
    first = next((at for at, frame in enumerate(stack) if frame.endswith(" test_foil")), None)
    if first is not None and not os.path.exists("frames.txt"):
        open("frames.txt", "w").write("\\n".join(stack[first:-1]))
"""


@pytest.mark.parametrize("items", ["pair", "batch"])
@pytest.mark.parametrize("cache", ["off", "kept"])
def test_at_most_nine_frames_lead_from_a_test_to_the_model(place, items, cache):
    place.valse()
    place.run(place.matching(first=NOTING, head="fingerprint = 'noting'"), f"--items={items}", f"--cache={cache}")
    frames = (place.path / "frames.txt").read_text().splitlines()
    assert len(frames) <= 9, "\n".join(frames)
    assert all("/vlgate/" in frame or "/tests_vl/" in frame for frame in frames)


TELLING = "note = property(lambda self: 'threads: ' + os.environ.get('OMP_NUM_THREADS', 'as torch likes'))"
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.mark.parametrize(
    ("workers", "expected"),
    [("0", "as torch likes"), pytest.param("2", str(max(1, CORES // 2)), marks=pytest.mark.slow)],
)
def test_each_worker_computes_with_its_share_of_the_cores(place, monkeypatch, workers, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    place.valse(4)
    place.run(place.matching(head=TELLING), "--health=off", "-n", workers)
    assert place.metrics()["model"]["notes"] == [f"threads: {expected}"]


def test_a_model_that_fills_the_gpu_says_how_many_workers_fit_also_at_one_item(tmp_path, monkeypatch):
    raises = 'raise type("OutOfMemoryError", (RuntimeError,), {})("CUDA out of memory. Tried to allocate 2 GiB")'
    (tmp_path / "full_model.py").write_text(f"def build():\n    {raises}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("vlgate.run.loading.room_of", lambda _, workers: f"of {workers} workers 2 fit; run with -n 2")
    options = Options(folder=tmp_path, model="full_model:build", thresholds=None, results=tmp_path / "out")
    with pytest.raises(ModelLoadError, match=r"OutOfMemoryError.*; of 4 workers 2 fit; run with -n 2"):
        load_model(options, (), worker=3, workers=4)

    def full(_):
        raise RuntimeError("CUDA out of memory")

    caller = Caller(name="m", size=1, room=lambda: "of 4 workers 2 fit")
    with pytest.raises(ModelReplyError, match="on a batch of one item: CUDA out of memory; of 4 workers 2 fit"):
        caller.ask(Call(called="match", method=full), [1])


HALF_MODEL = """
import numpy as np
loads = []
class Model:
    def __init__(self, dtype):
        self.dtype = dtype
        loads.append(dtype)
        assert loads.count("float32") <= 1
    def match(self, pairs):
        # Two texts of about the same length tie in half precision.
        return np.array([-float(len(p.text) // (1 if self.dtype == "float32" else 40)) for p in pairs])
def build(dtype):
    return Model(dtype)
"""


@pytest.fixture
def precise(place):
    pytest.importorskip("torch")
    (place.path / "half_model.py").write_text(HALF_MODEL)
    place.ready(n=80)
    return "--model=half_model:build"


def checks_of(place):
    return {check["name"]: check for check in place.metrics()["model"]["checks"]}


def test_a_run_in_half_precision_says_how_many_of_its_verdicts_float32_would_change(place, precise):
    place.run(precise, "--dtype=bfloat16", "--device=cpu")
    found = checks_of(place)["precision"]
    assert found["outcome"] == "suspect"
    assert "64 of 64 cases" in found["why"]
    assert "(64 right in float32 only, 0 right in bfloat16 only)" in found["why"]
    assert "precision: suspect: 64 of 64 cases" in (place.path / "out" / "summary.md").read_text()
    place.run(precise, "--device=cpu").assert_outcomes(passed=81)
    assert set(checks_of(place)) == {"polarity", "batch_invariance", "determinism"}


def test_a_model_that_cannot_be_loaded_again_or_has_no_dtype_is_not_checked_for_precision(place, precise, data, right):
    file = place.path / "half_model.py"
    file.write_text(file.read_text().replace("<= 1", "< 1"))
    place.run(precise, "--dtype=float16", "--device=cpu")
    assert checks_of(place)["precision"]["outcome"] == "not applicable"
    assert "AssertionError" in checks_of(place)["precision"]["why"]
    pytest.importorskip("torch")  # in this process, because runs in it forget their imports, and torch can't come twice
    data.run(right, "--dtype=bfloat16", "--device=cpu")
    found = checks_of(data)["precision"]
    assert found["outcome"] == "not applicable"
    assert "built without a dtype" in found["why"]


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
    result.stdout.fnmatch_lines(
        ["inconclusive *valse/existence * unclear", "  in 80 of 80 replies yes and no together*"]
    )
    result.stdout.fnmatch_lines(["with a score although yes and no have less than half of the first word: 40 cases *"])
    assert data.task()["neither"] == {"replies": 80, "of": 80}
    page = (data.path / "out" / "report.html").read_text()
    assert "not measured: its replies begin with neither yes nor no" in page


def test_a_check_that_is_allowed_lets_the_gates_decide_and_otherwise_limits_and_falls_are_inconclusive(data):
    allowed = '[checks]\nfirst_word = {allow = true, why = "a tiny model"}\n'
    data.thresholds(f'{allowed}[gate."valse/*".acc_r]\nmin = 0.5\n')
    data.run(data.model(WEAK.format(name="all", which="True")))
    assert data.decisions() == {"model:first_word": "not run", "valse/existence:acc_r": "fail"}
    assert data.metrics()["gates"][0]["why"].endswith("allowed because a tiny model")
    data.thresholds()
    data.run(data.model(WEAK.format(name="half", which="'no' in pair.text"), name="half_model"))
    assert data.task()["neither"] == {"replies": 40, "of": 80}  # half of the replies are not most of them
    assert data.decisions() == {"valse/existence:acc_r": "fail"}
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


def test_a_model_that_says_yes_or_no_only_is_not_measured_but_a_few_ties_hide_nothing(data):
    result = data.run(data.model(YES.format(which="'dogs' in q.question")))
    result.stdout.fnmatch_lines(["* valse/existence * unclear", "  not measured: yes/no replies only"])
    remedy = "ask both texts as questions, or gate acc, p_c or p_f"
    result.stdout.fnmatch_lines([f"with a tie: 40 cases in valse/existence; every reply is a yes or a no: {remedy}"])
    assert data.task()["yes_or_no"] is True
    for name in ("summary.md", "report.html"):
        assert "not measured: yes/no replies only" in (data.path / "out" / name).read_text()
    assert "ask both texts as questions" in (data.path / "out" / "summary.md").read_text()
    wrong = data.run(data.model(YES.format(which="' no ' in q.question or '\"There are 7 ' in q.question")))
    wrong.stdout.fnmatch_lines(["*valse/existence *0.000  0.000 - 0.180 *40 * weak"])
    right = data.run(data.model(YES.format(which="' no ' not in q.question or ' no 7 ' in q.question"), name="other"))
    right.stdout.no_fnmatch_line("*not measured*")
    for model in ("constant", "random"):
        data.run(f"--model={model}").stdout.no_fnmatch_line("*not measured*")
        assert "yes_or_no" not in data.task()


class Reporter:
    def __init__(self, width=0):
        self._tw = SimpleNamespace(_file=StringIO(), width_of_current_line=width)
        self.lines = []
        self.write_line = self.lines.append


def test_a_log_gets_a_line_now_and_then_and_a_terminal_a_bar_that_is_removed_at_the_end(monkeypatch):
    clock = iter([0.0, 5.0, 16.0, 17.0, 40.0, 0.0, 20.0, *[20.0] * 9])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    reporter, after_letters = Reporter(), Reporter(width=30)
    count = Progress(reporter, 400, bar=False)
    for _ in range(4):
        count.advance(100)
    assert reporter.lines == ["vlgate: 200 of 400 cases, 12 per second, 16 s left"]
    Progress(after_letters, 400, bar=False).advance(100)
    assert after_letters.lines[0] == ""
    reporter = Reporter()
    count = Progress(reporter, 400, bar=True)
    count.advance(100)
    assert count.draws
    count.close()
    assert "100/400" in reporter._tw._file.getvalue()
    assert reporter.lines == []


SLOW = "import time; time.sleep(0.001 * len(pairs))"


@tabled
def test_a_long_run_is_announced_and_a_wrong_estimate_is_corrected(monkeypatch, seconds, took, line, correction):
    clock = iter([0.0, took])
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))
    estimate = Estimate(Pace(cases=100, seconds=seconds), cases=1000, workers=1)
    start = line.rstrip("*")
    assert estimate.line().startswith(start)
    assert bool(estimate.line()) == bool(line)
    assert estimate.correction() == correction


@pytest.mark.parametrize(
    "how", [["--items=pair"], ["--items=batch"], pytest.param(["--items=pair", "-n2"], marks=pytest.mark.slow)]
)
def test_it_is_measured_on_the_model_before_the_first_test(place, monkeypatch, how):
    monkeypatch.setattr(progress, "LONG", 0.0)  # every run is a long one
    place.valse(200, images=False)
    place.image("vg/100.jpg")
    result = place.run(place.matching(first=SLOW), "--missing-images=skip", "--health=off", "-q", *how)
    [place_of] = [number for number, line in enumerate(result.outlines) if line.startswith("vlgate: about ")]
    assert fnmatch(result.outlines[place_of], "* to ask 200 cases (* measured on 4)*")
    letters = [line for line in result.outlines[:place_of] if line and not line.startswith("bringing")]
    assert "-n2" in how or not letters  # other workers may be faster than the one that measures
    short = place.run(place.matching(first=SLOW), "--limit=40", "--missing-images=skip", "-q")
    short.stdout.no_fnmatch_line("vlgate: about *")
