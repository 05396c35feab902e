"""The VL-CheckList reader on those files of the release that are at hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from vlgate.sources.benchmarks.vl_checklist import CORPUS, PAPER, VL_CHECKLIST, parse_config
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(not (REAL / "vl-checklist").is_dir(), reason=f"no real VL-CheckList files in {REAL}")


def tasks(*protocols):
    return list(
        VL_CHECKLIST.read(ReadOptions(folders=(REAL,), seed=0, wanted=lambda _: True, protocols=frozenset(protocols)))
    )


# Items of each file that is there, and flaws: POS == NEG, a NEG that is a POS of the same image, duplicates.
RELEASED = {
    "object/location/center/swig_destination": (1063, 1, 1, 0),
    "object/location/center/swig_tool": (4056, 2, 2, 0),
    "object/location/mid/swig_destination": (530, 1, 1, 0),
    "object/location/mid/swig_tool": (2226, 1, 1, 0),
    "object/location/margin/hake": (10062, 0, 0, 2455),
    "object/location/margin/swig_destination": (45, 0, 0, 0),
    "object/location/margin/swig_tool": (121, 0, 0, 0),
    "object/location/margin/vg_subj": (5974, 0, 1, 0),
    "object/size/large/swig_destination": (1520, 2, 2, 0),
    "object/size/large/swig_tool": (4643, 3, 3, 0),
    "object/size/medium/swig_destination": (109, 0, 0, 0),
    "object/size/medium/swig_tool": (1452, 0, 0, 0),
    "object/size/small/swig_destination": (9, 0, 0, 0),
    "object/size/small/swig_tool": (308, 0, 0, 0),
    "object/size/small/vg_obj": (13702, 0, 1, 2),
    "attribute/action/vaw": (3039, 0, 39, 33),
    "attribute/action/vg": (1892, 3, 3, 41),
    "attribute/color/vg": (11569, 66, 72, 66),
    "attribute/material/vaw": (11835, 0, 51, 83),
    "attribute/material/vg": (2470, 0, 0, 10),
    "attribute/size/vaw": (15321, 0, 631, 1867),
    "attribute/size/vg": (2695, 7, 7, 208),
    "attribute/state/vaw": (4939, 0, 90, 444),
    "attribute/state/vg": (941, 4, 4, 39),
    "relation/action/vg": (12733, 28, 36, 22),
    "relation/spatial/vg": (30650, 0, 8, 4448),
}


@pytest.fixture(scope="module")
def released():
    return {task.id.removeprefix("vl-checklist/"): task for task in tasks()}


def flaws(task):
    pairs = [(case.requests[0].image.key, *(request.text for request in case.requests)) for case in task.cases]
    true = {pair[:2] for pair in pairs}
    equal = sum(positive == negative for _, positive, negative in pairs)
    return equal, sum((key, negative) in true for key, _, negative in pairs), len(pairs) - len(set(pairs))


@pytest.mark.slow
def test_the_releases_counts_and_flaws(released):
    found = {name: (len({c.id.split("-")[0] for c in t.cases}), *flaws(t)) for name, t in released.items()}
    assert found == RELEASED


def test_three_texts_of_swig_and_one_of_the_others(released):
    for name, task in released.items():
        texts = 3 if "swig" in name else 1
        assert len(task.cases) == texts * RELEASED[name][0]
        assert task.left_out == {}


@pytest.mark.slow
def test_the_release_by_the_protocol_of_the_paper(released):
    for task in tasks(PAPER):
        whole = released[task.id.removeprefix("vl-checklist/")].cases
        assert len(task.cases) == min(1000, len({case.id.split("-")[0] for case in whole}))
        assert len(task.cases) + sum(task.left_out.values()) == len(whole)
        places = {case.id: case for case in whole}
        assert all(places[case.id] == case for case in task.cases)


def test_every_yaml_of_the_release_is_a_task():
    root = REAL / "vl-checklist/corpus/v1"
    assert {str(file.relative_to(root)) for file in root.rglob("*.yaml")} == set(CORPUS.values())
    configs = {place: parse_config(root / place) for place in CORPUS.values()}
    there = {place for place, config in configs.items() if (REAL / "vl-checklist" / config["ANNO_PATH"]).exists()}
    assert {CORPUS[f"vl-checklist/{name}"] for name in RELEASED} == there


def test_the_releases_ids_are_unique(released):
    for task in released.values():
        assert len({case.id for case in task.cases}) == len(task.cases)


def test_the_images_that_are_there_can_be_decoded(released):
    task = released["attribute/color/vg"]
    there = {case.requests[0].image for case in task.cases if case.requests[0].image.where}
    assert there
    assert {image.load().mode for image in there} == {"RGB"}
