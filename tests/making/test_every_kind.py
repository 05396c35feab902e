"""Each kind of ``vlgate make``, from its example's input to files that the readers take, in both formats."""

import json
from collections import Counter
from dataclasses import replace
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path

import pytest
from builders import read_lines, tabled, write_lines

from vlgate.cli import main
from vlgate.making.kinds.kind import KINDS, kind
from vlgate.making.sets.run import Settings, make_set
from vlgate.making.tools import Tools
from vlgate.sources.reading.source import ReadOptions
from vlgate.sources.registry import read_source

MADE = [name for name in KINDS if kind(name).start is not None]
NO_BENCHMARK = {"counting-captions"}
TASKS = {
    "coreference": "valse/coreference-standard",
    "active-passive": "bla/active-passive",
    "coordination": "bla/coordination",
    "relative-clause": "bla/relative-clause",
    "object": "vl-checklist/object/size/*",
    "attribute": "vl-checklist/attribute/*",
    "relation": "vl-checklist/relation/*",
    "word-swap": "winoground/all",
}
"""The task of the benchmark that a kind is read back as; of all others, VALSE's of the same name."""


@pytest.fixture(scope="module")
def examples():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "scripts")
        yield import_module("write_phenomena")


@pytest.fixture(scope="module")
def parser():
    return Tools(Settings(files=(), out=Path()).tools).parser


@pytest.fixture
def made(examples, parser, tmp_path, monkeypatch):
    """Make the set of an example; return the number of its cases, and its folder."""
    monkeypatch.setattr(Tools, "built", lambda _, name: parser if name == "parser" else examples._NoLexicon())
    monkeypatch.setattr(Tools, "require", lambda *_: None)

    def make(name, form, rows=None):
        file = write_lines(tmp_path / "input.jsonl", rows or examples.INPUTS[name])
        options = Settings(files=(file,), out=tmp_path / form, form=form, faults="leave out")
        # The balance of classes needs more inputs than an example has.
        return len(make_set(replace(kind(name), select=None), options, print)[0]), tmp_path / form

    return make


def tasks(source, folder, wanted, *protocols):
    options = ReadOptions(folders=(folder,), seed=0, wanted=wanted, protocols=frozenset(protocols))
    return list(read_source(source, options))


@pytest.mark.parametrize("name", MADE)
def test_our_own_reader_reads_the_cases(made, name):
    number, folder = made(name, "cases")
    [task] = tasks("own", folder, f"made/{name}".__eq__)
    assert len(task.cases) == number > 0
    assert {"bias.md", "bias.json", "why.jsonl"} <= {file.name for file in folder.iterdir()}


@pytest.mark.parametrize("name", [name for name in MADE if name not in NO_BENCHMARK])
def test_the_benchmarks_reader_reads_its_own_format(made, name):
    number, folder = made(name, "release")
    task = TASKS.get(name, f"valse/{name}")
    source = task.partition("/")[0]
    found = tasks(source, folder, lambda one: fnmatch(one, task), "valse_all")
    assert sum(len(one.cases) for one in found) == number > 0


INPUTS = {"captions": "plurality", "answers": "existence", "dialogs": "coreference", "frames": "actant-swap"}
"""An example of each input, which is that of a kind; a graph is one of ``object``."""


@pytest.mark.parametrize("name", KINDS)
def test_an_input_that_a_kind_does_not_take_names_the_kinds_that_do(examples, tmp_path, capsys, name):
    for content, example in {**INPUTS, "graphs": "object"}.items():
        file = write_lines(tmp_path / f"{content}.jsonl", examples.INPUTS[example])
        if content not in kind(name).takes:  # and no tool is asked for, such as the lexicon of kinds of frames
            assert main(["make", name, "--from", str(file), "--out", str(tmp_path / "set")]) == 4
            makers = ", ".join(other for other in KINDS if content in kind(other).takes)
            said = f"{file}: holds {content}; this kind takes {' or '.join(kind(name).takes)}; {content} make {makers}"
            assert capsys.readouterr().err.splitlines()[-1] == f"vlgate make: {said}"
            assert not (tmp_path / "set").exists()


@tabled
def test_what_a_kind_does_not_use_of_its_input_is_refused(examples, tmp_path, capsys, name, content, option, says):  # noqa: PLR0917
    example = {**INPUTS, "graphs": "object"}[content]
    file = write_lines(tmp_path / "input.jsonl", examples.INPUTS[example])
    assert main(["make", name, "--from", str(file), "--out", str(tmp_path / "set"), *option.split()]) == 4
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"vlgate make: {says}")
    assert not (tmp_path / "set").exists()


BAD = ["", "A dog.\ud800", "<p>A dog</p>", "dog " * 3_000, "🐶🐶", "一只狗", "Ein Hund schläft auf dem Sofa."]
BAD += ["NO", "?!", "of"]


@pytest.mark.parametrize("name", [name for name in MADE if kind(name).takes[0] in {"captions", "answers", "dialogs"}])
def test_bad_texts_are_counted_and_raise_nothing(made, examples, name):
    good = list(examples.INPUTS[name])
    [field] = {"caption", "question"} & good[0].keys()
    bad = [{**good[0], field: text, "image": f"bad{index}.jpg"} for index, text in enumerate(BAD)]
    _, folder = made(name, "cases", [*good, *bad])
    report = json.loads((folder / "bias.json").read_text())
    assert sum(report["inputs"]["left_out"].values()) == 7
    inputs, unread = report["inputs"], sum(report["inputs"]["left_out"].values())
    assert (inputs["given"], inputs["unread"]) == (len(good) + len(bad), unread)
    assert sum((*report["refused"].values(), *report["dropped"].values())) >= inputs["used"] - inputs["with_case"]
    assert report["candidates"] == report["cases"] + sum(report["dropped"].values())


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


def command(name, captions, out, *options):
    assert main(["make", name, "--from", str(captions), "--out", str(out), "--cache", "none", *options]) == 0


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("plurality", {"dog at the gate", "dogs at the gate"}),
        ("foil-it", {"A dog at the gate.", "A cat at the gate."}),
        ("counting-captions", {"Exactly two dogs", "Exactly three dogs"}),
    ],
)
def test_a_set_is_balanced_and_our_reader_reads_it(captions, tmp_path, name, texts):
    command(name, captions, tmp_path / "set")
    [task] = tasks("own", tmp_path / "set", f"made/{name}".__eq__)
    said = [request.text for case in task.cases for request in case.requests]
    assert all(any(text in one for one in said) for text in texts)
    pairs = Counter(tuple(line["classes"]) for line in read_lines(tmp_path / "set/why.jsonl"))
    assert pairs
    assert all(pairs[pair] == pairs[pair[::-1]] for pair in pairs)


def test_the_released_direction_is_that_of_the_change(captions, tmp_path):
    command("plurality", captions, tmp_path / "set", "--format", "release")
    [task] = tasks("valse", tmp_path / "set", "valse/plurality".__eq__, "valse_all")
    assert {case.tags["direction"] for case in task.cases} == {"sg2pl", "pl2sg"}
