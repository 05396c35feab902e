"""``vlgate make word-swap``: from captions or graphs to cases and to Winoground's files, both read back."""

import json
from types import SimpleNamespace

import pytest
from builders import read_lines, tabled, write_lines
from PIL import Image

from vlgate.cli import main
from vlgate.fixtures.scenes.scene_graphs import as_gqa, world_graphs
from vlgate.sources.benchmarks.quads import WINOGROUND
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions

CAPTIONS = {
    "1.jpg": "A red bus behind a blue car.",
    "2.jpg": "A blue bus behind a red car.",
    "3.jpg": "A cup.",
    "4.jpg": "Two women beside one giraffe.",
    "5.jpg": "One woman with two giraffes.",
}


@pytest.fixture
def swaps(tmp_path, capsys):
    """Run the command; return the exit status, the folder and what it says."""

    def run(file, *options):
        out = tmp_path / "set"
        status = main(["make", "word-swap", "--from", str(file), "--out", str(out), "--cache", "none", *options])
        return SimpleNamespace(status=status, folder=out, said=capsys.readouterr().err)

    return run


@pytest.fixture
def captions(tmp_path):
    pytest.importorskip("spacy")
    rows = [{"image": image, "caption": text} for image, text in CAPTIONS.items()]
    return write_lines(tmp_path / "captions.jsonl", rows)


def read(source, folder):
    [task] = source.read(ReadOptions(folders=(folder,), seed=0, wanted=lambda _: True))
    return task


def test_captions_become_cases_of_two_images_and_two_captions(swaps, captions):
    made = swaps(captions)
    assert made.status == 0
    assert "\n5 captions: 4 gave a case, 1 gave none; 2 candidates, 2 of them cases\n" in made.said
    assert "\nleft out: 1 x no text of its image makes a pair with one of the same words" in made.said
    task = read(cases, made.folder)
    assert (task.id, task.shape) == ("made/word-swap", "quad")
    found = {tuple((r.image.key, r.text) for r in case.requests[::3]): case.tags for case in task.cases}
    bus = (("1.jpg", CAPTIONS["1.jpg"]), ("2.jpg", CAPTIONS["2.jpg"]))
    women = (("4.jpg", "one giraffe and two women"), ("5.jpg", "two giraffes and one woman"))
    assert set(found) == {bus, women}
    assert found[bus]["tag"] == "Adjective-Color"
    assert "secondary_tag" not in found[bus]
    assert found[women]["secondary_tag"] == "Morpheme-Level"
    assert (made.folder / "bias.json").is_file()


def test_the_release_format_is_read_as_winoground(swaps, captions):
    made = swaps(captions, "--format", "release")
    names = read_lines(made.folder / "winoground/data/images.jsonl")
    (made.folder / "winoground/data/images").mkdir()
    for row in names:  # as the reader of the page does with the photographs
        Image.new("RGB", (int(row["source"][0]), 9)).save(made.folder / f"winoground/data/images/{row['image']}.png")
    task = read(WINOGROUND, made.folder)
    assert task.id == "winoground/all"
    texts = {tuple(sorted((r.text, r.image.load().width) for r in case.requests[::3])) for case in task.cases}
    assert tuple(sorted((CAPTIONS[name], int(name[0])) for name in ("1.jpg", "2.jpg"))) in texts
    assert {case.tags["collapsed_tag"] for case in task.cases} == {"Relation"}
    assert {case.tags["num_main_preds"] for case in task.cases} == {"1"}


def test_graphs_need_no_parser_and_say_how_many_pairs_they_give(swaps, tmp_path):
    file = tmp_path / "graphs.json"
    file.write_text(json.dumps({graph.id: as_gqa(graph) | {"complete": True} for graph in world_graphs(3, 150)}))
    made = swaps(file)
    assert made.status == 0
    task = read(cases, made.folder)
    assert len(task.cases) > 5
    assert f"{len(task.cases)} cases in" in made.said
    inputs = json.loads((made.folder / "bias.json").read_text())["inputs"]
    assert f"left out: {150 - inputs['with_case']} x no text of its image makes a pair" in made.said
    for case in task.cases:
        first, second = case.requests[:2]
        assert first.text != second.text
        assert len({request.image.key for request in case.requests}) == 2


@tabled
def test_captions_without_a_pair_are_an_error_that_counts_the_reasons(swaps, captions, texts, reason):
    made = swaps(write_lines(captions, [{"image": f"{n}.jpg", "caption": text} for n, text in enumerate(texts)]))
    assert made.status == 4
    assert f"gives no case of word-swap ({reason}" in made.said
