import subprocess
import sys

import pytest
import torch

from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.device import pick_device, pick_dtype


@pytest.fixture
def gpus(monkeypatch):
    def there_are(count, *, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return there_are


def test_workers_are_spread_over_the_gpus(gpus):
    gpus(3)
    assert [pick_device("auto", worker) for worker in range(4)] == ["cuda:0", "cuda:1", "cuda:2", "cuda:0"]
    assert pick_device("cuda", 4) == "cuda:1"
    assert pick_device("cuda:2", 1) == "cuda:2"
    assert pick_device("cpu", 1) == "cpu"


def test_without_a_gpu(gpus):
    gpus(0)
    assert pick_device("auto", 5) == "cpu"
    gpus(0, mps=True)
    assert pick_device("auto", 5) == "mps"
    assert pick_device("mps") == "mps"


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps", "cuda:x", "gpu", "", "xpu"])
def test_a_missing_device(gpus, name):
    gpus(0)
    with pytest.raises(ModelLoadError, match=f"device={name!r}.*expected auto, cpu, cuda"):
        pick_device(name)


def test_a_gpu_too_many(gpus):
    gpus(2)
    with pytest.raises(ModelLoadError, match=r"device='cuda:2'.* has 2 "):
        pick_device("cuda:2")


def test_dtypes():
    assert pick_dtype("bfloat16") is torch.bfloat16
    with pytest.raises(ModelLoadError, match="did you mean 'float16'"):
        pick_dtype("float_16")


def test_without_torch():
    script = """
import sys
sys.modules["torch"] = None
from vlgate.errors import ModelLoadError
from vlgate.models.checkpoints.device import pick_device
assert pick_device("auto") == pick_device("cpu") == "cpu"
try:
    pick_device("cuda")
except ModelLoadError as error:
    assert "needs torch" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)
