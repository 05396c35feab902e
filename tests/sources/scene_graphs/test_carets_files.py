"""``--format carets``: files as CARETS releases them, which its own code and the reader of the release take."""

import json

import pytest

from vlgate.fixtures.scenes.scene_graphs import world_graphs
from vlgate.perturb.ontology import default_ontology
from vlgate.perturb.questions import TESTS, Corpus, Generator
from vlgate.sources.benchmarks.carets import CARETS
from vlgate.sources.graphs.question_files import ENDINGS, write_questions
from vlgate.sources.reading.source import ReadOptions

FIELDS = {"img_id", "label", "question_id", "sent", "question_type", "assignment"}


@pytest.fixture(scope="module")
def pairs():
    generator = Generator(Corpus(world_graphs(1, 80), default_ontology(), least_box=0, least_objects=0))
    return [pair for test in TESTS for pair in generator.make(test, size=60, seed=1).pairs]


@pytest.fixture(scope="module")
def folder(pairs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "carets" / "questions"
    folder.parent.mkdir()
    write_questions(pairs, folder, "carets")
    return folder


def test_the_reader_of_the_release_reads_the_same_pairs(pairs, folder):
    data = folder.parents[1]
    wanted = [pair for pair in pairs if pair.test in ENDINGS]
    read = {
        task.id: sorted(
            (tuple(ask.question for ask in case.requests), tuple(ask.choices for ask in case.requests), case.truths)
            for case in task.cases
        )
        for task in CARETS.read(ReadOptions(folders=(data,), seed=0, wanted=lambda _: True))
    }
    for test in ENDINGS:
        # The release lacks attribute_choice_template, and so the reader does not read it.
        expected = sorted(
            (pair.questions, pair.choices, pair.answers)
            for pair in wanted
            if pair.test == test and (test, pair.kind) != ("rephrase-inv", "attribute-choice")
        )
        assert read[f"carets/{test}"] == expected


def test_records_have_the_fields_of_the_release(folder):
    files = sorted(folder.glob("*.json"))
    assert files
    for file in files:
        records = json.loads(file.read_text())
        assert isinstance(records, list)
        for record in records:
            assert record.keys() == FIELDS
            assert list(record["label"].values()) == [1.0]
            assert record["img_id"]
        originals = [one["question_id"] for one in records if one["question_id"][-1].isdigit()]
        assert [one["question_id"].rsplit("-", 1)[0] for one in records[1::2]] == originals


def test_the_objects_of_an_assignment_are_those_of_the_graph(pairs, folder):
    graphs = {pair.graph.id: pair.graph for pair in pairs}
    for file in folder.glob("*.json"):
        for record in json.loads(file.read_text()):
            asked = record["assignment"]
            for place in "12":
                identity = asked.get(f"obj{place}_id")
                if identity is not None and "ontology" not in file.name:
                    assert graphs[record["img_id"]].objects[identity].name == asked[f"obj{place}"]


def test_a_folder_that_exists_is_kept(pairs, folder):
    with pytest.raises(FileExistsError):
        write_questions(pairs, folder, "carets")
