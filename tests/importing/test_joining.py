"""Joins on small benchmarks: options, paired questions, crossed questions, own cases; and what is never joined."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from builders import table
from harnesses import SHORT, mme, write_lines, write_table

from vlgate.errors import OptionError
from vlgate.making.importing.joining import join
from vlgate.making.importing.replies import recordings
from vlgate.record.options import Options
from vlgate.run.planning import make_plan

HERE = Path(__file__).parent

LETTERS = "Answer with the option's letter from the given choices directly."
PAIRS = (
    ("Are the wings of the butterfly open?", "Open", "Closed"),
    ("Is the dog facing left?", "Left", "Right"),
    ("How many cups are there?", "One", "Two"),
)


def tasks(folder):
    return make_plan(Options(folder=folder, data=(folder,), thresholds=None, results=folder)).tasks


def own(folder, *cases):
    data = folder / "data"
    data.mkdir(exist_ok=True)
    write_lines(data / "cases.jsonl", [{"task": "mine/things", **case} for case in cases])
    return tasks(data)


def asked(image, question, answer="yes"):
    return {"image": image, "question": question, "answer": answer}


def joined(folder, planned, *rows, name="replies.jsonl"):
    found = join(recordings(write_lines(folder / name, rows)), planned)
    return {key[1:]: record.reply for key, record in found.rows.items()}, found.left_out


@pytest.fixture
def mmvp(tmp_path):
    (tmp_path / "data" / "mmvp").mkdir(parents=True)
    rows = []
    for number, (question, first, second) in enumerate(PAIRS):
        for place, letter in ((1, "a"), (2, "b")):
            options = {"Question": question, "Options": f"(a) {first} (b) {second}", "Correct Answer": f"({letter})"}
            rows.append({"Index": 2 * number + place, **options})
    write_table(tmp_path / "data" / "mmvp" / "Questions.csv", rows, ",")
    return tasks(tmp_path / "data")


def mmvp_sample(index, question, options, **changed):
    listed = "\n".join(f"{letter}. {option}" for letter, option in zip("AB", options, strict=True))
    fact = {"index": index, "pair_index": index // 2, "pred": "A", "gt": "AB"[index % 2]}
    sample = {"doc_id": index, "target": "AB"[index % 2], "filtered_resps": [f"reply {index}"]}
    return {**sample, "mmvp_accuracy": fact, "input": f"{question}\n{listed}\n{LETTERS}", **changed}


def mmvp_samples():
    return [mmvp_sample(index, PAIRS[index // 2][0], PAIRS[index // 2][1:]) for index in range(6)]


@pytest.mark.parametrize("changed", [{}, {"mmvp_accuracy": {}}])
def test_paired_questions_are_told_apart_by_a_number_that_is_checked_and_counts_from_0_or_1(mmvp, tmp_path, changed):
    rows = [{**row, "doc_id": row["doc_id"] + len(changed), **changed} for row in mmvp_samples()]
    found, left_out = joined(tmp_path, mmvp, *rows)
    assert found == {(f"{index + 1}.jpg", PAIRS[index // 2][0]): f"reply {index}" for index in range(6)}
    assert left_out == {}


@pytest.mark.parametrize("shift", [3, -2, 5, 40])
@pytest.mark.parametrize("turn", [1, 5])
def test_other_numbers_join_the_right_image_or_none(mmvp, tmp_path, shift, turn):
    rows = [{**row, "doc_id": row["doc_id"] + shift, "mmvp_accuracy": {}, "target": ""} for row in mmvp_samples()]
    found, left_out = joined(tmp_path, mmvp, *sorted(rows, key=lambda row: row["doc_id"] * turn % 7))
    right = {f"{index + 1}.jpg": f"reply {index}" for index in range(6)}
    assert {key[0]: reply for key, reply in found.items()} in ({}, right)
    assert len(found) + sum(number for number, _ in left_out.values()) == 6


def test_one_record_of_a_pair_is_not_enough_to_know_how_the_harness_counts(mmvp, tmp_path):
    found, left_out = joined(tmp_path, mmvp, {**mmvp_samples()[1], "target": ""})
    assert found == {}
    assert [why for why in left_out if "nothing names its image" in why]


def test_the_benchmarks_own_number_is_enough_for_one_record(tmp_path):
    planned = own(tmp_path, *({**asked(f"a{n}.jpg", "Is it red?"), "id": str(n)} for n in range(1, 5)))
    found, _ = joined(tmp_path, planned, {"question_id": 2, "question": "Is it red?", "prediction": "Yes"})
    assert found == {("a2.jpg", "Is it red?"): "Yes"}
    found, left_out = joined(tmp_path, planned, {"doc_id": 2, "input": "Is it red?", "resps": [["Yes"]]})
    assert found == {}
    assert [why for why in left_out if "nothing names its image" in why]


def test_options_in_another_order_are_left_out_because_letters_mean_others_then(mmvp, tmp_path):
    rows = mmvp_samples()
    rows[2:4] = [mmvp_sample(index, PAIRS[1][0], PAIRS[1][:0:-1], target="BA"[index % 2]) for index in (2, 3)]
    found, left_out = joined(tmp_path, mmvp, *rows)
    assert len(found) == 4
    assert left_out["it lists the options in another order than the benchmark"][0] == 2


def test_columns_of_options_count_as_listed_ones(mmvp, tmp_path):
    rows = [
        dict(zip(("question", "A", "B"), PAIRS[index // 2], strict=True))
        | {"index": index + 1, "answer": "AB"[index % 2], "prediction": f"reply {index}"}
        for index in range(6)
    ]
    found = join(recordings(write_table(tmp_path / "Qwen_MMVP.tsv", rows, "\t")), mmvp)
    assert {key[1]: record.reply for key, record in found.rows.items()} == {
        f"{index + 1}.jpg": f"reply {index}" for index in range(6)
    }
    turned = [{**row, "A": row["B"], "B": row["A"], "answer": "BA"["AB".index(row["answer"])]} for row in rows]
    found = join(recordings(write_table(tmp_path / "turned.tsv", turned, "\t")), mmvp)
    assert (found.rows, found.left_out["it lists the options in another order than the benchmark"][0]) == ({}, 6)


@pytest.fixture
def naturalbench(tmp_path):
    (tmp_path / "data" / "naturalbench").mkdir(parents=True)
    images = {f"Image_{which}": {"bytes": b"x", "path": None} for which in (0, 1)}
    answers = {f"Image_{i}_Question_{q}": "Yes" if i == q else "No" for i in (0, 1) for q in (0, 1)}
    rows = [
        {"Index": number, "Question_Type": "yes_no", **images, **answers}
        | {f"Question_{q}": f"Is cat {number} {state}?" for q, state in enumerate(("asleep", "awake"))}
        for number in range(4)
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "data" / "naturalbench" / "test.parquet")
    return tasks(tmp_path / "data")


ORDER = [(0, 0), (0, 1), (1, 0), (1, 1)]
"""Question and image of the four records of a group, as NaturalBench-lmms-eval and the .tsv of VLMEvalKit have them."""


@pytest.mark.parametrize("harness", ["lmms-eval", "VLMEvalKit"])
def test_crossed_questions_are_told_apart_by_the_released_number(naturalbench, tmp_path, harness):
    rows, expected = [], {}
    for index in range(16):
        group, (question, image) = index // 4, ORDER[index % 4]
        text = f"Is cat {group} {('asleep', 'awake')[question]}?"
        expected[group, image, text] = f"reply {index}"
        truth = "Yes" if image == question else "No"
        if harness == "lmms-eval":
            row = {"doc_id": index, "target": truth, "filtered_resps": [f"reply {index}"]}
            facts = {"id": str(index), "score": 1}
            rows.append({**row, "input": f"{text} Please answer Yes or No.", "naturalbench_G_ACC": facts})
        else:
            row = {"index": index, "question": text, "answer": truth, "type": "yes_no"}
            rows.append({**row, "prediction": f"reply {index}"})
    found, left_out = joined(tmp_path, naturalbench, *rows)
    assert {
        (int(image.split("_")[1]), int(image[-1]), text): reply for (image, text), reply in found.items()
    } == expected
    assert left_out == {}


def test_an_image_is_known_by_its_folder_if_two_have_its_name(tmp_path):
    planned = own(
        tmp_path,
        asked("MME/existence/0001.png", "Is there a cup?"),
        asked("MME/count/0001.png", "Is there a cup?", "no"),
        asked("MME/count/0002.png", "Are there two cups?"),
    )
    rows = [
        {"question_id": "existence/0001.png", "prompt": f"Is there a cup?\n{SHORT}", "text": "Yes", "answer_id": "a"},
        {"question_id": "count/0001.png", "prompt": f"Is there a cup?\n{SHORT}", "text": "No", "answer_id": "b"},
    ]
    found, _ = joined(tmp_path, planned, *rows)
    assert found == {
        ("MME/existence/0001.png", "Is there a cup?"): "Yes",
        ("MME/count/0001.png", "Is there a cup?"): "No",
    }
    found, left_out = joined(tmp_path, planned, {"image": "0001.png", "question": "Is there a cup?", "response": "Yes"})
    assert found == {}
    assert list(left_out) == ["several planned requests fit it"]


def test_images_that_are_numbered_like_the_records_join_only_if_they_fit(tmp_path):
    planned = own(tmp_path, *(asked(f"{n}.jpg", ("Is it red?", "Is it big?")[n % 2]) for n in range(1, 9)))
    questions = {n: ("Is it red?", "Is it big?")[n % 2] for n in range(1, 9)}
    rows = [
        {"index": n, "image_path": f"POPE/{n}.jpg", "question": text, "prediction": f"{n}"}
        for n, text in questions.items()
    ]
    found, _ = joined(tmp_path, planned, *rows)
    assert found == {(f"{n}.jpg", text): f"{n}" for n, text in questions.items()}
    found, left_out = joined(tmp_path, planned, *({**row, "question": "Is it red?"} for row in rows))
    assert found == {}
    assert [why for why in left_out if "a number for a name" in why]


def test_names_of_images_that_are_not_the_benchmarks_do_not_hinder_its_numbers(tmp_path):
    planned = own(tmp_path, *({**asked(f"a{n}.jpg", "Is it red?"), "id": str(n)} for n in range(1, 5)))
    rows = [
        {"question_id": n, "image": f"x{n}f.png", "question": "Is it red?", "prediction": f"{n}"} for n in range(1, 5)
    ]
    assert joined(tmp_path, planned, *rows)[0] == {(f"a{n}.jpg", "Is it red?"): f"{n}" for n in range(1, 5)}
    found, left_out = joined(tmp_path, planned, {**rows[0], "question_id": 9})
    assert found == {}
    assert list(left_out) == ["no planned case asks its question of its image"]


def test_a_name_that_a_file_has_in_several_folders_needs_its_folder(tmp_path):
    planned = own(tmp_path, asked("MME/count/0001.png", "Is there a cup?"))
    rows = [
        {"image": f"{folder}/0001.png", "question": "Is there a cup?", "prediction": folder}
        for folder in ("existence", "count", "scene")
    ]
    assert joined(tmp_path, planned, *rows)[0] == {("MME/count/0001.png", "Is there a cup?"): "count"}
    assert joined(tmp_path, planned, rows[0], rows[2])[0] == {}


def in_order(folder, texts, unanswered=()):
    """The joins of questions without images, each answered by its number, with a planned case for each."""
    planned = own(folder, *(asked(f"a{n}.jpg", text) for n, text in enumerate(texts)))
    rows = [{"question": text, "prediction": None if n in unanswered else f"{n}"} for n, text in enumerate(texts)]
    return joined(folder, planned, *rows)


def test_the_order_joins_and_records_without_a_reply_do_not_shift_it_but_not_if_several_shifts_fit(tmp_path):
    texts = [f"Is it {colour}?" for colour in ("red", "big", "red", "red", "big", "old", "red", "new", "red")]
    found, _ = in_order(tmp_path, texts, unanswered=[1])
    assert {key[0]: reply for key, reply in found.items()} == {f"a{n}.jpg": f"{n}" for n in range(9) if n != 1}
    found, left_out = in_order(tmp_path, ["Is it red?", "Is it big?"] * 20)
    assert (found, left_out["several planned requests fit it"][0]) == ({}, 40)


def test_the_text_files_of_mme_are_joined_with_own_cases(tmp_path):
    planned = own(
        tmp_path, asked("a1.jpg", "Is it a cat? Please answer yes or no."), asked("a2.jpg", "Is it a cat?", "no")
    )
    items = [
        {"image": f"a{number}.jpg", "question": "Is it a cat?", "truth": "Yes", "reply": reply}
        for number, reply in ((1, "Yes"), (2, "Well.\nI see a dog.\n\nNo."))
    ]
    found = join(recordings(mme(tmp_path, items)), planned)
    assert {key[1]: row.reply for key, row in found.rows.items()} == {"a1.jpg": "Yes", "a2.jpg": items[1]["reply"]}
    assert found.differing == ["existence.txt, line 2"]


CUT_OFF, SAYS_MORE = ([row for [row] in table(HERE / f"{name}.tsv")] for name in ("cut_off", "says_more"))


@pytest.mark.parametrize("prompt", CUT_OFF + SAYS_MORE)
def test_what_a_harness_writes_around_a_question_is_cut_off_but_a_prompt_that_says_more_left_out(prompt, tmp_path):
    planned = own(tmp_path, asked("1.jpg", "Is there a cup?"), asked("1.jpg", "Is there a cup of tea?"))
    found, left_out = joined(tmp_path, planned, {"image": "x/1.jpg", "prompt": prompt, "output": " **Yes** \n"})
    assert found == ({("1.jpg", "Is there a cup?"): " **Yes** \n"} if prompt in CUT_OFF else {})
    assert sum(number for number, _ in left_out.values()) == (prompt in SAYS_MORE)


def test_words_that_a_file_has_around_many_questions_are_its_instruction(tmp_path):
    planned = own(tmp_path, *(asked(f"{n}.jpg", "Is there a cup?") for n in range(4)))
    rows = [
        {"image": f"{n}.jpg", "prompt": "Be a careful observer. Is there a cup?", "output": f"{n}"} for n in range(3)
    ]
    found, left_out = joined(
        tmp_path, planned, *rows, {"image": "3.jpg", "prompt": "Is there a cup? And a dog?", "output": "3"}
    )
    assert found == {(f"{n}.jpg", "Is there a cup?"): str(n) for n in range(3)}
    assert list(left_out) == ["its prompt says more than the question: 'and a dog?'"]


def test_a_second_question_in_all_prompts_is_not_taken_for_an_instruction(tmp_path):
    planned = own(tmp_path, *(asked(f"a{n}.jpg", "Is there a cup?") for n in range(9)))
    rows = [{"image": f"a{n}.jpg", "prompt": "Is there a cup? Is it red?", "output": "No"} for n in range(9)]
    found, left_out = joined(tmp_path, planned, *rows)
    assert (found, [number for number, _ in left_out.values()]) == ({}, [9])


def test_a_question_that_one_image_has_is_enough_but_not_if_its_right_answer_is_another(tmp_path):
    planned = own(tmp_path, asked("1.jpg", "Is there a cup?"), asked("2.jpg", "Is there a dog?", "no"))
    rows = [
        {"question": "Is there a cup?", "prediction": "Yes", "label": "yes"},
        {"question": "Is there a dog?", "prediction": "No", "label": "yes"},
    ]
    found, left_out = joined(tmp_path, planned, *rows[::-1])
    assert found == {("1.jpg", "Is there a cup?"): "Yes"}
    assert list(left_out) == ["the right answer to its question is another one"]


def test_two_different_replies_to_one_request_are_an_error_and_a_perturbed_image_has_none_about_the_original(tmp_path):
    planned = own(tmp_path, asked("1.jpg", "Is it red?"))
    rows = [{"image": "1.jpg", "question": "Is it red?", "prediction": reply} for reply in ("Yes", "Yes ", "No")]
    assert joined(tmp_path, planned, *rows[:2])[0] == {("1.jpg", "Is it red?"): "Yes"}
    with pytest.raises(OptionError, match=r"line 1 and replies.jsonl, line 3 contradict.*'Yes' and 'No'"):
        joined(tmp_path, planned, *rows)
    planned = own(tmp_path, {"image": "1.jpg", "question": "Is it red?", "answer": "yes", "box": [0, 0, 8, 8]})
    assert "#" in planned[0].cases[0].requests[0].image.key
    found, left_out = joined(tmp_path, planned, {"image": "1.jpg", "question": "Is it red?", "prediction": "Yes"})
    assert found == {}
    assert list(left_out) == ["the planned cases ask its question of a changed image"]


def test_records_of_other_categories_do_not_contradict_those_of_the_planned_one(tmp_path):
    cases = asked("1.jpg", "Is it red?"), asked("2.jpg", "Is it big?")
    planned = own(tmp_path, *({**case, "task": "mine/random"} for case in cases))
    rows = [
        {"image": "1.jpg", "question": "Is it red?", "prediction": reply, "category": category}
        for reply, category in (("No", "popular"), ("Yes", "random"))
    ]
    found, left_out = joined(tmp_path, planned, *rows)
    assert found == {("1.jpg", "Is it red?"): "Yes"}
    assert list(left_out) == ["a record of the task's own category has another reply"]


def test_scores_of_pairs_are_joined_too(tmp_path):
    planned = own(tmp_path, {"image": "1.jpg", "caption": "A red cup.", "foil": "A blue cup."})
    rows = [
        {"filename": "COCO/1.jpg", "caption": "a red cup", "similarity": 0.31},
        {"filename": "COCO/1.jpg", "caption": "A blue cup.", "similarity": "0.25"},
        {"filename": "COCO/1.jpg", "caption": "A green cup.", "similarity": 0.1},
        {"filename": "COCO/1.jpg", "caption": "A red cup.", "similarity": None},
    ]
    found = join(recordings(write_lines(tmp_path / "scores.jsonl", rows)), planned)
    assert {key: record.score for key, record in found.rows.items()} == {
        ("score", "1.jpg", "A red cup."): 0.31,
        ("score", "1.jpg", "A blue cup."): 0.25,
    }
    assert json.dumps(found.left_out).count("[1,") == 2
