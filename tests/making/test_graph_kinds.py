"""The kinds made from scene graphs and role frames: made, written as the releases are, and read back."""

import json

import pytest
from builders import read_lines, tabled

from vlgate.cli import main
from vlgate.making.kinds.graphs import NOTHING, OBJECT, balanced
from vlgate.making.kinds.kind import UNPAIRED, Item
from vlgate.perturb.foils.candidates import Foil
from vlgate.sources.benchmarks.bla import BLA
from vlgate.sources.benchmarks.vl_checklist import VL_CHECKLIST
from vlgate.sources.own import cases
from vlgate.sources.reading.source import ReadOptions

COUPLE = [
    ("1", "man", [0, 0, 300, 900], [], {"lifting": "5", "wearing": "3", "holding": "4"}),
    ("2", "woman", [500, 0, 300, 900], [], {"wearing": "6", "riding": "7"}),
    ("3", "shirt", [50, 100, 100, 200], ["white"], {}),
    ("4", "racket", [100, 300, 50, 50], [], {}),
    ("5", "child", [20, 500, 150, 300], [], {"wearing": "8"}),
    ("6", "shirt", [550, 100, 100, 200], ["red"], {}),
    ("7", "bike", [500, 500, 300, 400], [], {}),
    ("8", "shirt", [30, 550, 100, 90], ["green"], {}),
]
FARM = [("1", "horse", [0, 0, 90, 90], ["brown"], {"on": "2"}), ("2", "train", [0, 60, 500, 400], [], {})]
ZOO = [("1", "cow", [0, 0, 90, 90], ["white"], {"on": "2"}), ("2", "boat", [0, 60, 500, 400], [], {})]
FRAMES = [{"agent": "man", "vehicle": "horse"}, {"agent": "woman", "vehicle": "motorcycle"}]


@pytest.fixture
def graphs(tmp_path):
    file = tmp_path / "graphs.json"
    rows = []
    others = [(f"other {index}", "floor", [900, 900, 9, 9], [], {}) for index in range(15)]  # nobody left a dog out
    for image, some in (("couple.jpg", COUPLE), ("farm.jpg", FARM), ("zoo.jpg", ZOO)):
        things = [*some, *others]
        objects = [
            {
                "id": number,
                "name": name,
                "box": box,
                "attributes": attributes,
                "relations": [{"name": relation, "object": other} for relation, other in relations.items()],
            }
            for number, name, box, attributes, relations in things
        ]
        rows.append({"image": image, "width": 1000, "height": 1000, "objects": objects})
    file.write_text(json.dumps({"graphs": rows}))
    return file


@pytest.fixture
def make(tmp_path):
    def run(kind, *files, form="release"):
        out = tmp_path / f"{kind}-{form}"
        assert main(["make", kind, "--from", *map(str, files), "--format", form, "--out", str(out)]) == 0
        return out

    return run


def _texts(reader, folder, task):
    [found] = reader.read(ReadOptions(folders=(folder,), seed=0, wanted=task.__eq__))
    return [tuple(request.text for request in case.requests) for case in found.cases]


@tabled
def test_one_set_of_bla_is_made_of_an_image_and_read_back(make, graphs, kind: str, first: str) -> None:
    released = _texts(BLA, make(kind, graphs), f"bla/{kind}")
    assert [texts[0] for texts in released] == [first]
    assert _texts(cases, make(kind, graphs, form="cases"), f"made/{kind}") == released


def test_the_verb_of_a_released_set_is_its_slice(make, graphs) -> None:
    folder = make("active-passive", graphs)
    [task] = BLA.read(ReadOptions(folders=(folder,), seed=0, wanted="bla/active-passive".__eq__))
    assert (task.cases[0].tags, task.cases[0].id) == ({"verb": "lift"}, "couple.jpg")


