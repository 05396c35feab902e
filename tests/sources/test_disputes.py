"""Disputes: what becomes of a case, what is counted, and what each mistake in a file says."""

import json
from dataclasses import replace

import pytest

from vlgate.errors import DataError
from vlgate.run.digest import digest
from vlgate.sources.disputes import KNOWN, applied, disputed, place_of, read_disputes
from vlgate.sources.registry import shapes
from vlgate.types import Ask, Case, LazyImage, Match, Task


def image(key):
    return LazyImage(key=key, load=lambda: pytest.fail("an image was decoded"))


def task(shape, requests, truths, capability="foil"):
    cases = tuple(Case(id=name, requests=requests, truths=truths) for name in ("one", "two", "three"))
    return Task(id=f"mine/{shape}", capability=capability, shape=shape, cases=cases, left_out={"invalid": 4})


def matches(*said):
    return tuple(Match(image=image(key), text=text) for key, text in said)


PAIR = task("pair", matches(("a", "true"), ("a", "false")), (True, False))
QUAD = task("quad", matches(*[(i, c) for i in "ab" for c in "xy"]), (True, False, False, True), "compositional")
SET = task("set", matches(*[("a", text) for text in ("t1", "t2", "f1", "f2")]), (True, True, False, False))
ASKED = tuple(Ask(image=image("a"), question=text, choices=("yes", "no")) for text in ("is it?", "is it not?"))
QUESTIONS = task("questions", ASKED, ("yes", "no"), "directional")


def file(folder, *lines, name="disputes.jsonl"):
    place = folder / name
    place.write_text("".join(f"{json.dumps({'evidence': 'seen', **line})}\n" for line in lines))
    return place


def outcome(folder, given, *lines):
    [found], notes = applied([given], read_disputes([file(folder, *lines)]), [given.id, "valse/existence"])
    return found, notes


def line(of, case="two", claim="wrong", **more):
    return {"task": of.id, "case": case, "claim": claim, **more}


@pytest.mark.parametrize("claim", ["wrong", "ambiguous", "broken"])
def test_a_case_that_is_wrong_is_left_out_and_counted(tmp_path, claim):
    found, notes = outcome(tmp_path, PAIR, line(PAIR, claim=claim))
    assert [case.id for case in found.cases] == ["one", "three"]
    assert found.left_out == {"invalid": 4, f"left out as disputed ({claim})": 1}
    assert (disputed(found.left_out), found.corrected, notes) == (1, 0, ())


@pytest.mark.parametrize(
    ("given", "texts"),
    [
        (PAIR, [("a", "false"), ("a", "true")]),
        (QUAD, [("a", "y"), ("a", "x"), ("b", "y"), ("b", "x")]),
        (SET, [("a", "f1"), ("a", "f2"), ("a", "t1"), ("a", "t2")]),
    ],
)
def test_swapped_exchanges_what_is_true_and_what_is_false(tmp_path, given, texts):
    by_truths = line(given, truths=[not truth for truth in given.cases[0].truths])
    for one in (line(given, claim="swapped"), by_truths):
        found, _ = outcome(tmp_path, given, one)
        assert [(asked.image.key, asked.text) for asked in found.cases[1].requests] == texts
        assert found.cases[1].truths == given.cases[1].truths
        assert found.cases[::2] == given.cases[::2]
        assert (found.corrected, disputed(found.left_out)) == (1, 0)
        assert digest([found]) != digest([given])


def test_answers_are_corrected(tmp_path):
    swapped, _ = outcome(tmp_path, QUESTIONS, line(QUESTIONS, claim="swapped"))
    named, _ = outcome(tmp_path, QUESTIONS, line(QUESTIONS, truths=["no", "yes"], source="ours"))
    assert swapped == named
    assert named.cases[1].truths == ("no", "yes")


def test_a_single_question_or_text_gets_the_opposite_truth(tmp_path):
    asked = task("single", ASKED[:1], ("yes",))
    said = task("single", matches(("a", "true")), (True,))
    assert outcome(tmp_path, asked, line(asked, claim="swapped"))[0].cases[1].truths == ("no",)
    assert outcome(tmp_path, said, line(said, truths=[False]))[0].cases[1].truths == (False,)


