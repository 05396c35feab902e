"""With ``-n``, a worker has its share of the cores, and says how many workers fit on a GPU that is full."""

import os

import pytest

from vlgate.asking.batching import Call, Caller
from vlgate.errors import ModelLoadError, ModelReplyError
from vlgate.record.options import Options
from vlgate.run.loading import load_model

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
