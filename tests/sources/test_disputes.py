"""Disputes: what becomes of a case, what is counted, and what each mistake in a file says."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from builders import image, tabled

from vlgate.audit.label_fixes import KNOWN, applied, disputed, fingerprint, place_of, read_disputes, reported
from vlgate.errors import DataError
from vlgate.record.digests import digest
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_tasks, shapes
from vlgate.types import Ask, Case, Match, Task

MORE = Path(__file__).resolve().parents[3] / "shared/data/more"


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
    return {"task": of.id, "case": case, "claim": claim} | more


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


COLOURED = tuple(replace(one, choices=("red", "blue")) for one in ASKED)


@pytest.mark.parametrize(
    ("given", "truths"),
    [
        (QUESTIONS, ("no", "yes")),
        (task("single", ASKED[:1], ("yes",)), ("no",)),
        (task("single", matches(("a", "true")), (True,)), (False,)),
        (task("questions", COLOURED, ("red", "blue"), "directional"), ("blue", "red")),  # both are offered
    ],
)
def test_answers_are_corrected(tmp_path, given, truths):
    swapped, _ = outcome(tmp_path, given, line(given, claim="swapped"))
    named, _ = outcome(tmp_path, given, line(given, truths=list(truths), source="ours"))
    assert swapped == named
    assert (named.cases[1].truths, named.corrected) == (truths, 1)


def test_disputes_about_tasks_that_are_not_asked_are_told_and_the_same_claim_in_two_files_counts_once(tmp_path):
    other = {"task": "valse/existence", "case": "any", "claim": "wrong"}
    found, notes = outcome(tmp_path, PAIR, line(PAIR), other)
    assert len(found.cases) == 2
    assert notes == ("1 of 2 disputes are about tasks that are not asked",)
    files = [file(tmp_path, line(PAIR, claim=claim), name=f"{claim}.jsonl") for claim in ("wrong", "ambiguous")]
    [found], _ = applied([PAIR], read_disputes(files), [PAIR.id])
    assert disputed(found.left_out) == 1


@pytest.mark.parametrize(
    ("given", "lines", "message"),
    [
        (
            PAIR,
            [line(PAIR), line(PAIR, task="mine/pairs")],
            "line 2: no task is named 'mine/pairs'; did you mean 'mine/pair'?",
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
    several = task("choice", matches(("a", "t"), ("a", "f1"), ("a", "f2")), (True, False, False))
    with pytest.raises(DataError, match="cannot be corrected, because its shape is choice"):
        outcome(tmp_path, several, line(several, claim="swapped"))


def test_the_known_disputes_name_tasks_and_sources_and_one_about_data_that_lack_the_case_is_told():
    known = read_disputes([place_of("known", KNOWN.parent)])
    assert known
    assert {one.task for one in known} <= set(shapes())
    assert all(one.source.startswith("https://") for one in known)
    chairs = replace(PAIR, id="whatsup/a", shape="choice", cases=PAIR.cases[:1])
    [found], notes = applied([chairs], read_disputes([KNOWN]), shapes())
    assert (found.cases, disputed(found.left_out)) == (chairs.cases, 0)
    assert any("pillow_left_of_chair is not used" in note for note in notes)
    assert len(notes) == 2  # and nothing of the tasks that are not asked


def test_a_line_of_many_cases_is_used_if_they_ask_what_it_was_written_about(tmp_path):
    known = fingerprint(PAIR.cases[:2])
    written = {"task": PAIR.id, "cases": ["one", "two"], "claim": "ambiguous", "fingerprint": known}
    found, _ = outcome(tmp_path, PAIR, written)
    assert [case.id for case in found.cases] == ["three"]
    assert outcome(tmp_path, PAIR, {**written, "claim": "swapped"})[0].corrected == 2
    other = task("pair", matches(("b", "true"), ("b", "false")), (True, False))
    with pytest.raises(DataError, match=r"on line 1: .*the fingerprint differs"):
        outcome(tmp_path, other, written)
    with pytest.raises(DataError, match="has both 'case' and 'cases'"):
        outcome(tmp_path, PAIR, {**written, "case": "one"})
    with pytest.raises(DataError, match=r"'cases' is .*expected a list of strings"):
        outcome(tmp_path, PAIR, {**written, "cases": []})


def test_a_fingerprint_is_of_images_texts_choices_and_order_and_of_no_truth():
    asked = [replace(PAIR.cases[0], truths=(False, True)), *QUESTIONS.cases]
    assert fingerprint(asked) == fingerprint([PAIR.cases[0], *QUESTIONS.cases])
    others = [
        asked[::-1],
        asked[1:],
        task("pair", matches(("b", "true"), ("a", "false")), (True, False)).cases[:1],
        task("pair", matches(("a", "true "), ("a", "false")), (True, False)).cases[:1],
        [replace(asked[1], requests=tuple(replace(one, choices=("yes",)) for one in ASKED))],
    ]
    assert len({fingerprint(one) for one in [asked, asked[:1], asked[1:2], *others]}) == 8


def test_labels_that_others_report_are_told_and_only_of_these_data():
    pillows = tuple(replace(PAIR.cases[0], id=f"pillow_{side}_of_chair") for side in ("left", "right"))
    chairs = replace(PAIR, id="whatsup/a", shape="choice", cases=(*pillows, *PAIR.cases))
    [note] = reported([chairs, PAIR])
    assert note.startswith("whatsup/a: others report labels of its cases (2 broken); --disputes known ")
    assert reported([PAIR, replace(chairs, cases=PAIR.cases)]) == ()


@pytest.mark.skipif(not (MORE / "pope").is_dir(), reason="needs POPE in ../shared/data/more")
def test_the_known_disputes_of_pope_give_the_labels_of_repope():
    options = ReadOptions(folders=(MORE,), seed=0, wanted=lambda name: name.startswith("pope/"))
    tasks = read_tasks(options)
    assert [note.partition(":")[0] for note in reported(tasks)] == ["pope/coco-popular", "pope/coco-random"]
    found, notes = applied(tasks, read_disputes([KNOWN]), shapes())
    mended = {one.id: one for one in found}
    for kind, corrected, ambiguous in (("random", 144, 226), ("popular", 178, 273)):
        again, pope = mended[f"pope/repope-{kind}"], mended[f"pope/coco-{kind}"]
        assert {case.id: case.truths for case in pope.cases} == {case.id: case.truths for case in again.cases}
        assert (pope.corrected, disputed(pope.left_out)) == (corrected, ambiguous)
    assert notes == ()
    older = replace(mended["pope/gqa-random"], id="pope/coco-random")
    [same], notes = applied([older], read_disputes([KNOWN]), shapes())
    assert (same.cases, len(notes)) == (older.cases, 2)
    assert reported([older]) == ()


@tabled
def test_an_unknown_case_of_a_task_of_many_is_said_with_the_nearest_few_and_their_number(tmp_path, named, says):
    cases = tuple(replace(PAIR.cases[0], id=f"case-{number}") for number in range(50))
    with pytest.raises(DataError) as caught:
        outcome(tmp_path, replace(PAIR, cases=cases), line(PAIR, case=named))
    assert str(caught.value).endswith(f"record on line 1: mine/pair has no case {named!r}; {says}")
