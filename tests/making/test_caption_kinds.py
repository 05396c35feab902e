"""The kinds that make foils of captions, from ``vlgate make`` to the readers."""

import json
from collections import Counter

import pytest

from vlgate.cli import main
from vlgate.sources.benchmarks.valse import VALSE
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions

pytest.importorskip("spacy")

CAPTIONS = {
    "1.jpg": ["A dog at the gate.", "The dog is there."],
    "2.jpg": ["Two dogs at the gate.", "There are two dogs."],
    "3.jpg": ["A cat at the gate.", "The cat is there."],
    "4.jpg": ["Three dogs at the gate.", "There are three dogs."],
}


@pytest.fixture
def captions(tmp_path):
    file = tmp_path / "captions.jsonl"
    rows = [{"image": image, "caption": text} for image, texts in CAPTIONS.items() for text in texts]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def made(kind, captions, out, *options):
    assert main(["make", kind, "--from", str(captions), "--out", str(out), "--cache", "none", *options]) == 0


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("plurality", {"dog at the gate", "dogs at the gate"}),
        ("foil-it", {"A dog at the gate.", "A cat at the gate."}),
        ("counting-captions", {"Exactly two dogs", "Exactly three dogs"}),
    ],
)
def test_a_set_is_balanced_and_our_reader_reads_it(captions, tmp_path, kind, texts):
    made(kind, captions, tmp_path / "set")
    [task] = cases.read(ReadOptions(folders=(tmp_path / "set",), seed=0, wanted=f"made/{kind}".__eq__))
    said = [request.text for case in task.cases for request in case.requests]
    assert all(any(text in one for one in said) for text in texts)
    reasons = [json.loads(line) for line in (tmp_path / "set" / "why.jsonl").read_text().splitlines()]
    pairs = Counter(tuple(one["classes"]) for one in reasons)
    assert pairs
    assert all(pairs[pair] == pairs[pair[::-1]] for pair in pairs)


@pytest.mark.parametrize(("kind", "task"), [("plurality", "valse/plurality"), ("foil-it", "valse/foil-it")])
def test_the_release_format_is_read_by_the_reader_of_valse(captions, tmp_path, kind, task):
    made(kind, captions, tmp_path / "set", "--format", "release")
    options = ReadOptions(folders=(tmp_path / "set",), seed=0, wanted=task.__eq__, protocols=frozenset({"valse_all"}))
    [found] = VALSE.read(options)
    assert found.cases
    assert all(case.truths == (True, False) for case in found.cases)
    assert kind == "foil-it" or {case.tags["direction"] for case in found.cases} == {"sg2pl", "pl2sg"}
