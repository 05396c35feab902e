"""Questions as files, also as CARETS releases them, and the images that such files ask about."""

import json
from collections import Counter
from pathlib import Path

import pytest
from builders import json_table

from vlgate.errors import DataError, UnknownNameError
from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import MAKEUP, TESTS, Corpus, Generator
from vlgate.sources.benchmarks.carets import CARETS
from vlgate.sources.graphs.question_files import ENDINGS, images_in, write_questions
from vlgate.sources.reading.source import ReadOptions

TABLES = Path(__file__).with_suffix(".tsv")

GQA_FIELDS = {
    *"semantic entailed equivalent question imageId isBalanced groups".split(),
    *"answer semanticStr annotations types fullAnswer".split(),
}
"""The fields of ``train_balanced_questions.json`` (Hudson and Manning 2019, "Questions" on GQA's download page)."""


@pytest.fixture(scope="module")
def pairs():
    generator = Generator(Corpus(world_graphs(1, 60), default_ontology()))
    return [pair for test in TESTS for pair in generator.make(test, size=40, seed=0).pairs]


@pytest.fixture
def lines(pairs, tmp_path):
    written = write_questions(pairs, tmp_path / "x.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().split("\n") if line]
    assert len(rows) == written
    return rows


def test_a_line_has_the_question_the_answer_and_the_origin(pairs, lines):
    by_id = {row["id"]: row for row in lines}
    assert len(by_id) == len(lines)
    pair = pairs[0]
    assert by_id[f"{pair.test}/{pair.id}/perturbed"] == {
        "id": f"{pair.test}/{pair.id}/perturbed", "image": pair.graph.id, "question": pair.questions[1],
        "choices": list(pair.choices[1]), "answer": pair.answers[1], "pair": pair.id, "half": "perturbed",
        "test": pair.test, "kind": pair.kind, "rule": pair.rule, "objects": list(pair.objects),
    }  # fmt: skip


def test_every_question_of_every_pair_is_there_and_on_an_unperturbed_image_once(pairs, lines):
    asked = Counter((row["image"], row["question"], row.get("perturbation", "")) for row in lines)
    assert set(asked) == {
        (pair.graph.id, text, pair.perturbation if half else "")
        for pair in pairs
        for half, text in enumerate(pair.questions)
    }
    assert {count for (_, _, perturbation), count in asked.items() if not perturbation} == {1}
    answers = {(row["image"], row["question"]): row["answer"] for row in lines}
    assert all(answers[pair.graph.id, pair.questions[0]] == pair.answers[0] for pair in pairs)


def test_a_perturbed_image_comes_with_the_boxes_that_it_keeps(pairs, lines):
    wanted = {f"{pair.test}/{pair.id}/perturbed": pair for pair in pairs if pair.perturbation}
    found = {row["id"]: row for row in lines if "perturbation" in row}
    assert found.keys() == wanted.keys()
    for name, pair in wanted.items():
        assert found[name]["perturbation"] == pair.perturbation
        assert found[name]["boxes"] == [[box.x, box.y, box.w, box.h] for box in pair.foreground] != []


def test_the_format_of_gqa_has_its_fields_and_no_perturbed_image(pairs, lines, tmp_path):
    written = write_questions(pairs, tmp_path / "x.json", "gqa")
    found = json.loads((tmp_path / "x.json").read_text())
    unperturbed = {row["id"]: row for row in lines if "perturbation" not in row}
    assert written == len(found)
    assert list(found) == list(unperturbed)
    for name, row in found.items():
        assert row.keys() == GQA_FIELDS
        assert (row["imageId"], row["question"], row["answer"]) == tuple(
            unperturbed[name][field] for field in ("image", "question", "answer")
        )
        assert row["types"]["structural"] in {"verify", "logical", "choose"}
        assert row["types"]["semantic"] in {"obj", "attr", "cat", "rel"}
    types = {row["types"]["detailed"]: row["types"] for row in found.values()}
    assert types.keys() == {kind for kinds in MAKEUP.values() for kind in kinds}
    assert types["object-related"]["semantic"] == "rel"
    assert types["disjunction"]["structural"] == "logical"
    choice = types["object-choice-related"]
    assert choice == {"detailed": "object-choice-related", "semantic": "cat", "structural": "choose"}


@pytest.mark.parametrize("form", ["jsonl", "gqa"])
def test_the_same_pairs_give_the_same_bytes(pairs, form, tmp_path):
    for name in ("a", "b"):
        write_questions(iter(pairs), tmp_path / name, form)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("form", ["jsonl", "gqa", "carets"])
def test_an_existing_file_is_never_overwritten(pairs, form, tmp_path):
    (tmp_path / "a").write_text("mine")
    with pytest.raises(FileExistsError):
        write_questions(pairs, tmp_path / "a", form)
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("form", ["jsonl", "gqa"])
def test_the_images_of_a_written_file_are_those_that_it_asks_about(pairs, form, tmp_path):
    write_questions(pairs, tmp_path / "a", form)
    kept = [pair for pair in pairs if form == "jsonl" or not pair.perturbation]
    assert images_in(tmp_path / "a") >= {pair.graph.id for pair in kept}
    assert images_in(tmp_path / "a") <= {pair.graph.id for pair in pairs}


def test_gqas_own_files_are_read_whatever_their_indentation(tmp_path):
    questions = {"1": {"imageId": "7", "question": "Is it red?"}, "2": {"imageId": "8", "question": "Is it?"}}
    for indent in (None, 2):
        (tmp_path / "a").write_text("\ufeff" + json.dumps(questions, indent=indent), encoding="utf-8")
        assert images_in(tmp_path / "a") == {"7", "8"}
    (tmp_path / "a").write_text(json.dumps({"image": "a\u2028b\x85c.jpg"}, ensure_ascii=False), encoding="utf-8")
    assert images_in(tmp_path / "a") == {"a\u2028b\x85c.jpg"}  # one name


@pytest.mark.parametrize(("text", "says"), json_table(TABLES, "another_file_is_rejected_with_its_place"))
def test_another_file_is_rejected_with_its_place(tmp_path, text, says):
    (tmp_path / "a").write_text(text)
    with pytest.raises(DataError, match=says) as raised:
        images_in(tmp_path / "a")
    assert str(tmp_path / "a") in str(raised.value)


def test_a_missing_file_and_an_unknown_format_are_named(pairs, tmp_path):
    with pytest.raises(UnknownNameError, match="'json'; did you mean 'jsonl'"):
        write_questions(pairs, tmp_path / "a", "json")
    with pytest.raises(DataError, match=r"no\.jsonl: there is no such file"):
        images_in(tmp_path / "no.jsonl")


CARETS_FIELDS = {"img_id", "label", "question_id", "sent", "question_type", "assignment"}


@pytest.fixture(scope="module")
def folder(pairs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "carets" / "questions"
    folder.parent.mkdir()
    write_questions(pairs, folder, "carets")
    return folder


def test_the_reader_of_the_release_reads_the_same_pairs(pairs, folder):
    read = {
        task.id: sorted(
            (tuple(ask.question for ask in case.requests), tuple(ask.choices for ask in case.requests), case.truths)
            for case in task.cases
        )
        for task in CARETS.read(ReadOptions(folders=(folder.parents[1],), seed=0, wanted=lambda _: True))
    }
    for test in ENDINGS:
        # The release lacks attribute_choice_template, and so the reader does not read it.
        expected = sorted(
            (pair.questions, pair.choices, pair.answers)
            for pair in pairs
            if pair.test == test and (test, pair.kind) != ("rephrase-inv", "attribute-choice")
        )
        assert read[f"carets/{test}"] == expected


def test_records_have_the_fields_of_the_release_and_the_objects_of_the_graph(pairs, folder):
    graphs = {pair.graph.id: pair.graph for pair in pairs}
    files = sorted(folder.glob("*.json"))
    assert files
    for file in files:
        records = json.loads(file.read_text())
        assert isinstance(records, list)
        for record in records:
            assert record.keys() == CARETS_FIELDS
            assert list(record["label"].values()) == [1.0]
            assert record["img_id"]
            asked = record["assignment"]
            for place in "12" if "ontology" not in file.name else "":
                if (identity := asked.get(f"obj{place}_id")) is not None:
                    assert graphs[record["img_id"]].objects[identity].name == asked[f"obj{place}"]
        originals = [one["question_id"] for one in records if one["question_id"][-1].isdigit()]
        assert [one["question_id"].rsplit("-", 1)[0] for one in records[1::2]] == originals
