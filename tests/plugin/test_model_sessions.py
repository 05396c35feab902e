"""The model of a session: how it is asked and described, and what several workers that load it share."""

import os

import pyarrow.parquet as pq
import pytest
from builders import pair_case, task_of

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.plugin.collected import Collected
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.run.loading import load_model, merged
from vlgate.types import Batch

INTERRUPTED = """
calls = 0
def match(self, pairs):
    self.calls += 1
    if self.calls == 2:
        raise KeyboardInterrupt
    with open("calls", "w") as file:
        file.write(str(self.calls))
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.mark.slow
def test_after_an_interruption_nothing_more_is_asked(data):
    data.run(data.model(INTERRUPTED), "--batch-size=8", "--items=batch", "--device=cpu", subprocess=True, ret=2)
    assert (data.path / "calls").read_text() == "1"


def test_a_note_of_several_workers_is_shown_once():
    cards = [
        ModelCard(name="one", notes=("regions of a stub", "3 replies unread")),
        ModelCard(name="one", notes=("regions of a stub", "2 replies unread")),
    ]
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
    found = {gate["gate"]: gate["decision"] for gate in data.metrics()["gates"]}
    assert found["valse/existence:acc_r"] == "pass"
    assert found.get("model:same-model") == (None if status == 0 else "inconclusive")


def test_the_verdicts_of_a_task_are_in_its_order_whatever_the_order_of_the_tests():
    task = task_of([pair_case(number) for number in range(5)], "x/y")
    batches = {name: Batch(task=task, positions=at) for name, at in (("x/y:a", (4, 1)), ("x/y:b", (3, 0)))}
    collected = Collected()
    collected.expect([f"test_foil.py::test_foil[{name}]" for name in ("x/y:b", "x/y:a")], batches)
    found = [verdict.case.id for verdict in collected.of_task(task)]
    assert found == ["pair 0", "pair 1", "pair 3", "pair 4"]


NOTING = """
fingerprint = "noting"

def match(self, pairs):
    import traceback
    from pathlib import Path

    stack = traceback.extract_stack()
    names = [frame.name for frame in stack]
    if "test_foil" in names and not Path("frames.txt").exists():
        ours = [f"{frame.filename} {frame.name}" for frame in stack[names.index("test_foil"):-1]]
        Path("frames.txt").write_text("\\n".join(ours))
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.mark.parametrize("items", ["pair", "batch"])
@pytest.mark.parametrize("cache", ["off", "kept"])
def test_at_most_nine_frames_lead_from_a_test_to_the_model(place, items, cache):
    place.valse()
    place.run(place.model(NOTING), f"--items={items}", f"--cache={cache}")
    frames = (place.path / "frames.txt").read_text().splitlines()
    assert len(frames) <= 9, "\n".join(frames)
    assert all("/vlgate/" in frame or "/tests_vl/" in frame for frame in frames)


TELLING = """
@property
def note(self):
    return "threads: " + os.environ.get("OMP_NUM_THREADS", "as torch likes")
def match(self, pairs):
    return np.array([-float(len(pair.text)) for pair in pairs])
"""
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.mark.parametrize(
    ("workers", "expected"),
    [("0", "as torch likes"), pytest.param("2", str(max(1, CORES // 2)), marks=pytest.mark.slow)],
)
def test_each_worker_computes_with_its_share_of_the_cores(place, monkeypatch, workers, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    place.valse(4)
    place.run(place.model(TELLING), "--health=off", "-n", workers)
    assert place.metrics()["model"]["notes"] == [f"threads: {expected}"]


FULL = """
class OutOfMemoryError(RuntimeError):
    pass

def build():
    raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
"""


def test_a_model_that_fills_the_gpu_says_how_many_workers_fit(tmp_path, monkeypatch):
    (tmp_path / "full_model.py").write_text(FULL)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr("vlgate.run.loading.room_of", lambda _, workers: f"of {workers} workers 2 fit; run with -n 2")
    options = Options(folder=tmp_path, model="full_model:build", thresholds=None, results=tmp_path / "out")
    with pytest.raises(ModelLoadError, match=r"OutOfMemoryError.*; of 4 workers 2 fit; run with -n 2"):
        load_model(options, (), worker=3, workers=4)


def test_a_model_that_is_full_at_one_item_says_so_too():
    def full(_):
        raise RuntimeError("CUDA out of memory")

    caller = Caller(name="m", size=1, room=lambda: "of 4 workers 2 fit")
    with pytest.raises(ModelReplyError, match="on a batch of one item: CUDA out of memory; of 4 workers 2 fit"):
        caller.ask(Call(called="match", method=full), [1])