@tabled
def test_pairs_of_vl_checklist_are_made_and_read_back(make, graphs, kind: str, task: str, pair) -> None:
    folder = make(kind, graphs)
    pairs = _texts(VL_CHECKLIST, folder, f"vl-checklist/{kind}/{task}")
    assert pairs
    assert pair is None or pair in pairs
    assert all(len((set(pos.split()) ^ set(neg.split())) - {"a", "an"}) == 2 for pos, neg in pairs)


def _swig(tmp_path, verb, abstract, *frames, boxes):
    """A file of SWiG with frames, and its space."""
    files = tmp_path / "swig.json", tmp_path / "imsitu_space.json"
    codes = {noun: f"n{noun}" for roles in frames for noun in roles.values()}
    rows = {}
    for number, roles in enumerate(frames, 1):
        frame = {role: codes[noun] for role, noun in roles.items()}
        rows[f"{number}.jpg"] = {"verb": verb, "width": 400, "height": 400, "bb": boxes, "frames": [frame]}
    files[0].write_text(json.dumps(rows))
    nouns = {code: {"gloss": [noun]} for noun, code in codes.items()}
    files[1].write_text(json.dumps({"nouns": nouns, "verbs": {verb: {"abstract": abstract}}}))
    return files


def test_a_role_frame_of_two_persons_makes_a_set_of_bla(make, tmp_path) -> None:
    boxes = {"agent": [0, 0, 200, 200], "item": [40, 0, 240, 200]}
    roles = {"agent": "man", "item": "child"}
    files = _swig(tmp_path, "lifting", "an AGENT lifts an ITEM at a PLACE", roles, boxes=boxes)
    [texts] = _texts(BLA, make("active-passive", *files), "bla/active-passive")
    assert texts[0] == "the man lifts the child"


@tabled
def test_inputs_that_tell_nothing_are_counted(tmp_path, capsys, kind: str, reason: str) -> None:
    file = tmp_path / "frames.jsonl"
    file.write_text('{"image": "1.jpg", "verb": "running", "roles": {"agent": "dog"}}\n')
    assert main(["make", kind, "--from", str(file), "--out", str(tmp_path / "out")]) == 4
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"gives no case of {kind} (1 x {reason}); how many frames a gate of 30 cases needs is not known" in said
    assert not (tmp_path / "out").exists()


HICO = "001 horse ride\n002 horse feed\n003 cow ride\n004 cow wash\n"


def _hake(tmp_path, images):
    """HAKE's file of these images, and the list of interactions."""
    files = tmp_path / "hake.json", tmp_path / "hico_hoi_list.txt"
    files[0].write_text(json.dumps(images))
    files[1].write_text(HICO)
    return files


def _label(number):
    boxes = {"human_bbox": [10, 10, 60, 90], "object_bbox": [0, 40, 90, 99]}
    return {"action_labels": [], "hoi_id": number, "width": 640, "height": 480, **boxes}


def test_interactions_make_pairs_of_hake(make, tmp_path) -> None:
    images = {
        f"{number}.jpg": {"dataset": "hico-det", "labels": [_label(number)], "path_prefix": "hico/train2015"}
        for number in (1, 3)
    }
    files = _hake(tmp_path, images)
    released = make("relation", *files)
    pairs = _texts(VL_CHECKLIST, released, "vl-checklist/relation/action/hake")
    assert {pair[0] for pair in pairs} == {"a person riding a horse", "a person riding a cow"}
    [task] = VL_CHECKLIST.read(
        ReadOptions(folders=(released,), seed=0, wanted="vl-checklist/relation/action/hake".__eq__)
    )
    assert task.cases[0].requests[0].image.key.endswith("hico/train2015/1.jpg")
    assert _texts(cases, make("relation", *files, form="cases"), "made/relation") == pairs
    objects = _texts(VL_CHECKLIST, make("object", *files), "vl-checklist/object/size/medium/hake")
    assert ("a person riding a horse", "a person riding a cow") in objects


