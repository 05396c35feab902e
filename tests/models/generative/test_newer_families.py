"""Families whose layers, image tokens or processors differ from the others', from a saved folder.

The reference asks transformers one pair at a time: its own processor applies the chat template, and the whole sequence
is read without a cache.
"""

import warnings

import numpy as np
import pytest
import tiny_vlms
import torch
import transformers
from vlm_cases import ASKS, CHOICES, PAIRS

from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.types import TIED

SHOW = 'Does this figure show "{}"? Please answer yes or no.'
# Of families that are published without a chat template.
PROMPTS = {
    "chameleon": "{}<image>", "florence2": "{}", "blip2": "Question: {} Answer:", "blip2_opt": "Question: {} Answer:",
    "instructblip": "{}", "instructblip_opt": "{}",
}  # fmt: skip
DECODERS = {"florence2": [[2, 1]], "blip2": [[0]], "instructblip": [[0]]}  # the tokens before a reply
NAMES = [name for name in tiny_vlms.NEWER if name != "emu3"]


def saved(name, folder):
    for part in tiny_vlms.NEWER[name]():
        part.save_pretrained(folder)
    return folder


def inputs(name, processor, pair):
    """What the processor makes of one question about one image."""
    text = SHOW.format(pair.text)
    if name in PROMPTS:
        return processor(text=PROMPTS[name].format(text), images=pair.image.load(), return_tensors="pt")
    content = [{"type": "image", "image": pair.image.load()}, {"type": "text", "text": text}]
    said = [{"role": "user", "content": content}]
    return processor.apply_chat_template(
        said, add_generation_prompt=True, tokenize=True, return_dict=True, return_tensors="pt"
    )


def by_the_library(name, folder, pairs):
    """The probability that the reply begins with a yes, of each pair by itself."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    words = processor.tokenizer
    yes = sorted({words(word, add_special_tokens=False)["input_ids"][0] for word in ("Yes", " Yes", "yes", " yes")})
    found = []
    for pair in pairs:
        begun = {"decoder_input_ids": torch.tensor(DECODERS[name])} if name in DECODERS else {}
        with torch.no_grad():
            last = model(**inputs(name, processor, pair), **begun, use_cache=False).logits[0, -1].double().softmax(-1)
        found.append(float(last[yes].sum()))
    return np.array(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_librarys_probability_of_yes_pair_by_pair(name, tmp_path):
    folder = saved(name, tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = by_the_library(name, folder, PAIRS)
    model = load(f"vlm:{folder}", folder=tmp_path, device="cpu").model
    assert model.match(PAIRS) == pytest.approx(expected, rel=1e-5)
    assert np.ptp(expected / expected.mean()) > 1e-3
    assert np.concatenate([model.match([pair]) for pair in PAIRS[:4]]) == pytest.approx(expected[:4], rel=1e-5)
    answers = model.answer(ASKS)
    assert set(answers) <= {*CHOICES, TIED}
    assert [model.answer([ask])[0] for ask in ASKS] == answers


@pytest.mark.parametrize("name", ["florence2", "blip2", "mllama", "blip2_opt"])
def test_the_likelihood_of_a_reply_is_that_of_its_tokens_one_by_one(name, tmp_path):
    """Each token of each reply has the probability that one pass through the whole network gives it."""
    folder = saved(name, tmp_path / name)
    sums = load(f"vlm:{folder}?score=likelihood-sum", folder=tmp_path, device="cpu").model
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    asks = {"florence2": "<CAPTION>", "blip2": "a photo of", "blip2_opt": "a photo of"}
    expected = []
    for pair in PAIRS[:4]:
        caption = (
            "<s><|im_start|>user\n<|image|>Describe this image in one sentence.<|im_end|>\n<|im_start|>assistant\n"
        )
        words = processor.tokenizer
        space = " " if name == "blip2_opt" else ""
        ids = words(space + pair.text, add_special_tokens=False)["input_ids"]
        made = dict(processor(text=asks.get(name, caption), images=pair.image.load(), return_tensors="pt"))
        total = 0.0
        for index in range(len(ids)):
            with torch.no_grad():
                likely = next_tokens(name, model, made, ids[:index]).double().log_softmax(-1)
            total += float(likely[ids[index]])
        expected.append(total)
    assert sums.match(PAIRS[:4]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", ["florence2", "blip2", "mllama"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_is_close(name, dtype, tmp_path):
    folder = saved(name, tmp_path / name)
    exact, half = (load(f"vlm:{folder}", folder=tmp_path, device="cpu", dtype=one).model for one in ("float32", dtype))
    assert np.log(half.match(PAIRS)) == pytest.approx(np.log(exact.match(PAIRS)), abs=0.2)
    assert set(half.answer(ASKS)) <= {*CHOICES, TIED}


def next_tokens(name, model, made, before):
    """The logits of the token after a prompt and the beginning of a reply, from one pass through the network."""
    if name in DECODERS:
        return model(**made, decoder_input_ids=torch.tensor([DECODERS[name][0] + before])).logits[0, -1]
    longer = {**made, "input_ids": torch.cat([made["input_ids"], torch.tensor([before], dtype=torch.long)], dim=1)}
    longer["attention_mask"] = torch.ones_like(longer["input_ids"])
    if "cross_attention_mask" in made:
        mask = made["cross_attention_mask"]
        longer["cross_attention_mask"] = torch.cat([mask, mask[:, -1:].expand(-1, len(before), -1, -1)], dim=1)
    return model(**longer, use_cache=False).logits[0, -1]


@pytest.mark.slow
def test_a_family_whose_images_change_each_other_in_a_batch_is_refused(tmp_path):
    """Emu3 pads images of different sizes, and its image tokenizer reads the padding."""
    folder = saved("emu3", tmp_path / "emu3")
    with pytest.raises(ModelLoadError, match=r"another likelihood in a batch.*openai:"):
        load(f"vlm:{folder}", folder=tmp_path, device="cpu")
