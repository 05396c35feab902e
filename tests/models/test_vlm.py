import sys

import more_tiny_vlms
import numpy as np
import pytest
import tiny_vlms
import torch
import transformers
from huggingface_hub import constants
from PIL import Image
from safetensors.torch import load_file, save_file
from vlm_cases import ASKS, CHOICES, FAMILIES, KIN, PAIRS, PICTURES, family, of, processed

from vlgate.errors import ModelLoadError, PictureError
from vlgate.models import load
from vlgate.models.vlm import Vlm, check
from vlgate.models.vlm_engine import Engine
from vlgate.models.vlm_reading import SHARED
from vlgate.types import TIED, Answerer, Ask, Match, Matcher, Picture

AROUND = {
    "llava": "USER: <image>\n{} ASSISTANT:",
    "idefics3": "<s>User:<image>{}<end_of_utterance>\nAssistant:",
    "qwen3_vl": ("<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>{}<|im_end|>\n<|im_start|>assistant\n"),
    "paligemma": "<image>answer en {}",
}
SPACES = {"llava": ["", " "], "idefics3": ["", " "], "qwen3_vl": [""], "paligemma": [""]}
SHOW = 'Does this figure show "{}"? Please answer yes or no.'


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    """A folder with a checkpoint of each family, as save_pretrained() leaves it."""
    folder = tmp_path_factory.mktemp("vlms")
    for name in FAMILIES:
        for part in family(name):
            part.save_pretrained(folder / name)
    return folder


def loaded(name, start, options="", **settings):
    return load(f"vlgate.models.vlm:build:{name}{options}", folder=start, device="cpu", **settings)


def by_hand(name, picture, prompt, ids=()):
    """Log-probabilities of each next token, of one sequence that is read as a whole, without any cache."""
    model, processor = family(name)
    inputs = processed(processor, prompt, picture)
    if name == "idefics3":  # its template writes the token of beginning, and its tokenizer adds none
        assert inputs["input_ids"][0].tolist().count(1) == 1
    if ids:
        kinds = {"input_ids": ids, "attention_mask": [1] * len(ids), "mm_token_type_ids": [0] * len(ids)}
        kinds["token_type_ids"] = [1] * len(ids)  # PaliGemma's replies see what stands before them only
        for key, values in kinds.items():
            if key in inputs:
                inputs[key] = torch.cat([inputs[key], torch.tensor([values])], dim=1)
    with torch.no_grad():
        return model(**inputs).logits[0, -len(ids) - 1 :].double().log_softmax(-1).numpy()


