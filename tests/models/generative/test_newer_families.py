"""Families whose layers, image tokens or processors differ from the others', from a saved folder.

The reference asks transformers one pair at a time: its own processor applies the chat template, and the whole sequence
is read without a cache.
"""

import warnings

import newer_tiny_vlms
import numpy as np
import pytest
import torch
import transformers
from vlm_cases import ASKS, CHOICES, PAIRS

from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.types import TIED

SHOW = 'Does this figure show "{}"? Please answer yes or no.'
PROMPTS = {"chameleon": "{}<image>"}  # of families that are published without a chat template
NAMES = [name for name in newer_tiny_vlms.NEWER if name != "emu3"]


def saved(name, folder):
    for part in newer_tiny_vlms.NEWER[name]():
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
        with torch.no_grad():
            last = model(**inputs(name, processor, pair), use_cache=False).logits[0, -1].double().softmax(-1)
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
    assert [model.answer([one])[0] for one in ASKS] == answers


def test_a_family_whose_images_change_each_other_in_a_batch_is_refused(tmp_path):
    """Emu3 pads images of different sizes, and its image tokenizer reads the padding."""
    folder = saved("emu3", tmp_path / "emu3")
    with pytest.raises(ModelLoadError, match=r"another likelihood in a batch.*openai:"):
        load(f"vlm:{folder}", folder=tmp_path, device="cpu")
