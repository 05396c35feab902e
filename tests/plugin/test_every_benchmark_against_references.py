"""Coarse random replies to everything in the data folder, against plain recomputations from the released files."""

import json
import subprocess
import sys
from collections import defaultdict
from hashlib import blake2b
from itertools import pairwise, permutations
from pathlib import Path

import pyarrow.parquet as pq
import pytest

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the released files in ../shared/data"),
]

MODEL = """
from hashlib import blake2b

def number(*words):
    return blake2b("|".join(words).encode(), digest_size=4).digest()[0]

class Coarse:
    image_names = True

    def match(self, pairs):
        return [float(number(p.image.key, p.text) % 5) for p in pairs]

    def answer(self, questions):
        return [sorted(q.choices)[number(q.image.key, q.question) % len(q.choices)] for q in questions]

def build():
    return Coarse()
"""


def number(*words):
    return blake2b("|".join(words).encode(), digest_size=4).digest()[0]


def score(image, text):
    return number(image, text) % 5


def mean(values):
    values = list(values)
    return sum(values) / len(values)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("all")
    (folder / "coarse_model.py").write_text(MODEL)
    options = ["--model=coarse_model:build", f"--data={DATA}", "--missing-images=skip", "--results=out", "--health=off"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "tests_vl", *options]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return folder / "out"


@pytest.fixture(scope="module")
def found(out):
    return json.loads((out / "metrics.json").read_text())["tasks"]


def agrees(metrics, expected):
    for name, value in expected.items():
        assert metrics[name]["value"] == pytest.approx(value, abs=1e-12), name


def test_sugarcrepe_vl_checklist_and_bla(found):
    for file in sorted((DATA / "sugarcrepe/data").glob("*.json")):
        rows = json.loads(file.read_text()).values()
        right = [score(r["filename"], r["caption"]) > score(r["filename"], r["negative_caption"]) for r in rows]
        task = found[f"sugarcrepe/{file.stem}"]
        assert task["judged"] == len(right)
        agrees(task["metrics"], {"acc_r": mean(right)})
    tasks = 0
    corpus = DATA / "vl-checklist/corpus/v1"
    for config in sorted(corpus.rglob("*.yaml")):
        path = config.read_text().split('ANNO_PATH: "')[1].split('"')[0]
        file = DATA / "vl-checklist" / path
        if not file.is_file() or not (items := json.loads(file.read_text())):
            continue
        pairs = [(name, pair) for name, texts in items for pair in zip(texts["POS"], texts["NEG"], strict=True)]
        right = [score(name, true) > score(name, false) for name, (true, false) in pairs]
        name = "/".join(config.relative_to(corpus).with_suffix("").parts).lower()
        assert found[f"vl-checklist/{name}"]["judged"] == len(right)
        agrees(found[f"vl-checklist/{name}"]["metrics"], {"acc_r": mean(right)})
        tasks += 1
    assert tasks == 26
    for name in ("active_passive", "coordination"):
        rows = json.loads((DATA / f"bla/annotations/{name}_captions.json").read_text())
        sets = [(str(row["image_id"]), group) for row in rows for group in row["caption_group"]]
        keys = ("True1", "True2", "False1", "False2")
        scores = [[score(image, group[key]) for key in keys] for image, group in sets]
        results = [ranked(four) for four in scores]
        task = found[f"bla/{name.replace('_', '-')}"]["metrics"]
        means = [mean(column) for column in zip(*results, strict=True)]
        agrees(task, dict(zip(("set_acc", "set_error", "sen_acc"), means, strict=True)))
        names = ("ta", "tp", "fa", "fp") if name == "active_passive" else ("tp1", "tp2", "fp1", "fp2")
        preferences = [metric for metric in task if metric.count("_") == 1 and metric.split("_")[0] in names]
        assert len(preferences) == 6
        for metric in preferences:
            first, second = (names.index(part) for part in metric.split("_"))
            agrees(task, {metric: mean(four[first] > four[second] for four in scores)})


def orders(scores):
    """Every ranking of four sentences that their scores allow, the best first."""
    return [o for o in permutations(range(4)) if all(scores[a] >= scores[b] for a, b in pairwise(o))]


def ranked(scores):
    """Whether the true (or the false) sentences hold the top two, and each sentence its half, however ties break."""
    tops = [set(order[:2]) for order in orders(scores)]
    halves = [all((sentence in top) == (sentence < 2) for top in tops) for sentence in range(4)]
    return all(top == {0, 1} for top in tops), all(top == {2, 3} for top in tops), mean(halves)


