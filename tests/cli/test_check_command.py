"""``vlgate check``: everything that is wrong with data folders and thresholds, at once and without a model."""

import json

import pytest
from builders import tabled
from PIL import Image

from tests.plugin.conftest import RECORD
from vlgate.cli import main
from vlgate.making.kinds.kind import KINDS

PAIR = {"task": "mine/pairs", "image": "photos/1.jpg", "caption": "a cup", "foil": "a dog"}
ALL_WELL = "1 tasks, 1 cases, 0 wrong"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VLGATE_DATA", raising=False)
    folder = tmp_path / "data"
    (folder / "photos").mkdir(parents=True)
    Image.new("RGB", (64, 48)).save(folder / "photos/1.jpg")
    return folder


def own(data, *rows, name="cases.jsonl"):
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (data / name).write_text("\n".join(lines) + "\n")


def checked(capsys, *arguments):
    status = main(["check", *map(str, arguments)])
    said = capsys.readouterr()
    return status, said.out.splitlines(), said.err


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "questions"])
def test_a_made_set_in_a_data_folder_is_read_whatever_its_kind(data, capsys, kind):
    cases = data / kind / "cases" / f"{kind}.jsonl"
    cases.parent.mkdir(parents=True)
    own(cases.parent, PAIR | {"task": f"made/{kind}"}, name=cases.name)
    for name in ("bias.json", "why.jsonl"):
        (data / kind / name).write_text("{}\n")
    assert checked(capsys, "--data", data)[:2] == (0, [f"made/{kind}: 1 of 1 cases have their image", ALL_WELL])
    (data / "cases").mkdir()
    own(data / "cases", PAIR | {"task": f"made/{kind}", "foil": "a mended hat"}, name=cases.name)
    assert checked(capsys, "--data", data)[1][-1] == ALL_WELL  # the copy is read, and the set is not
    (data / "cases" / cases.name).unlink()
    (data / kind / "bias.json").unlink()
    assert f"made/{kind}" not in " ".join(checked(capsys, "--data", data)[1])


def wrong(lines):
    return [line for line in lines if line.startswith("wrong: ")]


@pytest.mark.usefixtures("data")
def test_a_folder_without_its_option_is_answered_with_the_option(capsys):
    for words, ends in (("data", "data; for a data folder, write --data data\n"), ("no-folder", ": no-folder\n")):
        with pytest.raises(SystemExit) as ended:
            main(["check", words])
        assert (ended.value.code, capsys.readouterr().err.endswith(ends)) == (4, True)


def test_data_in_order_end_with_0_and_flaws_and_disputed_labels_are_told(data, capsys):
    own(data, PAIR, PAIR | {"task": "mine/other"})
    status, lines, _ = checked(capsys, "--data", data)
    assert status == 0
    assert "mine/pairs: 1 of 1 cases have their image" in lines
    assert "mine/other: 1 of 1 cases have their image" in lines
    assert wrong(lines) == []
    tasks = [PAIR | {"task": f"mine/{name}"} for name in ("more", "other")]
    own(data, *[task | said for task in tasks for said in ({}, {"caption": "a dog", "foil": "a cat"})], tasks[1])
    status, lines, _ = checked(capsys, "--data", data)
    assert status == 0
    true, copies, twice = [line for line in lines if "flaw" in line]
    assert true.startswith(
        "flaw of the data: 3 x true foil in mine/more, mine/other: the task has the foil as a caption "
    )
    assert true.endswith("; for example cases on line 1")
    assert copies.startswith("flaw of the data: 5 x near-copy in mine/more, mine/other: in mine/more, nearly the same ")
    assert twice.startswith("flaw of the data: 1 x duplicate in mine/other: an earlier case asks the same of the same ")
    (data / "whatsup").mkdir()
    texts = {side: [f"a pillow {word}" for word in (side, "on", "under", "by")] for side in ("left", "right")}
    path = "data/controlled_images/pillow_{}_of_chair.jpeg"
    rows = [{"image_path": path.format(side), "caption_options": options} for side, options in texts.items()]
    (data / "whatsup/controlled_images_dataset.json").write_text(json.dumps(rows))
    _, lines, _ = checked(capsys, "--data", data)
    assert "whatsup/a: others report labels of its cases (2 broken); --disputes known corrects or drops them" in lines


