"""The kinds that make foils of captions, from ``vlgate make`` to the readers."""

from collections import Counter

import pytest
from builders import read_lines, write_lines

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
    rows = [{"image": image, "caption": text} for image, texts in CAPTIONS.items() for text in texts]
    return write_lines(tmp_path / "captions.jsonl", rows)


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
    pairs = Counter(tuple(line["classes"]) for line in read_lines(tmp_path / "set/why.jsonl"))
    assert pairs
    assert all(pairs[pair] == pairs[pair[::-1]] for pair in pairs)


def test_the_released_direction_is_that_of_the_change(captions, tmp_path):
    made("plurality", captions, tmp_path / "set", "--format", "release")
    wanted = "valse/plurality".__eq__
    options = ReadOptions(folders=(tmp_path / "set",), seed=0, wanted=wanted, protocols=frozenset({"valse_all"}))
    [task] = VALSE.read(options)
    assert {case.tags["direction"] for case in task.cases} == {"sg2pl", "pl2sg"}