CARETS = {
    "template": ("rephrase-inv", "t"),
    "symmetric": ("order-inv", "s"),
    "negation": ("negation-dir", "n"),
    "antonym": ("antonym-dir", "a"),
}
SHORT = {"object_verification_conjunction": "conjunction", "object_verification_disjunction": "disjunction"}


def carets_pairs(test, suffix):
    """(file, choices, (answer, truth) of the original, of its partner), paired by id within a file."""
    for file in sorted((DATA / "carets/data/questions").glob(f"*_{test}_test.json")):
        rows = {row["question_id"]: row for row in json.loads(file.read_text())}
        for key, row in rows.items():
            if f"{key}-{suffix}" not in rows:
                continue
            options = row["assignment"]
            choices = ["yes", "no"]
            if "verification" not in file.name:
                choices = options.get("category-options1") or options["obj-category-options1"]
            sides = []
            for one in (row, rows[f"{key}-{suffix}"]):
                said = sorted(choices)[number(str(one["img_id"]), one["sent"]) % len(choices)]
                sides.append((said, next(iter(one["label"]))))
            yield file.name.removesuffix(f"_{test}_test.json"), sides


@pytest.mark.parametrize("test", CARETS)
def test_carets_with_its_slices(found, test):
    task, suffix = CARETS[test]
    slices = defaultdict(list)
    for kind, sides in carets_pairs(test, suffix):
        slices[kind].append(sides)
    everything = [sides for part in slices.values() for sides in part]
    task = found[f"carets/{task}"]
    directional = task["capability"] == "directional"

    def expected(pairs):
        right = [[said == truth for said, truth in sides] for sides in pairs]
        return {
            "acc": mean(r for both in right for r in both),
            "c_acc": mean(all(both) for both in right),
            "acc_original": mean(a for a, _ in right),
            "acc_perturbed": mean(b for _, b in right),
            "cons": mean((a[0] == b[0]) != directional for a, b in pairs),
            "read": 1.0,
        }

    assert task["judged"] == len(everything)
    agrees(task["metrics"], expected(everything))
    kinds = {name: metrics for name, metrics in task["slices"].items() if name.startswith("question_type=")}
    assert len(kinds) == len(slices)
    for kind, pairs in slices.items():
        agrees(kinds[f"question_type={SHORT.get(kind, kind)}"], expected(pairs))


PLAIN = {
    "acc_r": lambda row: row["scores"][0] > row["scores"][1],
    "set_acc": lambda row: min(row["scores"][:2]) > max(row["scores"][2:]),
    "set_error": lambda row: min(row["scores"][2:]) > max(row["scores"][:2]),
    "acc_original": lambda row: row["answers"][0] == row["truths"][0],
    "acc_perturbed": lambda row: row["answers"][1] == row["truths"][1],
    "c_acc": lambda row: row["answers"] == row["truths"],
    "acc": lambda row: mean(said == truth for said, truth in zip(row["answers"], row["truths"], strict=True)),
}


def test_every_slice_of_every_task_from_the_run_s_own_cases(out, found):
    rows = defaultdict(list)
    for row in pq.read_table(out / "cases.parquet").to_pylist():
        rows[row["task"]].append(row | {"tags": json.loads(row["tags"])})
    compared = 0
    for task, content in found.items():
        names = {f"{tag}={value}" for row in rows[task] for tag, value in row["tags"].items()}
        assert content["slices"].keys() == names
        for name, metrics in content["slices"].items():
            tag, value = name.split("=", 1)
            part = [row for row in rows[task] if row["tags"].get(tag) == value]
            if content["shape"] == "single":  # the model gives scores, but neither yes nor no
                assert {metrics[one]["value"] for one in ("accuracy", "yes_share", "read")} == {0.0}
                continue
            assert {metric["n"] for metric in metrics.values()} == {len(part)}
            expected = {metric: mean(map(PLAIN[metric], part)) for metric in PLAIN.keys() & metrics.keys()}
            if "cons" in metrics:
                same = [row["answers"][0] == row["answers"][1] for row in part]
                expected["cons"] = mean(equal == (content["capability"] == "invariance") for equal in same)
                expected["read"] = 1.0
            assert expected.keys() == metrics.keys()
            agrees(metrics, expected)
            compared += len(expected)
    assert compared > 100