def test_every_wrong_line_of_own_cases_record_of_a_benchmark_and_fault_of_a_graph_is_listed(data, capsys):
    missing = {name: value for name, value in PAIR.items() if name != "caption"}
    changes = ({"foli": "x"}, {"task": "valse/mine"}, {"image": "../1.jpg"})
    own(data, missing, PAIR, '{"task": ', *(PAIR | change for change in changes))
    status, lines, _ = checked(capsys, "--data", data)
    assert status == 1
    for number in (1, 3, 4, 5, 6):
        [line] = [line for line in wrong(lines) if f"line {number}," in line or f"line {number}:" in line]
        assert str(data / "cases.jsonl") in line
        assert "; " in line  # what to do
    assert len(wrong(lines)) == 5
    assert "mine/pairs: 1 of 1 cases have their image" in lines
    (data / "valse").mkdir()
    texts = {"image_file": "v7w_1.jpg", "caption": "There are no dogs.", "foil": "There are dogs."}
    records = {f"record_{n}": RECORD | texts for n in range(5)}
    del records["record_1"]["caption"], records["record_3"]["foil"]
    records["record_4"]["mturk"] = {}
    (data / "valse/existence.json").write_text(json.dumps(records))
    (data / "valse/plurals.json").write_text("[")
    own(data, PAIR)
    status, lines, _ = checked(capsys, "--data", data, "--suite", "valse/*,mine/*")
    assert status == 1
    for told in ("record record_1", "record record_3", "record record_4", "plurals.json"):
        assert any(told in line for line in wrong(lines)), told
    assert "mine/pairs: 1 of 1 cases have their image" in lines
    assert any(line.startswith("valse/existence: 0 of 2 cases have their image") for line in lines)
    (data / "scene-graphs").mkdir()
    things = [{"id": "1", "name": "cup", "box": [4, 4, 100, 20]}, {"id": "2", "name": "dog", "box": [4, 4, 0, 9]}]
    graph = {"image": "photos/1.jpg", "objects": things, "imagee": 1}
    (data / "scene-graphs/own.json").write_text(json.dumps({"graphs": [graph]}))
    own(data, PAIR)
    status, lines, _ = checked(capsys, "--data", data)
    assert status == 1
    for said in ("'1': has a box outside the image", "'2': has a box without", "imagee' (did you mean 'image'?);"):
        assert sum(said in line and "own.json" in line for line in wrong(lines)) == 1, said


def test_every_error_of_the_thresholds_is_listed(data, tmp_path, capsys):
    own(data, PAIR)
    text = """
    schema = 1
    frobnicate = 2
    [defaults]
    confidence = 7
    [gate."mine/pairs".acc_r]
    min = 3
    [gate."mine/pears".acc_r]
    min = 0.5
    [gate."valse/*".acc_q]
    min = 0.5
    [gate."valse/existence".acc_r]
    min = 0.5
    """
    file = tmp_path / "gates.toml"
    file.write_text(text)
    status, lines, _ = checked(capsys, "--data", data, "--thresholds", file)
    assert status == 1
    for told in ("'frobnicate'", "confidence = 7", "min = 3", "did you mean 'mine/pairs'", "'acc_q'"):
        assert sum(told in line and str(file) in line for line in wrong(lines)) == 1, told
    assert len(wrong(lines)) == 5


