"""The readers on those files of the releases that are at hand: the counts of the papers, ids, slices and images."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from builders import json_table
from releases import REAL, counts, tasks

from vlgate.errors import MissingImageError
from vlgate.sources.benchmarks.bla import FILES
from vlgate.sources.benchmarks.carets import DEFAULT_YML, TASKS
from vlgate.sources.benchmarks.vl_checklist import CORPUS, PAPER, parse_config

pytestmark = pytest.mark.skipif(not (REAL / "valse").is_dir(), reason=f"no real files in {REAL}")

TABLES = Path(__file__).with_suffix(".tsv")
# Valid and all instances: Table 5 of the paper.
OF_VALSE = {name: tuple(numbers) for name, *numbers in json_table(TABLES, "instances of valse")}
# Pairs in those files of the release that are there (Table 6 has the sums over all files of a test).
OF_CARETS = dict(json_table(TABLES, "pairs of carets"))
# Items of each file that is there, and flaws: POS == NEG, a NEG that is a POS of the same image, duplicates.
ITEMS = json_table(TABLES, "items and flaws of vl-checklist")
OF_VL_CHECKLIST = {f"vl-checklist/{name}": tuple(numbers) for name, *numbers in ITEMS}


@pytest.fixture(scope="module")
def released():
    """The tasks of each benchmark; of CARETS with all files of ``default.yml``."""
    names = ("bla", "sugarcrepe", "valse", "vl-checklist")
    return {name: tasks(name, REAL) for name in names} | {
        "carets": tasks("carets", REAL, protocols=frozenset({DEFAULT_YML})),
        "valse_all": tasks("valse", REAL, protocols=frozenset({"valse_all"})),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bla", "carets", "valse", "valse_all", "vl-checklist"])
def test_ids_are_unique_and_the_images_that_are_there_can_be_decoded(released, name):
    tasks_of = released[name]
    for task in tasks_of.values():
        assert len({case.id for case in task.cases}) == len(task.cases)
    images = {case.requests[0].image for task in tasks_of.values() for case in task.cases[:5000]}
    there = [image for image in images if image.where]
    assert there
    assert {image.load().mode for image in there[:300]} == {"RGB"}
    for gone in [image for image in images if not image.where][:1]:
        with pytest.raises(MissingImageError):
            gone.load()


def test_bla_and_sugarcrepe_are_read_whole(released):
    for task, name in FILES.items():
        file = REAL / "bla/annotations" / name
        expected = sum(len(record["caption_group"]) for record in json.loads(file.read_text())) if file.exists() else 0
        assert counts(released["bla"]).get(task, 0) == expected
    assert sum(counts(released["bla"]).values()) == 10
    files = {f"sugarcrepe/{file.stem}": file for file in (REAL / "sugarcrepe/data").glob("*.json")}
    found = counts(released["sugarcrepe"])
    assert found == {name: len(json.loads(file.read_text())) for name, file in files.items()} != {}


def test_valse_has_the_counts_of_the_paper_and_its_slices(released):
    valid, every = released["valse"], released["valse_all"]
    assert {name: (len(task.cases), len(every[name].cases)) for name, task in valid.items()} == OF_VALSE
    left_out = {name: len(task.cases) + sum(task.left_out.values()) for name, task in valid.items()}
    assert left_out == counts(every)
    slices = {name: {next(iter(case.tags.values())) for case in task.cases} for name, task in valid.items()}
    assert slices["valse/existence"] == {"zero_to_something", "something_to_zero"}
    assert slices["valse/plurality"] == {"sg2pl", "pl2sg"}
    assert {int(number) for number in slices["valse/counting-balanced"]} >= set(range(17))


def test_carets_has_the_pairs_of_the_paper(released):
    cases = [case for task in released["carets"].values() for case in task.cases]
    assert Counter(case.id.partition("/")[0] for case in cases) == OF_CARETS
    assert all(not task.left_out for task in released["carets"].values())
    assert len({case.id for case in cases}) == 16049 > len({case.id.partition("/")[2] for case in cases})
    equal = [case.id.partition("/")[0] for case in cases if case.requests[0] == case.requests[1]]
    assert equal == ["action_choice_template"] * 5

    for task in released["carets"].values():
        same = {case.truths[0] == case.truths[1] for case in task.cases}
        assert same == {task.capability == "invariance"}
    assert {case.truths for case in released["carets"]["carets/antonym-dir"].cases} == {("yes", "no")}


def test_carets_names_the_choices_in_the_order_of_the_record(released):
    article = "(?:(?:a|an|the) )?"
    asks = [ask for task in released["carets"].values() for case in task.cases for ask in case.requests]
    choices = [ask for ask in asks if ask.choices != ("yes", "no")]
    assert Counter(len(ask.choices) for ask in choices) == {2: 3604, 3: 3494}
    for ask in choices:
        *first, last = map(re.escape, ask.choices)
        named = f"{article}{f',? {article}'.join(first)},? or {article}{last} ?\\??"
        assert re.search(f"(?:^| ){named}$", ask.question), ask
    for case in released["carets"]["carets/order-inv"].cases:
        if case.tags["form"] == "multi-choice":
            original, perturbed = (request.choices for request in case.requests)
            assert sorted(original) == sorted(perturbed)
            assert original != perturbed


def test_the_slices_of_carets(released):
    slices = {
        name: Counter(f"{tag}={value}" for case in task.cases for tag, value in case.tags.items())
        for name, task in released["carets"].items()
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


def test_the_files_of_each_task_of_carets_are_those_of_default_yml():
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
        f"{kind}_choice_rel_ontology_ontology_test.json" for kind in ("action", "attribute", "object")
    }


def flaws(task):
    pairs = [(case.requests[0].image.key, *(request.text for request in case.requests)) for case in task.cases]
    true = {pair[:2] for pair in pairs}
    equal = sum(positive == negative for _, positive, negative in pairs)
    return equal, sum((key, negative) in true for key, _, negative in pairs), len(pairs) - len(set(pairs))


@pytest.mark.slow
def test_vl_checklist_has_its_counts_and_flaws(released):
    of = released["vl-checklist"]
    found = {name: (len({c.id.split("-")[0] for c in task.cases}), *flaws(task)) for name, task in of.items()}
    assert found == OF_VL_CHECKLIST


def test_three_texts_of_swig_and_one_of_the_others(released):
    for name, task in released["vl-checklist"].items():
        assert len(task.cases) == (3 if "swig" in name else 1) * OF_VL_CHECKLIST[name][0]
        assert task.left_out == {}


@pytest.mark.slow
def test_vl_checklist_by_the_protocol_of_the_paper(released):
    for name, task in tasks("vl-checklist", REAL, protocols=frozenset({PAPER})).items():
        whole = released["vl-checklist"][name].cases
        assert len(task.cases) == min(1000, len({case.id.split("-")[0] for case in whole}))
        assert len(task.cases) + sum(task.left_out.values()) == len(whole)
        places = {case.id: case for case in whole}
        assert all(places[case.id] == case for case in task.cases)


def test_every_yaml_of_vl_checklist_is_a_task():
    root = REAL / "vl-checklist/corpus/v1"
    assert {str(file.relative_to(root)) for file in root.rglob("*.yaml")} == set(CORPUS.values())
    configs = {place: parse_config(root / place) for place in CORPUS.values()}
    there = {place for place, config in configs.items() if (REAL / "vl-checklist" / config["ANNO_PATH"]).exists()}
    assert {CORPUS[name] for name in OF_VL_CHECKLIST} == there
