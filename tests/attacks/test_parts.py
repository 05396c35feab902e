"""However the parts of a run are mixed up: the bad model does not end with 0 when they are joined."""

import json
import shutil
from dataclasses import replace

import pytest

from attacks.ways import BAD, GOOD, PLAIN, RESULTS
from vlgate.cli import main

QUICK = replace(PLAIN, args=("--items=batch",))
SHARDS = 2


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("parts")


@pytest.fixture
def parts(inside, store, pytester):
    """The folders of the two parts of a model, asked once for all tests."""

    def ask(model):
        found = []
        for number in range(1, SHARDS + 1):
            folder = store / f"{model.replace(':', '-')}-{number}"
            if not folder.exists():
                shutil.rmtree(pytester.path / "place", ignore_errors=True)
                ended = inside(model, replace(QUICK, args=(*QUICK.args, f"--shard={number}/{SHARDS}")))
                assert "INTERNALERROR" not in ended.output
                shutil.copytree(pytester.path / "place" / RESULTS, folder)
            copied = pytester.path / folder.name
            shutil.copytree(folder, copied)
            found.append(copied)
        return found

    return ask


@pytest.fixture
def merge(drawn, tmp_path):
    gates = [f"--data={drawn / 'data'}", f"--thresholds={drawn / 'thresholds.toml'}"]
    return lambda *folders: main(["merge", *map(str, folders), *gates, f"--results={tmp_path / 'joined'}"])


def copied(source, target, *names):
    for mine, other in zip(target, source, strict=True):
        for name in names:
            shutil.copy(other / name, mine)
    return target


def without_lines(folders):
    for folder in folders:
        (folder / "part.jsonl").write_text("")
    return folders


def with_the_fingerprint_of(good, bad):
    content = json.loads((bad[0] / "part.json").read_text())
    content["model"] = json.loads((good[0] / "part.json").read_text())["model"]
    (bad[0] / "part.json").write_text(json.dumps(content))
    return [bad[0], good[1]]


def without_end(folders):
    (folders[1] / "part.json").unlink()
    return folders


VERDICTS = ("metrics.json", "verdict.json", "cases.parquet", "predictions.parquet", "badge.json")
WAYS = {
    "one-of-the-good-model": lambda bad, good: [bad[0], good[1]],
    "a-good-part-twice": lambda _, good: [good[0], good[0]],
    "only-one-part": lambda bad, _: bad[:1],
    "the-replies-of-the-good-model": lambda bad, good: copied(good, bad, "part.jsonl"),
    "the-verdicts-of-the-good-model": lambda bad, good: copied(good, bad, *VERDICTS),
    "no-lines-of-what-it-missed": lambda bad, _: without_lines(bad),
    "another-fingerprint": lambda bad, good: with_the_fingerprint_of(good, bad),
    "an-end-that-did-not-come": lambda bad, _: without_end(bad),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_bad_model_does_not_pass(parts, merge, tmp_path, way):
    joins = way == "the-verdicts-of-the-good-model"  # which nobody reads
    assert merge(*WAYS[way](parts(BAD), parts(GOOD))) == (1 if joins else 4)
    assert (tmp_path / "joined").exists() == joins


def test_the_bad_model_fails_and_the_good_one_passes(parts, merge, tmp_path):
    assert merge(*parts(BAD)) == 1
    shutil.rmtree(tmp_path / "joined")
    assert merge(*parts(GOOD)) == 0
