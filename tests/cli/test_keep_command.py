"""The command that keeps the finds of a search as own cases."""

import json

import pytest
from builders import read_lines, tabled, write_lines
from PIL import Image

from vlgate.cli import main
from vlgate.probes.shrink.record import NotKeptError, own_case
from vlgate.sources.own.cases import read
from vlgate.sources.reading.source import ReadOptions

SHAPES = {"pair": 2, "choice": 3, "image_choice": 3, "quad": 4, "set": 4, "active_passive_set": 4, "two_true": 3}
SHAPES |= {"single": 1, "questions": 2, "question_quad": 4, "twin_questions": 2}
ASKED = {"questions", "question_quad", "twin_questions"}


def find_of(shape, number, *, case="1", texts=None):
    """A find as ``shrunk.jsonl`` has it; the images of a quad and of twins are two."""
    same = shape in {"pair", "choice", "set", "active_passive_set", "two_true", "single"}
    rows = []
    for index in range(number):
        which = 0 if same else index // 2 if number == 4 else index
        number_of_text = index % 2 if shape.endswith("quad") else index
        text = {"image_choice": "a", "twin_questions": "What is it?"}.get(shape, f"text {number_of_text}")
        row = {"text": "before", "changed_text": text if texts is None else texts[index]}
        row |= {"picture": f"shrunk/before-{which}.png", "changed_picture": f"shrunk/after-{which}.png"}
        answer = "no" if index in (1, 2) else "yes"
        asked = {"truth": answer, "changed_choices": ["yes", "no"]}
        rows.append(row | (asked if shape in ASKED else {"truth": index == 0, "changed_choices": []}))
    cause = {"edit": "moved", "what": "another thing", "faculty": "relations"}
    find = {"task": f"b/{shape}", "case": case, "shape": shape, "capability": "directional"}
    return {**find, "requests": rows, "cause": cause}


@pytest.fixture
def run(tmp_path):
    def write(*finds):
        folder = tmp_path / "run"
        (folder / "shrunk").mkdir(parents=True, exist_ok=True)
        for index in range(3):
            Image.new("RGB", (8, 6), (index * 40, 0, 0)).save(folder / f"shrunk/after-{index}.png")
        write_lines(folder / "shrunk.jsonl", finds)
        return folder

    return write


def kept(folder):
    options = ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True)
    return {task.id: task for task in read(options)}


def test_finds_of_every_shape_are_read_as_own_cases(run, tmp_path, vlgate):
    folder = run(*(find_of(shape, number) for shape, number in SHAPES.items()))
    assert f"{len(SHAPES)} of them new" in vlgate(
        "make", "kept", "--from", folder, "--out", tmp_path / "kept/cases.jsonl"
    )
    tasks = kept(tmp_path / "kept")
    assert set(tasks) == {f"kept/b/{shape}" for shape in SHAPES}
    for shape, number in SHAPES.items():
        [case] = tasks[f"kept/b/{shape}"].cases
        assert tasks[f"kept/b/{shape}"].shape == shape.removeprefix("active_passive_")
        assert len(case.requests) == number
        assert case.requests[0].image.load().size == (8, 6)
        assert case.tags == {"edit": "moved", "what": "another thing"}


def test_what_is_kept_stays_and_nothing_is_kept_twice(run, tmp_path, capsys, vlgate):
    out = tmp_path / "kept/cases/found.jsonl"
    main(["make", "kept", "--from", str(run(find_of("pair", 2))), "--out", str(out)])
    first = out.read_text()
    folder = run(find_of("pair", 2), find_of("pair", 2, case="2"))
    capsys.readouterr()
    assert "2 cases, 1 of them new; 1 finds were there already" in vlgate(
        "make", "kept", "--from", folder, "--out", out
    )
    assert out.read_text().startswith(first)
    assert len(out.read_text().splitlines()) == 2
    held = [(line["task"], line["case"].partition("-")[0]) for line in read_lines(tmp_path / "kept/must-hold.jsonl")]
    assert held == [("kept/b/pair", "1"), ("kept/b/pair", "2")]
    assert len(list((tmp_path / "kept/kept-images").iterdir())) == 1