def test_a_choice_among_several_cannot_be_exchanged(tmp_path):
    several = task("choice", matches(("a", "t"), ("a", "f1"), ("a", "f2")), (True, False, False))
    with pytest.raises(DataError, match="cannot be corrected, because its shape is choice"):
        outcome(tmp_path, several, line(several, claim="swapped"))


def test_disputes_about_tasks_that_are_not_asked_are_told(tmp_path):
    other = {"task": "valse/existence", "case": "any", "claim": "wrong"}
    found, notes = outcome(tmp_path, PAIR, line(PAIR), other)
    assert len(found.cases) == 2
    assert notes == ("1 of 2 disputes are about tasks that are not asked",)


def test_the_same_claim_in_two_files_counts_once(tmp_path):
    files = [file(tmp_path, line(PAIR, claim=claim), name=f"{claim}.jsonl") for claim in ("wrong", "ambiguous")]
    [found], _ = applied([PAIR], read_disputes(files), [PAIR.id])
    assert disputed(found.left_out) == 1


@pytest.mark.parametrize(
    ("given", "lines", "message"),
    [
        (
            PAIR,
            [line(PAIR), {**line(PAIR), "task": "mine/pairs"}],
            "record on line 2: no task is named 'mine/pairs'; did you mean 'mine/pair'?",
        ),
        (PAIR, [line(PAIR, case="twos")], "record on line 1: mine/pair has no case 'twos'; did you mean 'two'?"),
        (PAIR, [line(PAIR, claim="wrnog")], "claim='wrnog' is unknown; did you mean 'wrong'?"),
        (PAIR, [line(PAIR, evidence=" ")], "field 'evidence' is blank"),
        (PAIR, [{"task": PAIR.id, "case": "two"}], "field 'claim' is missing"),
        (PAIR, [line(PAIR, truth=[True])], "unknown field 'truth'; did you mean 'truths'?"),
        (PAIR, [line(PAIR, truths="no")], "truths='no' is not a list of truths"),
        (PAIR, [line(PAIR, claim="ambiguous", truths=[True])], "has truths although it claims 'ambiguous'"),
        (PAIR, [line(PAIR, truths=[True, True])], "do not fit a case of the shape pair; write [False, True]"),
        (PAIR, [line(PAIR), line(PAIR, claim="swapped")], "'swapped' of 'two' is at odds with 'wrong'"),
        (QUESTIONS, [line(QUESTIONS, truths=["no"])], "gives no answers that 'two' can have"),
        (QUESTIONS, [line(QUESTIONS, truths=["no", "no"])], "with different answers to its 2 questions"),
    ],
)
def test_a_mistake_names_its_line_and_the_remedy(tmp_path, given, lines, message):
    with pytest.raises(DataError) as error:
        outcome(tmp_path, given, *lines)
    assert message in str(error.value)
    assert "disputes.jsonl" in str(error.value)


def test_answers_that_cannot_be_exchanged_are_named_instead(tmp_path):
    colours = replace(QUESTIONS, cases=tuple(replace(case, truths=("red", "blue")) for case in QUESTIONS.cases))
    with pytest.raises(DataError, match='write "claim": "wrong" and "truths"'):
        outcome(tmp_path, colours, line(colours, claim="swapped"))


def test_two_answers_of_other_words_are_exchanged_if_both_are_offered(tmp_path):
    asked = tuple(replace(one, choices=("red", "blue")) for one in ASKED)
    colours = replace(
        QUESTIONS,
        cases=tuple(replace(case, requests=asked, truths=("red", "blue")) for case in QUESTIONS.cases),
    )
    found, _ = outcome(tmp_path, colours, line(colours, claim="swapped"))
    assert (found.cases[1].truths, found.corrected) == (("blue", "red"), 1)


def test_the_known_disputes_name_tasks_that_there_are_and_where_they_were_reported():
    known = read_disputes([place_of("known", KNOWN.parent)])
    assert known
    assert {one.task for one in known} <= set(shapes())
    assert all(one.source.startswith("https://") for one in known)


def test_a_known_dispute_about_data_that_lack_the_case_is_told_and_not_an_error():
    chairs = replace(PAIR, id="whatsup/a", shape="choice", cases=PAIR.cases[:1])
    [found], notes = applied([chairs], read_disputes([KNOWN]), ["whatsup/a", "mmvp/questions"])
    assert (found.cases, disputed(found.left_out)) == (chairs.cases, 0)
    assert any("pillow_left_of_chair is not used" in note for note in notes)
