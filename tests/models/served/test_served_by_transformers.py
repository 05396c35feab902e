"""A service of another project: ``transformers serve`` with a tiny model of random weights."""

import os
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from PIL import Image

from vlgate.models.served.adapter import build
from vlgate.types import Ask, LazyImage

NEEDED = ("torch", "transformers", "tokenizers", "accelerate", "fastapi", "uvicorn", "openai")
LACKING = [name for name in NEEDED if find_spec(name) is None]
pytestmark = [
    pytest.mark.slow, pytest.mark.skipif(bool(LACKING), reason=f"transformers serve needs {', '.join(LACKING)}"),
]  # fmt: skip

WORDS = ["<pad>", "<s>", "</s>", "<unk>", "<image>", "yes", "no", "red", "blue", "this", "what", "colour"]
TEMPLATE = (
    "{% for m in messages %}{% for c in m['content'] %}{% if c['type'] == 'image' %}<image> {% else %}"
    "{{ c['text'] }} {% endif %}{% endfor %}{% endfor %}"
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    import tokenizers
    import torch
    import transformers as hf

    fast = tokenizers.Tokenizer(tokenizers.models.WordLevel({word: n for n, word in enumerate(WORDS)}, "<unk>"))
    fast.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    special = {"pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = hf.PreTrainedTokenizerFast(
        tokenizer_object=fast, **special, extra_special_tokens={"image_token": "<image>"}
    )
    processor = hf.LlavaProcessor(
        image_processor=hf.CLIPImageProcessor(size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}),
        tokenizer=tokenizer, patch_size=14, vision_feature_select_strategy="default",
        num_additional_image_tokens=1, chat_template=TEMPLATE,
    )  # fmt: skip
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = hf.LlavaConfig(
        vision_config=hf.CLIPVisionConfig(**small, image_size=28, patch_size=14),
        text_config=hf.LlamaConfig(**small, vocab_size=len(WORDS)), image_token_index=4,
    )  # fmt: skip
    torch.manual_seed(0)
    model = hf.LlavaForConditionalGeneration(config).eval()
    # Every word ends the answer: a model of random weights would never stop.
    model.generation_config.eos_token_id = list(range(len(WORDS)))
    model.generation_config.pad_token_id = 0
    model.generation_config.suppress_tokens = [0, 1, 2, 3, 4]
    folder = tmp_path_factory.mktemp("served") / "tiny"
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def service(checkpoint):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    code = "import sys; from transformers.cli.transformers import main; sys.argv[0] = 'transformers'; main()"
    command = [sys.executable, "-c", code, "serve", str(checkpoint), "--port", str(port), "--host", "127.0.0.1"]
    command += ["--device", "cpu"]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        try:
            yield _when_up(f"http://127.0.0.1:{port}", process)
        finally:
            process.kill()


def _when_up(address, process):
    for _ in range(300):
        if process.poll() is not None:
            pytest.fail(process.stdout.read().decode()[-2000:])
        try:
            with urlopen(f"{address}/health", timeout=2):
                return address
        except URLError:
            time.sleep(0.2)
    pytest.fail("transformers serve did not come up")


def image(colour):
    return LazyImage(key=str(colour), load=lambda: Image.new("RGB", (40, 30), colour))


def by_hand(folder, question, colour):
    import transformers as hf

    model = hf.LlavaForConditionalGeneration.from_pretrained(folder)
    processor = hf.AutoProcessor.from_pretrained(folder)
    inputs = processor(text=f"<image> {question} ", images=image(colour).load(), return_tensors="pt")
    made = model.generate(**inputs, do_sample=False, max_new_tokens=4)
    return processor.decode(made[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


@pytest.mark.slow
def test_it_answers_as_the_model_itself_does(service, checkpoint):
    model = build(f"{service}/v1#{checkpoint}?concurrency=2&max_tokens=4")
    assert "1 for yes and 0 for no" in model.note
    colours = [(255, 0, 0), (0, 0, 255), (10, 200, 30)]
    asked = [Ask(image=image(colour), question="what colour is this") for colour in colours]
    prompt = "what colour is this Answer with a word or a short phrase."
    wanted = [by_hand(checkpoint, prompt, colour) for colour in colours]
    assert all(wanted)
    assert model.answer(asked) == wanted
