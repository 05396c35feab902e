"""The CARETS reader on those files of the release that are at hand."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from vlgate.errors import MissingImageError
from vlgate.sources.benchmarks.carets import CARETS, DEFAULT_YML, TASKS
from vlgate.sources.reading.source import ReadOptions

REAL = Path(__file__).parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(not (REAL / "carets").is_dir(), reason=f"no real CARETS files in {REAL}")


# Pairs in those files of the release that are there (Table 6 has the sums over all files of a test).
RELEASED = {
    "object_verification_template": 2500,
    "action_choice_template": 248,
    "object_verification_conjunction_symmetric": 2500,
    "action_choice_symmetric": 248,
    "attribute_choice_rel_symmetric": 2250,
    "action_choice_rel_ontology_ontology": 124,
    "object_choice_rel_ontology_ontology": 679,
    "object_verification_negation": 2500,
    "object_verification_rel_negation": 2500,
    "attribute_verification_antonym": 2500,
}


@pytest.fixture(scope="module")
def released():
    protocols = frozenset({DEFAULT_YML})
    found = CARETS.read(ReadOptions(folders=(REAL,), seed=0, wanted=lambda _: True, protocols=protocols))
    return {task.id: task for task in found}


def test_the_releases_counts(released):
    stems = Counter(case.id.partition("/")[0] for task in released.values() for case in task.cases)
    assert stems == RELEASED
    assert all(not task.left_out for task in released.values())


def test_the_releases_ids_are_unique(released):
    ids = [case.id for task in released.values() for case in task.cases]
    assert len(set(ids)) == len(ids) == 16049
    assert len({name.partition("/")[2] for name in ids}) < len(ids)


def test_the_releases_truths_relate_as_the_tests_expect(released):
    for task in released.values():
        same = {case.truths[0] == case.truths[1] for case in task.cases}
        assert same == {task.capability == "invariance"}
    assert {case.truths for case in released["carets/antonym-dir"].cases} == {("yes", "no")}


def test_the_release_names_the_choices_in_the_order_of_the_record(released):
    article = "(?:(?:a|an|the) )?"
    asks = [ask for task in released.values() for case in task.cases for ask in case.requests]
    choices = [ask for ask in asks if ask.choices != ("yes", "no")]
    assert Counter(len(ask.choices) for ask in choices) == {2: 3604, 3: 3494}
    for ask in choices:
        *first, last = map(re.escape, ask.choices)
        named = f"{article}{f',? {article}'.join(first)},? or {article}{last} ?\\??"
        assert re.search(f"(?:^| ){named}$", ask.question), ask


def test_the_releases_order_is_changed_in_the_choices_too(released):
    for case in released["carets/order-inv"].cases:
        original, perturbed = case.requests
        if case.tags["form"] == "multi-choice":
            assert sorted(original.choices) == sorted(perturbed.choices)
            assert original.choices != perturbed.choices


def test_the_releases_slices(released):
    slices = {
        task.id: Counter(f"{tag}={value}" for case in task.cases for tag, value in case.tags.items())
        for task in released.values()
    }
    assert slices["carets/order-inv"] == {
        "question_type=conjunction": 2500,
        "question_type=action_choice": 248,
        "question_type=attribute_choice_rel": 2250,
        "form=binary": 2500,
        "form=multi-choice": 2498,
        "choices=2": 1275,
        "choices=3": 1223,
        "answer=yes": 1222,
        "answer=no": 1278,
    }
    assert slices["carets/antonym-dir"]["answer=yes"] == 2500
    assert slices["carets/negation-dir"]["question_type=object_verification_rel"] == 2500


def test_five_pairs_of_the_release_are_one_question(released):
    equal = [case.id for task in released.values() for case in task.cases if case.requests[0] == case.requests[1]]
    assert [name.partition("/")[0] for name in equal] == ["action_choice_template"] * 5


def test_the_images_that_are_there_can_be_decoded(released):
    images = {case.requests[0].image for task in released.values() for case in task.cases}
    there = [image for image in images if image.where]
    assert there
    assert {image.load().mode for image in there} == {"RGB"}
    with pytest.raises(MissingImageError):
        next(image for image in images if not image.where).load()


def test_the_files_of_each_task_are_those_of_default_yml():
    """The file ``default.yml`` is so plain that a regular expression can read it."""
    listed: list[list[str]] = []
    for line in (REAL / "carets/configs/default.yml").read_text().splitlines():
        if line.strip() == "files:":
            listed.append([])
        elif match := re.fullmatch(r"\s+- (\S+\.json)", line):
            listed[-1].append(match[1])
    ours = [list(test.files(default_yml=True)) for test in TASKS.values() if test.types]
    assert sorted(ours) == sorted(listed)
    paper = [file for test in TASKS.values() for file in test.files(default_yml=False)]
    assert {file for files in listed for file in files} - set(paper) == {
        "action_choice_rel_ontology_ontology_test.json",
        "attribute_choice_rel_ontology_ontology_test.json",
        "object_choice_rel_ontology_ontology_test.json",
    }
