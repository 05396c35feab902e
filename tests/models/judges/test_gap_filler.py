import math

import judge_checkpoints
import pytest
import torch
import transformers

from vlgate.models.text.gap_filler import gap_filler
from vlgate.perturb.foils.candidates import Gap

GAPS = [
    Gap(before="a dog is", after="the big tree", lengths=(1, 2)),
    Gap(before="the cat", after="", lengths=(1,)),
    Gap(before="", after="red square on the left of a circle .", lengths=(2,)),
]


@pytest.fixture(scope="module")
def constant(tmp_path_factory):
    folder = tmp_path_factory.mktemp("constant")
    judge_checkpoints.constant_filler(folder, {"on": 0.6, "under": 0.3, "[MASK]": 0.05, "hill": 0.05})
    return gap_filler(str(folder))


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """Loaded models with word pieces by kind, and their folders."""
    folders = {kind: tmp_path_factory.mktemp(kind) for kind in ("bert", "roberta")}
    for kind, folder in folders.items():
        judge_checkpoints.random_filler(folder, kind)
    return {kind: (gap_filler(str(folder)), folder) for kind, folder in folders.items()}


def test_the_joint_probability_is_the_product_of_those_of_the_tokens(constant):
    (found,) = constant.fill([Gap(before="the cat sleeps", after="the tree", lengths=(1, 2))], top=2)
    expected = [("on", 0.6), ("on on", 0.36), ("under", 0.3), ("on under", 0.18)]
    assert [one.text for one in found] == [text for text, _ in expected]
    assert [one.log_probability for one in found] == pytest.approx([math.log(p) for _, p in expected], abs=1e-5)


def test_special_tokens_fill_no_gap(constant):
    (found,) = constant.fill([Gap(before="the cat sleeps", after="the tree", lengths=(1,))], top=50)
    assert not {"[MASK]", "[PAD]", "[SEP]"} & {one.text for one in found}
    assert {"on", "under", "hill"} <= {one.text for one in found}


def slowly(folder, gap, length):
    """The fillings of a gap by the chain rule over the whole vocabulary, with one call of the model per prefix."""
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    row = tokenizer(" ".join([gap.before, *[tokenizer.mask_token] * length, gap.after]).strip())["input_ids"]
    first = row.index(tokenizer.mask_token_id)
    found = {(): (row, 0.0)}
    for step in range(length):
        grown = {}
        for prefix, (ids, likely) in found.items():
            with torch.no_grad():
                logits = model(input_ids=torch.tensor([ids])).logits[0, first + step].double().log_softmax(-1)
            for token in range(len(logits)):
                filled = [*ids[: first + step], token, *ids[first + step + 1 :]]
                grown[*prefix, token] = (filled, likely + logits[token].item())
        found = grown
    return {tokenizer.decode(list(tokens)).strip(): likely for tokens, (_, likely) in found.items()}


def test_all_fillings_of_two_tokens_are_as_the_chain_rule_says(pieces):
    model, folder = pieces["bert"]
    gap = Gap(before="a dog is", after="the big tree", lengths=(2,))
    (found,) = model.fill([gap], top=10_000)
    expected = slowly(folder, gap, 2)
    assert len(found) > 1000
    assert [one.log_probability for one in found] == pytest.approx([expected[one.text] for one in found], abs=1e-4)
    assert found[0].log_probability > found[-1].log_probability + 1
    assert not any(one.text.startswith("##") for one in found)
    assert any(one.text.endswith("s") and " " not in one.text for one in found)  # "dogs" is two pieces


SHORT = [
    Gap(before="red", after="blu", lengths=(1, 2)),
    Gap(before="re", after="", lengths=(1,)),
    Gap(before="", after="red.", lengths=(2,)),
]


@pytest.mark.parametrize(("kind", "gaps"), [("bert", GAPS), ("roberta", SHORT)])
def test_a_batch_is_filled_as_each_gap_on_its_own(pieces, kind, gaps):
    model, _ = pieces[kind]
    together = model.fill(gaps, top=3)
    alone = [model.fill([gap], top=3)[0] for gap in gaps]
    assert [len(one) for one in together] == [6, 3, 3]
    assert [[one.text for one in some] for some in together] == [[one.text for one in some] for some in alone]
    for some, others in zip(together, alone, strict=True):
        assert [one.log_probability for one in some] == pytest.approx(
            [other.log_probability for other in others], rel=1e-4
        )


def test_a_word_begins_each_filling_of_byte_pairs(pieces):
    model, _ = pieces["roberta"]
    (found,) = model.fill([Gap(before="blue", after="red", lengths=(1,))], top=100)
    assert {one.text for one in found} == {"r", "re", "red"}  # of the pieces, only these begin with a blank


def test_a_text_beyond_the_context_or_with_a_mask_of_its_own_has_no_fillings(constant):
    assert constant.fill([Gap(before="cat " * 100, after="dog")], top=3) == [[]]
    assert constant.fill([Gap(before="the [MASK]", after="dog")], top=3) == [[]]
