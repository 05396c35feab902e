"""``vlgate cache``: what is kept, by model, and how to remove it."""

import json
import time

import pytest

from vlgate.asking.cache.store import NAME, Store, connect
from vlgate.cli import main

CLIP, LXMERT = "clip 0123456789ab float32 cpu", "lxmert ba9876543210 float32 cpu"


@pytest.fixture
def folder(tmp_path):
    store = Store(tmp_path)
    store.put(CLIP, {bytes([n]) * 16: b"a reply" for n in range(200)})
    store.put(LXMERT, {bytes([n]) * 16: b"another" for n in range(200, 210)})
    store.close()
    return tmp_path


def rows(folder, capsys, *arguments):
    capsys.readouterr()
    assert main(["cache", "--dir", str(folder), "--json", *arguments]) == 0
    return {row["model"]: row["replies"] for row in json.loads(capsys.readouterr().out)}


def test_the_list(folder, capsys, vlgate):
    shown = vlgate("cache", "--dir", folder).splitlines()
    assert shown[0].split() == ["model", "replies", "size", "oldest", "newest"]
    assert shown[1].split()[4:7] == ["200", "6.2", "kB"], shown[1]
    assert shown[1].startswith(CLIP)
    assert shown[-1] == f"210 replies of 2 models in {folder}"
    assert rows(folder, capsys, "--model=lxm") == {LXMERT: 10}


def test_one_model_is_cleared(folder, capsys, vlgate):
    assert "200 replies removed" in vlgate("cache", "clear", "--dir", folder, "--model=clip")
    assert rows(folder, capsys) == {LXMERT: 10}


def test_one_model_is_one(folder, vlgate):
    assert vlgate("cache", "--dir", folder, "--model=clip").splitlines()[-1] == f"200 replies of 1 model in {folder}"


def test_old_replies_are_cleared(folder, capsys):
    with connect(folder / NAME) as opened:
        opened.execute("UPDATE replies SET at = ? WHERE id <= 50", (int(time.time()) - 3 * 86_400,))
    opened.close()
    assert main(["cache", "clear", "--dir", str(folder), "--older-than=2d"]) == 0
    assert rows(folder, capsys) == {CLIP: 150, LXMERT: 10}


def test_everything_is_cleared_with_what_was_set_aside(folder, capsys):
    (folder / "replies-v0.sqlite").write_bytes(b"of another version")
    (folder / "replies-v1-damaged-1.sqlite").write_bytes(b"damaged")
    assert main(["cache", "clear", "--dir", str(folder)]) == 0
    assert rows(folder, capsys) == {}
    assert [file.name for file in folder.iterdir() if file.stat().st_size and file.suffix == ".sqlite"] == [NAME]


def test_a_folder_without_a_cache(tmp_path, vlgate, monkeypatch):
    monkeypatch.setenv("VLGATE_CACHE", str(tmp_path / "none"))
    assert vlgate("cache") == f"no replies in {tmp_path / 'none'}\n"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("action", ["list", "clear"])
def test_a_name_that_no_model_has(folder, capsys, action):
    assert main(["cache", action, "--dir", str(folder), "--model=nosuch"]) == 0
    said = capsys.readouterr()
    assert said.err == f"nothing matched --model=nosuch: the models are {CLIP}; {LXMERT}\n"
    assert rows(folder, capsys) == {CLIP: 200, LXMERT: 10}


@pytest.mark.parametrize("action", ["list", "clear"])
def test_a_folder_that_is_no_cache(tmp_path, capsys, action):
    assert main(["cache", action, "--dir", str(tmp_path)]) == 4
    assert capsys.readouterr().err == (
        f"vlgate cache: --dir={tmp_path}: is not a cache, because it holds no {NAME}; name the folder of a cache\n"
    )
    assert not list(tmp_path.iterdir())


def test_a_file_is_no_folder(tmp_path, vlgate, monkeypatch):
    file = tmp_path / "file"
    file.write_text("no folder")
    said = "is a file, not a folder; name the folder of a cache"
    assert said in vlgate("cache", "--dir", file, status=4)
    monkeypatch.setenv("VLGATE_CACHE", str(file))
    assert said in vlgate("cache", status=4)


def test_files_that_no_run_reads_are_listed(folder, capsys):
    (folder / "replies-v0.sqlite").write_bytes(b"of another version")
    (folder / "replies-v1-damaged-1.sqlite").write_bytes(b"damaged")
    (folder / "replies-v1-damaged-1.sqlite-wal").write_bytes(b"and its log")
    assert main(["cache", "--dir", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "of another version: replies-v0.sqlite, 18 B; vlgate cache clear removes it",
        "damaged, set aside: replies-v1-damaged-1.sqlite, 18 B; vlgate cache clear removes it",
    ]
    main(["cache", "--dir", str(folder), "--json"])
    found = [(row["file"], row["size"]) for row in json.loads(capsys.readouterr().out) if not row["model"]]
    assert found == [("replies-v0.sqlite", 18), ("replies-v1-damaged-1.sqlite", 18)]


def test_a_damaged_file(tmp_path, capsys, vlgate):
    (tmp_path / NAME).write_bytes(b"no database at all" * 100)
    assert main(["cache", "--dir", str(tmp_path)]) == 4
    assert "cannot be used (file is not a database); the next run sets it aside" in capsys.readouterr().err
    assert main(["cache", "clear", "--dir", str(tmp_path), "--model=clip"]) == 4
    assert main(["cache", "clear", "--dir", str(tmp_path), "--older-than=1d"]) == 4
    assert (tmp_path / NAME).exists()
    assert vlgate("cache", "clear", "--dir", tmp_path) == f"0 replies removed from {tmp_path}, 1.8 kB freed\n"
    assert not list(tmp_path.iterdir())