def test_interactions_without_boxes_have_no_size(make, tmp_path) -> None:
    out = make("object", *_hake(tmp_path, {"1.jpg": {"hoi_id": [1]}, "2.jpg": {"hoi_id": [3]}}), form="cases")
    cases = read_lines(out / "cases/object.jsonl")
    assert cases
    assert {name for case in cases for name in case["tags"]} == {"role"}


def test_role_frames_make_pairs_of_swig(make, tmp_path) -> None:
    abstract = "an AGENT rides a VEHICLE at a PLACE"
    files = _swig(
        tmp_path, "riding", abstract, *FRAMES, boxes={"agent": [0, 0, 200, 200], "vehicle": [0, 100, 300, 300]}
    )
    pairs = _texts(VL_CHECKLIST, make("object", *files), "vl-checklist/object/size/large/swig_agent")
    assert ("a man riding a horse", "a woman riding a horse") in pairs
    verbs = _texts(VL_CHECKLIST, make("relation", *files), "vl-checklist/relation/action/swig")
    assert {pos for pos, _ in verbs} == {"a man riding a horse", "a woman riding a motorcycle"}


def _items(*changes):
    """Foils of sheep: of each change, the image's number, the word of the caption, and those of the foils."""
    return [
        Item(
            id=f"{image}-{other}",
            image=image,
            origin=image,
            candidate=Foil(caption=f"a {word} sheep", foil=f"a {other} sheep", classes=(word, other), why=""),
        )
        for image, word, others in changes
        for other in others.split()
    ]


def test_an_attribute_is_put_in_as_often_as_it_is_true() -> None:
    found = balanced(_items(("1", "white", "black red"), ("2", "white", "black"), ("3", "black", "white")), 0)
    assert sorted(item.candidate.classes for item in found.items) == [("black", "white"), ("white", "black")]
    assert (dict(found.dropped), found.note) == ({UNPAIRED: 2}, "")


def test_if_nothing_is_balanced_all_stay_and_the_report_says_so(make, graphs) -> None:
    items = _items(("1", "white", "black"), ("2", "white", "red"))
    assert (balanced(items, 0).items, balanced(items, 0).note) == (tuple(items), NOTHING)
    one_horse = json.loads(graphs.read_text())
    one_horse["graphs"] = [one for one in one_horse["graphs"] if one["image"] == "farm.jpg"]
    graphs.write_text(json.dumps(one_horse))
    folder = make("relation", graphs)
    assert json.loads((folder / "bias.json").read_text())["note"] == NOTHING
    assert NOTHING in (folder / "bias.md").read_text()


@pytest.mark.parametrize("kind", ["object", "active-passive"])
def test_a_wordnet_that_is_not_installed_is_named_with_the_remedy(graphs, tmp_path, capsys, kind: str) -> None:
    pytest.importorskip("wn")
    out = tmp_path / "out"
    assert main(["make", kind, "--from", str(graphs), "--wordnet", "nowhere:1", "--out", str(out)]) != 0
    said = capsys.readouterr().err
    assert "--wordnet nowhere:1" in said
    assert "wn download" in said


def test_a_noun_is_a_foil_about_as_often_as_a_caption_has_it_and_few_cases_have_one_caption() -> None:
    """Also in a small set; if nothing is true in one caption and false in another, three of a caption stay."""
    cats = [_item(str(n), "a cat near a car", "cat", other) for n, other in enumerate(("dog", "cow", "pig", "fox"))]
    alone = OBJECT.select(cats, 0)
    assert (len(alone.items), alone.note) == (3, NOTHING)
    dog = _item("other", "a dog near a car", "dog", "cat")
    assert {one.candidate.foil for one in OBJECT.select([*cats, dog], 0).items} == {
        "a dog near a car",
        "a cat near a car",
    }


def _item(number, caption, word, other):
    foil = Foil(caption=caption, foil=caption.replace(word, other), classes=(word, other), why="")
    origin = "2" if number == "other" else "1"
    return Item(id=number, image=origin, origin=origin, candidate=foil)
