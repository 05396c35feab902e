import subprocess
import sys
import threading

import pytest
import torch
import transformers
from PIL import Image

from vlgate.errors import ImageError, ModelLoadError
from vlgate.models.checkpoints.device import pick_device, pick_dtype
from vlgate.models.checkpoints.inputs import cut_texts, knows_words, prepared, rgb_images
from vlgate.types import LazyImage


def image(number, load=None):
    return LazyImage(key=str(number), load=load or (lambda: Image.new("RGB", (1, 1), (number, 0, 0))))


def test_the_order_is_kept_and_an_image_is_decoded_once():
    decoded = []

    def load(number):
        decoded.append(number)
        return Image.new("RGB", (1, 1), (number, 0, 0))

    images = [image(number, lambda number=number: load(number)) for number in range(20)]
    found = prepared([*reversed(images), *images], lambda image: image.getpixel((0, 0))[0])
    assert found == [*range(19, -1, -1), *range(20)]
    assert sorted(decoded) == list(range(20))
    assert rgb_images([]) == []


@pytest.mark.slow
def test_the_first_image_that_fails_is_the_one_that_is_named():
    last = threading.Event()

    def late():
        last.wait(10)  # the later image fails first, but its error is not the one that is raised
        raise ImageError("1", "it is torn", "mend it")

    def early():
        last.set()
        raise ImageError("2", "it is torn", "mend it")

    with pytest.raises(ImageError) as caught:
        rgb_images([image(0), image(1, late), image(2, early)])
    assert caught.value.key == "1"


def test_texts_that_lose_their_end():
    def tokenizer(texts, *, truncation, verbose):
        assert (truncation, verbose) == (False, False)
        return {"input_ids": [text.split() for text in texts]}

    assert cut_texts(tokenizer, ["a b c", "a b c d", "", "a b c d e"], 3) == {"a b c d", "a b c d e"}
    assert cut_texts(tokenizer, [], 3) == set()


def test_a_tokenizer_that_knows_no_words():
    for name in ("Bert", "CLIP", "GPT2", "Gemma", "T5", "XLMRoberta"):
        assert not knows_words(getattr(transformers, f"{name}Tokenizer")())
    assert knows_words(transformers.BertTokenizer(vocab={"[UNK]": 0, "[PAD]": 1, "[CLS]": 2, "[SEP]": 3, "cat": 4}))
    assert knows_words(transformers.ByT5Tokenizer())
    assert knows_words(transformers.CLIPImageProcessor())


@pytest.fixture
def gpus(monkeypatch):
    def there_are(count, *, mps=False):
        monkeypatch.setattr(torch.cuda, "is_available", lambda: count > 0)
        monkeypatch.setattr(torch.cuda, "device_count", lambda: count)
        monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)

    return there_are


def test_workers_are_spread_over_the_devices(gpus):
    gpus(3)
    assert [pick_device("auto", worker) for worker in range(4)] == ["cuda:0", "cuda:1", "cuda:2", "cuda:0"]
    assert [pick_device(*how) for how in (("cuda", 4), ("cuda:2", 1), ("cpu", 1))] == ["cuda:1", "cuda:2", "cpu"]
    with pytest.raises(ModelLoadError, match=r"device='cuda:3'.* has 3 "):
        pick_device("cuda:3")
    gpus(0)
    assert pick_device("auto", 5) == "cpu"
    gpus(0, mps=True)
    assert pick_device("auto", 5) == pick_device("mps") == "mps"


@pytest.mark.parametrize("name", ["cuda", "cuda:0", "mps", "cuda:x", "gpu", "", "xpu"])
def test_a_missing_device(gpus, name):
    gpus(0)
    with pytest.raises(ModelLoadError, match=f"device={name!r}.*expected auto, cpu, cuda"):
        pick_device(name)


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
