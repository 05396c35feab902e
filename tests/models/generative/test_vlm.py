import numpy as np
import pytest
import tiny_vlms
import torch
from PIL import Image
from vlm_cases import ASKS, CHOICES, FAMILIES, IMAGES, KIN, PAIRS, asked, family, next_tokens, of, processed

from vlgate.models.generative import reading
from vlgate.models.generative.engine import Engine
from vlgate.models.generative.reading import SHARED
from vlgate.types import TIED, Answerer, Ask, LazyImage, Match, Matcher

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


@pytest.mark.parametrize("name", FAMILIES)
def test_the_score_is_the_probability_of_yes(name):
    yes = [plain_ids(name, word)[0] for word in ("Yes", " Yes", "yes", " yes")]
    no = [plain_ids(name, word)[0] for word in ("No", " No", "no", " no") if len(plain_ids(name, word)) == 1]
    alone = [np.exp(by_hand(name, pair.image, AROUND[name].format(SHOW.format(pair.text)))[0]) for pair in PAIRS]
    expected = np.array([[row[yes].sum(), row[no].sum()] for row in alone])
    model = of(name)
    assert isinstance(model, Matcher)
    assert isinstance(model, Answerer)
    assert model.decision_threshold == 0.5
    match = model.match(PAIRS)
    assert match.dtype == np.float64
    assert match == pytest.approx(expected[:, 0], rel=1e-5)
    assert np.ptp(match) > 1e-4
    of_both = of(name, "yes-no")
    assert of_both.match(PAIRS) == pytest.approx(expected[:, 0] / expected.sum(axis=1), rel=1e-5)
    assert of_both.decision_threshold == 0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_the_likelihood_of_a_caption(name):
    asked = "<image>caption en" if name == "paligemma" else AROUND[name].format("Describe this image in one sentence.")
    sums, lengths = [], []
    for pair in PAIRS:
        ids = plain_ids(name, (" " if " " in SPACES[name] else "") + pair.text)
        rows = by_hand(name, pair.image, asked, ids)
        sums.append(sum(rows[index, id_] for index, id_ in enumerate(ids)))
        lengths.append(len(ids))
    model = of(name, "likelihood")
    assert model.decision_threshold is None
    assert model.match(PAIRS) == pytest.approx(np.array(sums) / lengths, rel=1e-5)
    assert of(name, "likelihood-sum").match(PAIRS) == pytest.approx(np.array(sums), rel=1e-5)


@pytest.mark.parametrize("name", [*KIN, *tiny_vlms.WHOLE])
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


def test_all_families_that_share_images_are_tested():
    assert {*FAMILIES, *KIN} - {"paligemma"} == SHARED


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


def test_equally_likely_choices_are_a_tie(monkeypatch):
    engine = Engine(*family("llava"))
    monkeypatch.setattr(engine, "likelihoods", lambda wanted, **_: np.zeros(len(wanted)))
    assert asked(engine).answer([Ask(image=IMAGES[0], question="Which?", choices=("red", "blue"))]) == [TIED]


def test_the_forms_of_a_choice_count_together(monkeypatch):
    engine = Engine(*family("qwen3_vl"))
    monkeypatch.setattr(engine, "likelihoods", lambda *_, **__: np.log([0.3, 0.3, 0.01, 0.5]))
    assert asked(engine).answer([Ask(image=IMAGES[0], question="Which?", choices=("red", "blue"))]) == ["red"]


def test_a_trained_model_says_yes_to_what_is_true():
    """Trained on the right replies about two images, it scores the true text above the false one."""
    model, processor = tiny_vlms.llava()
    squares = {colour: Image.new("RGB", (32, 32), colour) for colour in ("red", "blue")}
    cases = [(seen, square) for seen in squares for square in squares]
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
        Match(image=LazyImage(key=seen, load=lambda seen=seen: squares[seen]), text=f"a {said} square")
        for seen, said in cases
    ]
    match = asked(Engine(model, processor)).match(pairs)
    assert (match > 0.5).tolist() == [True, False, False, True]
