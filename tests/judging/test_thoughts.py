import pytest

from vlgate.judging.announced import after_thought, has_thought

PAIRS = [  # the beginning and the end of a thought
    ("<think>", "</think>"),
    ("<THINK>\n", "\n</THINK>\n\n"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>\n", "\n</reasoning>\n"),
    ("<REASONING>", "</REASONING>"),
    ("<rationale>", "</rationale>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("\u25c1think\u25b7", "\u25c1/think\u25b7"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<\uff5cbegin\u2581of\u2581thinking\uff5c>", "<\uff5cend\u2581of\u2581thinking\uff5c>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<unused94>thought\n", "<unused95>"),
]


@pytest.mark.parametrize(("begin", "end"), PAIRS)
def test_what_follows_the_last_thought_is_the_answer(begin, end):
    for thought in ("A dog?", "Yes. Wait, no.", f"one{end}{begin}two", ""):
        assert after_thought(f"{begin}{thought}{end}Yes") == "Yes"
        assert after_thought(f"{thought}{end} There is no dog.") == "There is no dog."  # its template opened it
        assert has_thought(f"{thought}{end}Yes")
    assert after_thought(f"{end}") == ""


@pytest.mark.parametrize("begin", [begin for begin, _ in PAIRS])
def test_a_thought_that_does_not_end_has_no_answer(begin):
    assert after_thought(f"{begin}Yes, I see a dog") is None
    assert after_thought(f"Yes. {begin}Or is it") is None
    assert after_thought(f"{begin}It is. <answer>No</answer><|im_end|>") == "<answer>No</answer><|im_end|>"
    assert after_thought(f"{begin}I write <answer>No</answer>, or") is None


def test_the_answer_may_stand_before_its_thought():
    assert after_thought("Yes.<think>It barks.</think>") == "Yes."


def test_channels_that_lost_their_tokens_end_at_the_final_one():
    assert after_thought("analysisIs it a dog? No dog.assistantfinalYes") == "Yes"
    assert after_thought("finalNo") == "No"


@pytest.mark.parametrize(
    "reply",
    ["Yes", "", "finally, no", "The man is thinking.", "I think so.", "[analysis] Yes", "a < b > c", "no/think"],
)
def test_a_reply_without_thoughts_is_left_as_it_is(reply):
    assert after_thought(reply) == reply
    assert not has_thought(reply)