def plain_ids(name, text):
    return family(name)[1].tokenizer(text, add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_score_is_the_probability_of_yes(name):
    yes = [plain_ids(name, word)[0] for word in ("Yes", " Yes", "yes", " yes")]
    no = [plain_ids(name, word)[0] for word in ("No", " No", "no", " no") if len(plain_ids(name, word)) == 1]
    alone = [np.exp(by_hand(name, one.picture, AROUND[name].format(SHOW.format(one.text)))[0]) for one in PAIRS]
    expected = np.array([[row[yes].sum(), row[no].sum()] for row in alone])
    model = of(name)
    assert isinstance(model, Matcher)
    assert isinstance(model, Answerer)
    assert model.decision_threshold == 0.5
    found = model.match(PAIRS)
    assert found.dtype == np.float64
    assert found == pytest.approx(expected[:, 0], rel=1e-5)
    assert np.ptp(found) > 1e-4
    of_both = of(name, "yes-no")
    assert of_both.match(PAIRS) == pytest.approx(expected[:, 0] / expected.sum(axis=1), rel=1e-5)
    assert of_both.decision_threshold == 0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_the_likelihood_of_a_caption(name):
    asked = (
        "<image>caption en" if name == "paligemma" else AROUND[name].format("Describe this picture in one sentence.")
    )
    sums, lengths = [], []
    for pair in PAIRS:
        ids = plain_ids(name, (" " if " " in SPACES[name] else "") + pair.text)
        rows = by_hand(name, pair.picture, asked, ids)
        sums.append(sum(rows[place, one] for place, one in enumerate(ids)))
        lengths.append(len(ids))
    model = of(name, "likelihood")
    assert model.decision_threshold is None
    assert model.match(PAIRS) == pytest.approx(np.array(sums) / lengths, rel=1e-5)
    assert of(name, "likelihood-sum").match(PAIRS) == pytest.approx(np.array(sums), rel=1e-5)


@pytest.mark.parametrize("name", [*KIN, *more_tiny_vlms.WHOLE])
def test_replies_of_all_lengths_are_weighed_as_generate_weighs_them(name):
    model = of(name, "likelihood-sum")
    prompter = model._engine.prompter
    prompt = prompter.caption()
    space = prompter.space(prompt)
    alone = [
        model._engine.step_by_step((pair.picture, prompt), prompter.continuation(prompt, space + pair.text))
        for pair in PAIRS
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
                rows = by_hand(name, question.picture, prompt, ids)
                likely = sum(rows[place, one] for place, one in enumerate(ids))
                total += np.exp(likely) * np.exp(rows[-1][stops]).sum()
        found.append(total)
    return CHOICES[int(np.argmax(found))]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_question_is_answered_by_the_likeliest_choice(name):
    questions = [
        *ASKS,
        *(Ask(picture=PICTURES[2], question=f"the {word}?", choices=CHOICES) for word in ("red", "cat")),
    ]
    assert of(name).answer(questions) == [likeliest(name, question) for question in questions]


@pytest.mark.parametrize("score", ["vqascore", "likelihood"])
@pytest.mark.parametrize("name", FAMILIES)
def test_batches_order_and_longer_neighbours_make_no_difference(name, score):
    model = of(name, score)
    together = model.match(PAIRS)
    assert np.concatenate([model.match([pair]) for pair in PAIRS]) == pytest.approx(together, rel=1e-5)
    assert model.match(PAIRS[::-1]) == pytest.approx(together[::-1], rel=1e-5)
    assert model.match([*PAIRS[4:6], *PAIRS[4:5]]) == pytest.approx(together[[4, 5, 4]], rel=1e-5)
    if score == "vqascore":
        assert [model.answer([one])[0] for one in ASKS] == model.answer(ASKS) == model.answer(ASKS[::-1])[::-1]


@pytest.mark.parametrize("name", [*FAMILIES, *KIN])
def test_a_picture_is_read_once_where_the_family_allows(name, monkeypatch):
    model = of(name)
    seen = []
    inputs = model._engine._reader.inputs
    monkeypatch.setattr(
        model._engine._reader, "inputs", lambda pictures, texts: seen.append(len(pictures)) or inputs(pictures, texts)
    )
    shared = model.match(PAIRS)
    model.answer(ASKS)
    assert seen == ([3, 2] if name in SHARED else [9, 4])
    monkeypatch.setattr(model._engine._reader, "_shares", False)
    assert model.match(PAIRS) == pytest.approx(shared, rel=1e-5)
    assert np.ptp(shared) > 1e-4


def test_every_family_of_which_a_picture_is_read_once_is_tested():
    assert {*FAMILIES, *KIN} - {"paligemma"} == SHARED


def test_what_is_read_once_ends_where_the_tokens_stay_the_same(monkeypatch):
    """The blank behind the picture is a token of its own until a word follows it."""
    model, processor = tiny_vlms.llava()
    processor.chat_template = tiny_vlms.LLAVA_TEMPLATE.replace("<image>\n", "<image> ")
    engine = Engine(model, processor)
    asked = Vlm(engine, score="vqascore", mode="choices", fingerprint="")
    read_shared, parted = engine._reader._read_shared, []
    monkeypatch.setattr(engine._reader, "_read_shared", lambda *given: parted.append(read_shared(*given)) or parted[-1])
    shared = asked.match(PAIRS)
    assert [state is not None for state in parted] == [True]
    monkeypatch.setattr(engine._reader, "_shares", False)
    assert asked.match(PAIRS) == pytest.approx(shared, rel=1e-5)
    head = engine.prompter.prompt("x").head
    assert head.endswith("<image> ")
    assert engine.prompter.ids(f"{head}Does")[: len(engine.prompter.ids(head))] != engine.prompter.ids(head)


def test_a_prompt_that_cannot_be_parted_is_read_whole(monkeypatch):
    model = of("llava")
    expected = model.match(PAIRS)
    monkeypatch.setattr(model._engine._reader, "_picture_token", -5)
    assert model.match(PAIRS) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("name", FAMILIES)
def test_what_is_written_is_what_the_library_writes(name):
    model, processor = family(name)
    written = []
    for question in ASKS:
        prompt = AROUND[name].format(f"{question.question} Answer with one of: red, blue, the big cup.")
        inputs = processed(processor, prompt, question.picture)
        ids = model.generate(**inputs, max_new_tokens=32, do_sample=False)[0, inputs["input_ids"].shape[1] :]
        written.append(processor.tokenizer.decode(ids, skip_special_tokens=True).strip())
    assert of(name, mode="generate").answer(ASKS) == written


def test_a_question_without_choices_is_answered_in_words(start):
    open_ = Ask(picture=PICTURES[0], question="What is this?")
    chosen = loaded("llava", start).model
    free = loaded("llava", start, "?mode=generate").model
    replies = chosen.answer([ASKS[0], open_, ASKS[1]])
    assert replies[1] == free.answer([open_])[0]
    assert [replies[0], replies[2]] == chosen.answer(ASKS[:2])
    assert "greedy decoding, and the reply is read" in free.note


def test_choices_that_are_level_answer_nothing(monkeypatch):
    model = of("llava")
    monkeypatch.setattr(model._engine, "likelihoods", lambda wanted, **_: np.zeros(len(wanted)))
    assert model.answer([Ask(picture=PICTURES[0], question="Which?", choices=("red", "blue"))]) == [TIED]


def test_the_forms_of_a_choice_count_together(monkeypatch):
    model = of("qwen3_vl")
    monkeypatch.setattr(model._engine, "likelihoods", lambda *_, **__: np.log([0.3, 0.3, 0.01, 0.5]))
    assert model.answer([Ask(picture=PICTURES[0], question="Which?", choices=("red", "blue"))]) == ["red"]


def test_a_trained_model_says_yes_to_what_is_true():
    """Trained on what must be said of two pictures, it holds the true text above the false one."""
    model, processor = tiny_vlms.llava()
    squares = {colour: Image.new("RGB", (32, 32), colour) for colour in ("red", "blue")}
    cases = [(seen, said) for seen in squares for said in squares]
    prompts = [AROUND["llava"].format(SHOW.format(f"a {said} square")) for _, said in cases]
    inputs = processor(text=prompts, images=[[squares[seen]] for seen, _ in cases], padding=True, return_tensors="pt")
    words = [processor.tokenizer(" Yes" if seen == said else " No")["input_ids"][1] for seen, said in cases]
    steps = torch.optim.AdamW(model.parameters(), lr=3e-3)
    loss = torch.tensor(9.0)
    while loss > 0.05:  # some fifty steps
        loss = torch.nn.functional.cross_entropy(model(**inputs).logits[:, -1], torch.tensor(words))
        steps.zero_grad()
        loss.backward()
        steps.step()
    pairs = [
        Match(picture=Picture(key=seen, load=lambda seen=seen: squares[seen]), text=f"a {said} square")
        for seen, said in cases
    ]
    found = Vlm(Engine(model, processor), score="vqascore", mode="choices", fingerprint="").match(pairs)
    assert (found > 0.5).tolist() == [True, False, False, True]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_saved_folder_comes_back(name, start):
    check(f"{name}?score=yes-no", start)
    found = loaded(name, start).model
    assert found.match(PAIRS) == pytest.approx(of(name).match(PAIRS), rel=1e-6)
    assert found.answer(ASKS) == of(name).answer(ASKS)
    assert found._engine._model.dtype == torch.float32


def test_half_precision_and_the_fingerprint(start):
    exact, half = loaded("qwen3_vl", start), loaded("qwen3_vl", start, dtype="bfloat16")
    assert np.isfinite(half.model.match(PAIRS)).all()
    assert np.log(half.model.match(PAIRS)) == pytest.approx(np.log(exact.model.match(PAIRS)), abs=0.7)
    assert set(half.model.answer(ASKS)) <= set(CHOICES)
    others = [loaded("qwen3_vl", start, options).fingerprint for options in ("?score=yes-no", "?mode=generate")]
    prints = {exact.fingerprint, half.fingerprint, *others, loaded("llava", start).fingerprint}
    assert len(prints) == 5
    assert loaded("qwen3_vl", start, "?mode=choices").fingerprint == exact.fingerprint
    assert "VQAScore" in exact.model.note


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", FAMILIES)
def test_a_gpu_says_the_same(name, start):
    there = load(f"vlgate.models.vlm:build:{name}", folder=start, device="cuda").model
    assert there.match(PAIRS) == pytest.approx(of(name).match(PAIRS), rel=1e-2)
    assert there.answer(ASKS) == of(name).answer(ASKS)


def test_a_picture_that_fails_fails_unchanged():
    error = PictureError("bad", "it is torn", "mend it")

    def fail():
        raise error

    bad = Picture(key="bad", load=fail)
    with pytest.raises(PictureError) as caught:
        of("llava").match([*PAIRS, Match(picture=bad, text="x")])
    assert caught.value is error


def test_what_is_not_there(start, tmp_path):
    for weights, message in (
        ("llava?score=yesno", "did you mean 'yes-no'"), ("llava?skore=yes-no", "did you mean 'score'"),
        ("llava?mode=open", "known are|did you mean"), ("./lava", "there is no folder"), ("", "no weights"),
    ):  # fmt: skip
        with pytest.raises(ModelLoadError, match=message):
            check(weights, start)
    with pytest.raises(ModelLoadError, match="HF_HUB_OFFLINE"):
        loaded("org/name", tmp_path)


def test_a_model_of_another_kind_or_without_all_its_weights(start, tmp_path):
    transformers.GPT2LMHeadModel(transformers.GPT2Config(n_embd=8, n_layer=1, n_head=1)).save_pretrained(tmp_path / "x")
    tiny_vlms.tokenizer().save_pretrained(tmp_path / "x")
    with pytest.raises(ModelLoadError):
        loaded("x", tmp_path)
    for part in family("llava"):
        part.save_pretrained(tmp_path / "half")
    weights = load_file(start / "llava" / "model.safetensors")
    weights.pop(next(name for name in weights if "projector" in name))
    save_file(weights, tmp_path / "half" / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelLoadError, match="random numbers"):
        loaded("half", tmp_path)
    (tmp_path / "half" / "model.safetensors").unlink()
    with pytest.raises(ModelLoadError, match=r"model\.safetensors"):
        loaded("half", tmp_path)


def test_without_transformers(start, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelLoadError, match=r"pip install 'vlgate\[hf\]'"):
        loaded("llava", start)