def test_finds_that_no_own_case_can_say_are_counted(run, tmp_path, vlgate):
    twins = find_of("twin_questions", 2, texts=["What is it?", "What can it be?"])
    same_texts, separated = (
        find_of("pair", 2, texts=texts) for texts in (["A dog.", "a dog"], ["A dog.\u2028Here.", "A."])
    )
    said = vlgate(
        "make",
        "kept",
        "--from",
        run(find_of("image_quad", 4), twins, same_texts, separated),
        "--out",
        tmp_path / "cases.jsonl",
    )
    assert "1 cases, 1 of them new" in said  # a line separator in a caption makes no second line
    assert "1 finds are not kept: there is no own case of the shape 'image_quad'" in said
    assert "1 finds are not kept: own twins have one question about both images" in said
    assert "1 finds are not kept: own cases refuse such a line: " in said


@tabled
def test_a_find_that_own_cases_would_refuse_is_not_kept(shape, number, change, says):
    find = find_of(shape, number)
    find["requests"] = [row | change for row in find["requests"]]
    with pytest.raises(NotKeptError, match=says):
        own_case(find, str)


def test_nothing_found_leaves_nothing_to_keep_and_kept_twins_have_the_usual_image_as_their_twin(run, tmp_path, vlgate):
    folder = run()
    assert "has no find, so that there is nothing to keep" in vlgate(
        "make", "kept", "--from", folder, "--out", tmp_path / "cases.jsonl"
    )
    assert not (tmp_path / "cases.jsonl").exists()
    out = tmp_path / "cases.jsonl"
    main(["make", "kept", "--from", str(run(find_of("twin_questions", 2))), "--out", str(out)])
    [line] = map(json.loads, out.read_text().splitlines())
    [task] = read(ReadOptions(folders=(tmp_path,), seed=0, wanted=lambda _: True))
    assert task.cases[0].truths == ("yes", "no")  # as in the find: of the usual image first
    assert (line["answer"], line["prior"]) == ("no", "yes")


@pytest.mark.parametrize("spoil", ["not an image", "a link", "not there"])
def test_a_file_that_is_no_image_of_the_run_is_not_kept(run, tmp_path, capsys, spoil):
    folder = run(find_of("pair", 2))
    secret = tmp_path / "secret"
    secret.write_text("a key")
    for image in (folder / "shrunk").iterdir():
        image.unlink()
        if spoil == "not an image":
            image.write_text("junk")
        elif spoil == "a link":
            image.symlink_to(secret)
    assert main(["make", "kept", "--from", str(folder), "--out", str(tmp_path / "kept/cases.jsonl")]) == 4
    assert "1 finds are not kept: an image of the find" in capsys.readouterr().out
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize(
    ("line", "out", "said"),
    [
        (None, "cases.jsonl", "shrunk.jsonl: is not there; run pytest -m shrink --results="),
        ("{", "cases.jsonl", "record on line 1: is not JSON"),
        ("[]", "cases.jsonl", "record on line 1: lacks task, case, shape"),
        (json.dumps({**find_of("pair", 2), "requests": 3}), "cases.jsonl", "the find b/pair:1 is damaged"),
        (json.dumps(find_of("pair", 2)), "other.jsonl", "expected cases.jsonl, or cases/NAME.jsonl, in a data folder"),
    ],
)
def test_what_cannot_be_kept_ends_with_status_4(run, tmp_path, vlgate, line, out, said):
    folder = run()
    (folder / "shrunk.jsonl").unlink()
    if line is not None:
        (folder / "shrunk.jsonl").write_text(line)
    assert said in vlgate("make", "kept", "--from", folder, "--out", tmp_path / out, status=4)
    assert not (tmp_path / out).exists()