@pytest.mark.parametrize(
    "arguments", [("--data", "nowhere"), ("--data", "data", "--suite", "mine/pear"), ("--data", ".")]
)
def test_a_wrong_option_ends_with_4(data, capsys, arguments):
    own(data, PAIR)
    status, _, err = checked(capsys, *arguments)
    assert status == 4
    assert err.startswith("vlgate check: ")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"x = {'[' * 700}{']' * 700}\n", "is nested too deeply"),
        ('schema = 1\n[defaults]\nmust_hold = "a\\u0000b"\n', "cannot be read"),
        ('schema = 1\n[defaults]\nmust_hold = "/dev/zero"\n', "is not a regular file"),
        ('schema = 1\n[gate."scenes/foil-it".acc_r]\nmin = "\\u001b[31m"\n', "\\x1b[31m"),
        (f'schema = 1\n[gate."scenes/foil-it".acc_r]\nmin = "{"x" * 9000}"\n', "(9,002 characters)"),
        (f"schema = 1\n[defaults]\nmin_cases = {'9' * 400}\n", "more than 64 bits"),
        ('schema = 1\n[gate."scenes/foil-it"."a\\u0000"]\nmin = 0.1\n', "\\x00"),
    ],
)
def test_a_thresholds_file_that_no_one_wrote_by_hand_ends_in_one_line(tmp_path, text, says, capsys):
    file = tmp_path / "t.toml"
    file.write_text(text)
    main(["check", "--suite=scenes/foil-it", f"--thresholds={file}"])
    wrong = [line for line in capsys.readouterr().out.split("\n") if line.startswith("wrong: ")]
    assert len(wrong) == 1
    assert says in wrong[0]
    assert wrong[0].isprintable()
    assert len(wrong[0]) < 1000


@pytest.mark.parametrize(
    ("rows", "lines", "said"), [(3, 3, "record on line 1"), (9, 1, "9 records, the first on line 1")]
)
def test_rows_that_all_lack_a_column_have_one_line_with_their_number(data, rows, lines, said, capsys):
    row = {name: value for name, value in PAIR.items() if name != "image"}
    own(data, *[{**row, "id": str(n)} for n in range(rows)], PAIR, PAIR | {"image": "photos/2.jpg"})
    status, told, _ = checked(capsys, f"--data={data}")
    found = [line for line in wrong(told) if "'image'" in line]
    assert (status, len(found), said in found[0]) == (1, lines, True)
    [line] = [line for line in wrong(told) if "mine/pairs: 1 of 2 cases lacks its image (photos/2.jpg)" in line]
    assert f"{data}/photos/2.jpg" in line


@tabled
def test_few_missing_images_are_wrong_and_named(data, gone, says, capsys):
    own(data, *[PAIR | {"image": f"photos/gone-{n}.jpg"} for n in range(gone)], *[PAIR] * (104 - gone))
    status, told, _ = checked(capsys, f"--data={data}")
    assert f"mine/pairs: {104 - gone} of 104 cases have their image" in told
    [line] = wrong(told)
    assert line.startswith(f"wrong: mine/pairs: {says}")
    assert status == 1


def test_more_records_than_are_listed_speak_of_no_release(data, capsys):
    own(data, *[PAIR | {"image": f"/away/{n}.jpg"} for n in range(60)])
    status, told, _ = checked(capsys, f"--data={data}")
    assert any(line.endswith("10 more records cannot be read; mend the first ones, and check again") for line in told)
    assert not any("release" in line for line in told)
    assert status == 1


def test_files_that_are_no_images_or_cut_off_are_wrong_and_named(data, capsys):
    whole = {end: data / f"photos/whole.{end}" for end in ("jpg", "png", "webp", "gif", "bmp", "tiff")}
    pixels = Image.effect_noise((90, 60), 60).convert("RGB")
    for file in whole.values():
        pixels.save(file)
    with (data / "photos/whole.jpg").open("ab") as stream:
        stream.write(b"a trailer, as some phones write it")
    own(data, *[PAIR | {"image": f"photos/{file.name}"} for file in whole.values()], *[PAIR] * 2)
    assert checked(capsys, f"--data={data}")[0] == 0
    bad = {"empty": b"", "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "page": b"<html>"}
    bad |= {f"cut {end}": whole[end].read_bytes()[: 1000 - len(end)] for end in ("jpg", "png", "webp", "gif", "bmp")}
    bad |= {f"cut {end} at its end": whole[end].read_bytes()[:-40] for end in ("jpg", "png")}
    for name, content in bad.items():
        (data / f"photos/{name}").write_bytes(content)
    own(data, *[PAIR | {"image": f"photos/{name}"} for name in bad], PAIR)
    status, told, _ = checked(capsys, f"--data={data}")
    [broken, pointer, page] = wrong(told)
    assert broken.startswith("wrong: 8 images cannot be decoded (photos/empty, photos/cut jpg, photos/cut png, ...)")
    assert broken.endswith("is empty; replace the file, or download it again")
    assert pointer.endswith("fetch the file with git lfs pull")
    assert page.endswith("download the image that it shows")
    assert status == 1
