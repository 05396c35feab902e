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


def _one_of_the_good_model(bad, good):
    return [bad[0], good[1]]


def _a_good_part_twice(_bad, good):
    return [good[0], good[0]]


def _only_one_part(bad, _good):
    return bad[:1]


def _the_replies_of_the_good_model(bad, good):
    for mine, other in zip(bad, good, strict=True):
        shutil.copy(other / "part.jsonl", mine)
    return bad


def _the_verdicts_of_the_good_model(bad, good):
    for mine, other in zip(bad, good, strict=True):
        for name in ("metrics.json", "verdict.json", "cases.parquet", "predictions.parquet", "badge.json"):
            shutil.copy(other / name, mine)
    return bad


def _no_lines_of_what_it_missed(bad, _good):
    for folder in bad:
        (folder / "part.jsonl").write_text("")
    return bad


def _another_fingerprint(bad, good):
    content = json.loads((bad[0] / "part.json").read_text())
    content["model"] = json.loads((good[0] / "part.json").read_text())["model"]
    (bad[0] / "part.json").write_text(json.dumps(content))
    return [bad[0], good[1]]


def _an_end_that_did_not_come(bad, _good):
    (bad[1] / "part.json").unlink()
    return bad


WAYS = [
    _one_of_the_good_model,
    _a_good_part_twice,
    _only_one_part,
    _the_replies_of_the_good_model,
    _the_verdicts_of_the_good_model,
    _no_lines_of_what_it_missed,
    _another_fingerprint,
    _an_end_that_did_not_come,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_").replace("_", "-"))
def test_a_bad_model_does_not_pass(parts, merge, tmp_path, way):
    joins = way is _the_verdicts_of_the_good_model  # which nobody reads
    assert merge(*way(parts(BAD), parts(GOOD))) == (1 if joins else 4)
    assert (tmp_path / "joined").exists() == joins


def test_the_bad_model_fails_and_the_good_one_passes(parts, merge, tmp_path):
    assert merge(*parts(BAD)) == 1
    shutil.rmtree(tmp_path / "joined")
    assert merge(*parts(GOOD)) == 0
