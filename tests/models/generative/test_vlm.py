import sys
import warnings

import numpy as np
import pytest
import tiny_vlms
import torch
import transformers
from vlm_cases import ASKS, CHOICES, FAMILIES, IMAGES, KIN, PAIRS, asked, family, next_tokens, of, processed

from vlgate.errors import ModelLoadError
from vlgate.models import load
from vlgate.models.generative import reading
from vlgate.models.generative.adapter import check
from vlgate.models.generative.engine import Engine
from vlgate.models.generative.reading import SHARED
from vlgate.types import TIED, Ask

AROUND = {
    "llava": "USER: <image>\n{} ASSISTANT:",
    "idefics3": "<s>User:<image>{}<end_of_utterance>\nAssistant:",
    "qwen3_vl": ("<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>{}<|im_end|>\n<|im_start|>assistant\n"),
    "paligemma": "<image>answer en {}",
}
SPACES = {"llava": ["", " "], "idefics3": ["", " "], "qwen3_vl": [""], "paligemma": [""]}
SHOW = 'Does this figure show "{}"? Please answer yes or no.'


def by_hand(name, image, prompt, ids=()):
    model, processor = family(name)
    inputs = processed(processor, prompt, image)
    if name == "idefics3":  # its template writes the first token, and its tokenizer adds none
        assert inputs["input_ids"][0].tolist().count(1) == 1
    return next_tokens(model, inputs, ids)


def plain_ids(name, text):
    return family(name)[1].tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("name", [*FAMILIES, *KIN, *tiny_vlms.WHOLE])
def test_replies_of_all_lengths_are_as_likely_as_generate_says(name):
    engine = Engine(*family(name))
    model, prompter = asked(engine, "likelihood-sum"), engine.prompter
    prompt = prompter.caption()
    space = prompter.space(prompt)
    alone = [
        engine.step_by_step((pair.image, prompt), prompter.continuation(prompt, space + pair.text)) for pair in PAIRS
    ]
    assert model.match(PAIRS) == pytest.approx(alone, rel=1e-5)
    assert np.concatenate([model.match([pair]) for pair in PAIRS]) == pytest.approx(alone, rel=1e-5)


def likeliest(name, question):
    """The probability that a reply is a choice, in one of its forms, and then ends."""
    prompt = AROUND[name].format(f"{question.question} Answer with one of: red, blue, the big cup.")
    stops = [plain_ids(name, ".")[0], 2]
    found = []
    for choice in CHOICES:
        total = 0.0
        for form in (choice, choice[0].upper() + choice[1:]):
            for space in SPACES[name]:
                ids = plain_ids(name, space + form)
                rows = by_hand(name, question.image, prompt, ids)
                likely = sum(rows[index, id_] for index, id_ in enumerate(ids))
                total += np.exp(likely) * np.exp(rows[-1][stops]).sum()
        found.append(total)
    return CHOICES[int(np.argmax(found))]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_question_is_answered_by_the_likeliest_choice(name):
    questions = [*ASKS, *(Ask(image=IMAGES[2], question=f"the {word}?", choices=CHOICES) for word in ("red", "cat"))]
    assert of(name).answer(questions) == [likeliest(name, question) for question in questions]


@pytest.fixture
def read(monkeypatch):
    """Record how many images a processor gets at each call."""
    counts = []

    def recorded(processor):
        own = type(processor).__call__

        def call(self, *args, images, **settings):
            counts.append(len(images))
            return own(self, *args, images=images, **settings)

        monkeypatch.setattr(type(processor), "__call__", call)
        return counts

    return recorded


def unshared(monkeypatch, model, processor):
    """The model with each prompt read as a whole."""
    monkeypatch.setattr(reading, "SHARED", frozenset())
    return asked(Engine(model, processor))


@pytest.mark.parametrize("name", [*FAMILIES, *KIN])
def test_an_image_is_read_once_if_the_family_allows(name, read, monkeypatch):
    model, counts = of(name), read(family(name)[1])
    shared = model.match(PAIRS)
    model.answer(ASKS)
    assert counts == ([3, 2] if name in SHARED else [9, 4])
    assert unshared(monkeypatch, *family(name)).match(PAIRS) == pytest.approx(shared, rel=1e-5)
    assert np.ptp(shared) > 1e-4


def test_the_shared_part_ends_before_a_token_that_the_text_changes(read, monkeypatch):
    """The blank after the image is a token of its own until a word follows it."""
    model, processor = tiny_vlms.llava()
    processor.chat_template = tiny_vlms.LLAVA_TEMPLATE.replace("<image>\n", "<image> ")
    engine, counts = Engine(model, processor), read(processor)
    shared = asked(engine).match(PAIRS)
    assert counts == [3]
    assert unshared(monkeypatch, model, processor).match(PAIRS) == pytest.approx(shared, rel=1e-5)
    assert counts == [3, 9]
    head = engine.prompter.prompt("x").head
    assert head.endswith("<image> ")
    assert engine.prompter.ids(f"{head}Does")[: len(engine.prompter.ids(head))] != engine.prompter.ids(head)


