"""Which data folder is proposed for one that holds no data."""

import json
import re
from pathlib import Path

import pytest

from vlgate.__main__ import main
from vlgate.errors import OptionError, VlgateError
from vlgate.record.options import Options
from vlgate.run.planning import known_tasks, make_plan
from vlgate.sources.data_folders import another_folder

PAIR = {"task": "mine/a", "image": "photos/1.png", "caption": "a cup", "foil": "a hat"}


@pytest.fixture
def tmp_path(tmp_path):
    """Two folders below the tests' own, in which other tests may leave what looks like data."""
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("data/photos/2024/1.png", "data/cases.jsonl", "data/valse/x.txt"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(json.dumps(PAIR))
    return Path("data")


def options(**given):
    return Options(folder=Path(), thresholds=Path("thresholds.toml"), results=Path("results"), **given)


def why(data, suite=()):
    with pytest.raises(OptionError) as caught:
        make_plan(options(data=tuple(map(Path, data)), suite=tuple(suite)))
    return str(caught.value)


def test_the_folder_above_or_below_is_proposed(data, capsys):
    for inside in ("data/photos", "data/photos/2024", "data/valse", "./data/photos/"):
        assert why([inside]).endswith(f"{Path(inside)} looks like a part of a data folder: did you mean --data data?")
    whole = data.absolute() / "photos"
    assert why([whole]).endswith(f"did you mean --data {data.absolute()}?")
    assert why(["."]).endswith("data looks like a data folder: did you mean --data data?")
    with pytest.raises(VlgateError, match=r"'mine/\*'.*photos looks like a part of a data folder: did you mean --data"):
        known_tasks(options(data=(data / "photos",), suite=("mine/*",)))
    assert main(["check", f"--data={data}/photos"]) == 4
    assert "/data?" in capsys.readouterr().err


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(("file", "folder"), [("data/cases.jsonl", "data"), ("data/cases/a.csv", "data")])
def test_the_folder_of_a_file_is_proposed(file, folder, capsys):
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).touch()
    expected = f"{file} is a file: did you mean --data {folder}?"
    with pytest.raises(VlgateError, match=re.escape(expected)):
        known_tasks(options(data=(Path(file),)))
    assert main(["check", f"--data={file}"]) == 4
    assert expected in capsys.readouterr().err.replace(f"{Path.cwd()}/", "")


@pytest.mark.parametrize("name", ["mine.jsonl", "case.json", "Cases.csv", "questions.tsv"])
def test_a_file_of_cases_under_another_name_is_named(tmp_path, name):
    (tmp_path / name).touch()
    end = name.rpartition(".")[2]
    rename = f"call it {tmp_path}/cases.{end}, or put it into {tmp_path}/cases"
    assert why([tmp_path]).endswith(f"{tmp_path / name} is not read under this name: {rename}")


def test_an_empty_folder_and_one_of_images_alone(tmp_path):
    message = why([tmp_path])
    assert "and no cases.jsonl of your own" in message
    assert message.endswith("name the folder that holds them with --data DIR or VLGATE_DATA")
    assert another_folder([tmp_path]) == another_folder([tmp_path / "none"]) == ""
    (tmp_path / "1.JPG").touch()
    assert why([tmp_path]).endswith(f"{tmp_path} holds images, but no cases: write them to {tmp_path}/cases.jsonl")


def test_an_unknown_task_is_answered_with_the_files_of_own_cases_and_no_task_of_another_benchmark(data, capsys):
    (data / "case.jsonl").write_text(json.dumps(PAIR | {"task": "mine/relations"}))
    with pytest.raises(VlgateError) as caught:
        known_tasks(options(data=(data,), suite=("mine/relations",)))
    assert "valse" not in str(caught.value)
    misnamed = "data/case.jsonl is not read under this name: call it data/cases.jsonl, or put it into data/cases"
    assert str(caught.value).endswith(f" (own cases were read from data/cases.jsonl; {misnamed})")
    (data / "cases.jsonl").unlink()
    with pytest.raises(VlgateError, match=r" \(own cases were read from none of cases\.jsonl, .*; data/case"):
        known_tasks(options(data=(data,), suite=("mine/relations",)))
    assert main(["check", "--data=data"]) == 4
    assert misnamed in capsys.readouterr().err.replace(f"{Path.cwd()}/", "")
    (data / "case.jsonl").rename(data / "cases.jsonl")
    assert main(["check", "--data=data", "--suite=mine/relation"]) == 4
    assert "did you mean 'mine/relations'?" in capsys.readouterr().err


@pytest.mark.usefixtures("data")
def test_a_pattern_without_data_beside_one_with_data():
    message = why(["data"], ["mine/*", "pope/*"])
    assert message.startswith("found no data for pope/* in data, only for mine/*; leave pope/* out of --suite, or name")
    assert "nothing to ask" not in message
    assert why(["data"], ["pope/*", "mine/*", "aro/*"]).startswith("found no data for pope/* in data, only for mine/*;")
    assert why(["data"], ["pope/*", "aro/*"]).startswith("there is nothing to ask: found no data for pope/* in data;")