def test_a_prompt_with_the_image_after_the_text_is_read_whole(read, monkeypatch):
    model, processor = tiny_vlms.llava()
    processor.chat_template = (
        "{% for m in messages %}USER: {{ m.content[1].text }} <image>\n{% endfor %}{{ 'ASSISTANT:' }}"
    )
    counts = read(processor)
    match = asked(Engine(model, processor)).match(PAIRS)
    assert counts == [9]
    assert unshared(monkeypatch, model, processor).match(PAIRS) == pytest.approx(match, rel=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_written_is_what_the_library_writes(name):
    model, processor = family(name)
    written = []
    for question in ASKS:
        prompt = AROUND[name].format(f"{question.question} Answer with one of: red, blue, the big cup.")
        inputs = processed(processor, prompt, question.image)
        ids = model.generate(**inputs, max_new_tokens=32, do_sample=False)[0, inputs["input_ids"].shape[1] :]
        written.append(processor.tokenizer.decode(ids, skip_special_tokens=True).strip())
    assert of(name, mode="generate").answer(ASKS) == written


@pytest.mark.parametrize("ended", [True, False])
def test_replies_of_one_token_copy_no_state_of_an_image(ended, monkeypatch):
    engine, copies = Engine(*family("llava")), []
    prompt = engine.prompter.prompt("Why?")
    wanted = [((image, prompt), (token,)) for image in IMAGES for token in (5, 6, 7)]
    alone = [engine.likelihoods([reply], ended=ended)[0] for reply in wanted]
    own = transformers.DynamicCache.reorder_cache
    monkeypatch.setattr(transformers.DynamicCache, "reorder_cache", lambda *args: (copies.append(1), own(*args)))
    assert engine.likelihoods(wanted, ended=ended) == pytest.approx(alone, rel=1e-5)
    assert copies == []
    engine.likelihoods([*wanted, wanted[0]], ended=True)  # which asks one prompt twice at a time
    assert copies == [1]


def test_equally_likely_choices_are_a_tie_and_the_forms_of_one_count_together(monkeypatch):
    engine = Engine(*family("llava"))
    monkeypatch.setattr(engine, "likelihoods", lambda wanted, **_: np.zeros(len(wanted)))
    assert asked(engine).answer([Ask(image=IMAGES[0], question="Which?", choices=("red", "blue"))]) == [TIED]
    engine = Engine(*family("qwen3_vl"))
    monkeypatch.setattr(engine, "likelihoods", lambda *_, **__: np.log([0.3, 0.3, 0.01, 0.5]))
    assert asked(engine).answer([Ask(image=IMAGES[0], question="Which?", choices=("red", "blue"))]) == ["red"]


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A folder with a checkpoint of each family, saved by save_pretrained()."""
    folder = tmp_path_factory.mktemp("vlms")
    for name in FAMILIES:
        tiny_vlms.save(name, folder / name)
    return folder


def loaded(name, start, options="", **settings):
    return load(f"vlgate.models.generative.adapter:build:{name}{options}", folder=start, device="cpu", **settings)


def test_a_question_without_choices_is_answered_in_words(start):
    open_ = Ask(image=IMAGES[0], question="What is this?")
    chosen = loaded("llava", start).model
    free = loaded("llava", start, "?mode=generate").model
    replies = chosen.answer([ASKS[0], open_, ASKS[1]])
    assert replies[1] == free.answer([open_])[0]
    assert [replies[0], replies[2]] == chosen.answer(ASKS[:2])
    assert chosen.note != free.note


def test_the_fingerprint_covers_score_and_mode(start):
    found = [loaded("qwen3_vl", start, options) for options in ("", "?mode=choices", "?score=yes-no", "?mode=generate")]
    assert found[0].fingerprint == found[1].fingerprint
    assert len({one.fingerprint for one in found}) == 3
    assert "VQAScore" in found[0].model.note


def test_options_missing_weights_and_packages_are_refused(start, tmp_path, monkeypatch):
    for weights, message in (
        ("llava?score=yesno", "did you mean 'yes-no'"), ("llava?skore=yes-no", "did you mean 'score'"),
        ("llava?mode=open", "mode='open'"), ("./lava", "lava"), ("", "no weights"),
    ):  # fmt: skip
        with pytest.raises(ModelLoadError, match=message):
            check(weights, start)
    with pytest.raises(ModelLoadError, match="HF_HUB_OFFLINE"):
        loaded("org/name", tmp_path)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelLoadError, match=r"pip install 'vlgate\[hf\]'"):
        loaded("llava", start)


# Of families that are published without a chat template.
PROMPTS = {
    "paligemma": "<image>answer en {}",
    "chameleon": "{}<image>", "florence2": "{}", "blip2": "Question: {} Answer:", "blip2_opt": "Question: {} Answer:",
    "instructblip": "{}", "instructblip_opt": "{}",
}  # fmt: skip
DECODERS = {"florence2": [[2, 1]], "blip2": [[0]], "instructblip": [[0]]}  # the tokens before a reply
NAMES = [*FAMILIES, *(name for name in tiny_vlms.NEWER if name != "emu3")]


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
    """The probabilities that the reply begins with a yes and with a no, of each pair by itself."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    begun = {"decoder_input_ids": torch.tensor(DECODERS[name])} if name in DECODERS else {}
    ids = {
        word: processor.tokenizer(word, add_special_tokens=False)["input_ids"]
        for word in ("Yes", " Yes", "yes", " yes", "No", " No", "no", " no")
    }
    yes = sorted({ids[word][0] for word in list(ids)[:4]})
    no = sorted({ids[word][0] for word in list(ids)[4:] if len(ids[word]) == 1})
    found = []
    for pair in pairs:
        with torch.no_grad():
            last = model(**inputs(name, processor, pair), **begun, use_cache=False).logits[0, -1].double().softmax(-1)
        found.append((float(last[yes].sum()), float(last[no].sum())))
    return np.array(found).T


@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_librarys_probability_of_yes_pair_by_pair(name, tmp_path):
    folder = tiny_vlms.save(name, tmp_path / name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, no = by_the_library(name, folder, PAIRS)
    model = load(f"vlm:{folder}", folder=tmp_path, device="cpu").model
    assert model.match(PAIRS) == pytest.approx(expected, rel=1e-5)
    assert model.decision_threshold == 0.5
    assert np.ptp(expected / expected.mean()) > 1e-3
    of_both = load(f"vlm:{folder}?score=yes-no", folder=tmp_path, device="cpu").model
    assert of_both.match(PAIRS) == pytest.approx(expected / (expected + no), rel=1e-5)
    assert np.concatenate([model.match([pair]) for pair in PAIRS[:4]]) == pytest.approx(expected[:4], rel=1e-5)
    answers = model.answer(ASKS)
    assert set(answers) <= {*CHOICES, TIED}
    assert [model.answer([ask])[0] for ask in ASKS] == answers


@pytest.mark.parametrize("name", ["florence2", "blip2", "mllama", "blip2_opt", "llava"])
def test_the_likelihood_of_a_reply_is_that_of_its_tokens_one_by_one(name, tmp_path):
    """Each token of each reply has the probability that one pass through the whole network gives it."""
    folder = tiny_vlms.save(name, tmp_path / name)
    sums = load(f"vlm:{folder}?score=likelihood-sum", folder=tmp_path, device="cpu").model
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    processor = transformers.AutoProcessor.from_pretrained(folder)
    asks = {"florence2": "<CAPTION>", "blip2": "a photo of", "blip2_opt": "a photo of"}
    asks["llava"] = AROUND["llava"].format("Describe this image in one sentence.")
    expected, lengths = [], []
    for pair in PAIRS[:4]:
        caption = (
            "<s><|im_start|>user\n<|image|>Describe this image in one sentence.<|im_end|>\n<|im_start|>assistant\n"
        )
        words = processor.tokenizer
        space = " " if name in ("blip2_opt", "llava") else ""
        ids = words(space + pair.text, add_special_tokens=False)["input_ids"]
        made = dict(processor(text=asks.get(name, caption), images=pair.image.load(), return_tensors="pt"))
        total = 0.0
        for index in range(len(ids)):
            with torch.no_grad():
                likely = next_logits(name, model, made, ids[:index]).double().log_softmax(-1)
            total += float(likely[ids[index]])
        expected.append(total)
        lengths.append(len(ids))
    assert sums.match(PAIRS[:4]) == pytest.approx(expected, rel=1e-5)
    means = load(f"vlm:{folder}?score=likelihood", folder=tmp_path, device="cpu").model
    assert means.match(PAIRS[:4]) == pytest.approx(np.array(expected) / lengths, rel=1e-5)
    assert means.decision_threshold is None


def next_logits(name, model, made, before):
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
    folder = tiny_vlms.save("emu3", tmp_path / "emu3")
    with pytest.raises(ModelLoadError, match=r"another likelihood in a batch.*openai:"):
        load(f"vlm:{folder}", folder=tmp_path, device="cpu")
