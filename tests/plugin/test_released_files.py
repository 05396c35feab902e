"""Replies replayed over released files, against the scoring of their authors in plain lines."""

import json
import random
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from builders import write_lines
from sklearn.metrics import recall_score, roc_auc_score

import vlgate.judging.verdicts  # noqa: F401  # a second run in this process would have other classes than the first

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
CARETS = DATA / "carets/data/questions"
TESTS = {
    "template": ("t", "rephrase-inv"),
    "ontology_ontology": ("h", "ontological-inv"),
    "symmetric": ("s", "order-inv"),
    "negation": ("n", "negation-dir"),
    "antonym": ("a", "antonym-dir"),
}
FILES = sorted(CARETS.glob("*_test.json")) if CARETS.is_dir() else []

NEEDED = pytest.mark.skipif(not FILES, reason=f"no released CARETS files in {CARETS}")


def tasks_of(place, replies, *options, data="data"):
    write_lines(place.path / "replies.jsonl", replies)
    place.run("--model=replay:replies.jsonl", f"--data={data}", "--health=off", *options, data=False)
    return place.metrics()["tasks"]


def suffix_of(file):
    return next(ending for ending in TESTS if file.stem.removesuffix("_test").endswith(f"_{ending}"))


def pairs_of(file):
    """Each pair of records (original, perturbed), by the ids of the release."""
    records = {record["question_id"]: record for record in json.loads(file.read_text())}
    code, _ = TESTS[suffix_of(file)]
    return [(record, records[f"{name}-{code}"]) for name, record in records.items() if f"{name}-{code}" in records]


def truth(record):
    return next(iter(record["label"]))


def reply(record, place):
    """The truth for most questions, else another word, another spelling of the truth, or a wrong choice."""
    kind = (int(record["img_id"]) * 31 + place * 7 + len(record["sent"])) % 20
    options = record["assignment"].get("category-options1") or record["assignment"].get("obj-category-options1")
    other = next(option for option in options or ("yes", "no") if option != truth(record))
    if kind < 6:
        return "holding" if kind < 4 else "neither"
    return f"{truth(record)}.".capitalize() if kind == 6 else other if kind < 11 else truth(record)


def released(pairs, said, test):
    """CONS and C-ACC of one file as dataset.py computes them: exact texts, and its two slips."""
    cons = c_acc = 0
    for one, two in pairs:
        first, second = said[one["img_id"], one["sent"]], said[two["img_id"], two["sent"]]
        right = first == truth(one)
        consistent = (first != second) if test.endswith("dir") else first == second
        if test == "ontological-inv":
            consistent = consistent or not right
        cons += consistent
        c_acc += right and (consistent if test.endswith("dir") else second == truth(two))
    return {"cons": cons / len(pairs), "c_acc": c_acc / len(pairs)}


def read(text):
    """The answer in normal form: upper case and the closing full stop make no difference."""
    return text.rstrip(".").lower()


def by_the_paper(pairs, said, test):
    """The figures of the paper, in which an answer outside the choices agrees with none and differs from none."""
    n, right, same, both, unread = len(pairs), 0, 0, 0, 0
    for one, two in pairs:
        answers = [read(said[record["img_id"], record["sent"]]) for record in (one, two)]
        hits = [answer == truth(record).lower() for answer, record in zip(answers, (one, two), strict=True)]
        right, both = right + sum(hits), both + all(hits)
        silent = sum(answer in {"holding", "neither"} for answer in answers)
        same += (answers[0] == answers[1]) != test.endswith("dir") and not silent
        unread += silent
    return {"acc": right / (2 * n), "cons": same / n, "c_acc": both / n, "read": 1 - unread / (2 * n)}


def replayed(place, files):
    said = {}
    for file in files:
        place.path.joinpath("data/carets/questions").mkdir(parents=True, exist_ok=True)
        place.path.joinpath("data/carets/questions", file.name).write_text(file.read_text())
        for pair in pairs_of(file):
            for number, record in enumerate(pair):
                said.setdefault((record["img_id"], record["sent"]), reply(record, number))
    rows = [{"image": i, "question": q, "answer": text} for (i, q), text in said.items()]
    return said, tasks_of(place, rows, "--suite=carets/*", "--protocol=carets_release")


def values(task, variant=""):
    found = {name.partition("@")[::2]: metric["value"] for name, metric in task["metrics"].items()}
    return {name: value for (name, of), value in found.items() if of == variant}


@NEEDED
@pytest.mark.parametrize(
    "file", [*FILES[:1], *(pytest.param(one, marks=pytest.mark.slow) for one in FILES[1:])], ids=lambda file: file.stem
)
def test_each_released_file_scores_as_the_release_and_as_the_paper_with_answers_outside_the_choices(place, file):
    said, tasks = replayed(place, [file])
    (_, test), pairs = TESTS[suffix_of(file)], pairs_of(file)
    task = tasks[f"carets/{test}"]
    assert (task["judged"], task["unscored"]) == (len(pairs), 0)
    assert values(task, "carets_release") == pytest.approx(released(pairs, said, test), abs=1e-12)
    expected = by_the_paper(pairs, said, test)
    assert {name: values(task)[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    unread = sum(any(read(said[r["img_id"], r["sent"]]) in {"holding", "neither"} for r in pair) for pair in pairs)
    assert 0 < task["unread"] == unread


@NEEDED
@pytest.mark.slow
def test_the_release_s_grouping_comes_with_its_figures(place):
    """All files of the ontological test that are there; the last one of default.yml is that of 679 object choices."""
    files = [file for file in FILES if suffix_of(file) == "ontology_ontology"]
    said, tasks = replayed(place, files)
    task = tasks["carets/ontological-inv"]
    last = next(file for file in files if file.name.startswith("object_choice_rel"))
    assert task["judged"] == sum(len(pairs_of(file)) for file in files)
    assert task["metrics"]["cons@carets_release"]["n"] == 679
    expected = released(pairs_of(last), said, "ontological-inv")
    assert values(task, "carets_release") == pytest.approx(expected, abs=1e-12)


CHECKLIST = DATA / "vl-checklist"
YAML = "corpus/v1/Attribute/size/vg.yaml"
MAX_NUM = 2000  # of texts: the positive and the negative one of 1,000 items


def is_there(name):
    return int(Path(name).stem) % 5 != 0


def score(name, text):
    return float(sum(map(ord, f"{name} {text}")) * 7919 % 1009)


def released_checklist(items, *, drop_first):
    """The share of pairs whose positive text scores higher: missing images are dropped, then MAX_NUM/2 are taken."""
    kept = [item for item in (items if drop_first else items[: MAX_NUM // 2]) if is_there(item[0])][: MAX_NUM // 2]
    right = sum(score(name, texts["POS"][0]) > score(name, texts["NEG"][0]) for name, texts in kept)
    return right / len(kept), len(kept)


@pytest.mark.slow
@pytest.mark.skipif(not (CHECKLIST / YAML).is_file(), reason=f"no released VL-CheckList files in {CHECKLIST}")
def test_missing_images_are_dropped_before_a_thousand_items_are_taken(place):
    anno = next(line for line in (CHECKLIST / YAML).read_text().splitlines() if "ANNO_PATH" in line).split('"')[1]
    for name in (YAML, anno):
        to = place.path / "data/vl-checklist" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CHECKLIST / name, to)
    items = json.loads((CHECKLIST / anno).read_text())
    rows = {(name, text) for name, texts in items for side in ("POS", "NEG") for text in texts[side]}
    (place.path / "data/images/vg").mkdir(parents=True)
    for name in {name for name, _ in items if is_there(name)}:
        (place.path / "data/images/vg" / Path(name).name).touch()
    replies = [{"image": name, "text": text, "score": score(name, text)} for name, text in sorted(rows)]
    tasks = tasks_of(place, replies, "--protocol=vlchecklist_paper", "--missing-images=skip")
    task = tasks["vl-checklist/attribute/size/vg"]
    value, n = released_checklist(items, drop_first=True)
    assert n == 1000
    assert (task["metrics"]["acc_r"]["value"], task["metrics"]["acc_r"]["n"]) == (pytest.approx(value, abs=1e-12), n)
    other = released_checklist(items, drop_first=False)
    assert other[1] < 850
    assert other[0] != value


COUNTS = {
    "valse/existence": 505,
    "valse/plurality": 851,
    "valse/counting-balanced": 868,
    "valse/actant-swap": 949,
    "valse/coreference-standard": 708,
    "valse/foil-it": 943,
}
NAMES = {"plurality": "plurals", "counting-balanced": "counting-hard"}


def replies_for(files):
    """A row a distinct (image, text) of all records, with scores that often tie."""
    draw = random.Random(7)
    records = [record for file in files for record in json.loads(file.read_text()).values()]
    pairs = dict.fromkeys((record["image_file"], record[side]) for record in records for side in ("caption", "foil"))
    return {pair: {"score": float(draw.randrange(5)), "match": draw.random() < 0.5} for pair in pairs}


def reference(records, rows, ties):
    """VALSE's metrics of valid records, by scikit-learn and plain lines."""
    valid = [record for record in records if record["mturk"]["caption"] >= 2]
    sides = [[rows[record["image_file"], record[side]] for record in valid] for side in ("caption", "foil")]
    caption, foil = (np.array([row["score"] for row in side]) for side in sides)
    tie = {"strict": 0.0, "half": 0.5, "credit": 1.0}[ties]
    truth = np.repeat([1, 0], len(valid))
    said = np.array([row["match"] for side in sides for row in side], dtype=int)
    p_c, p_f = recall_score(truth, said), recall_score(truth, said, pos_label=0)
    return {
        "acc_r": sum((c > f) + tie * (c == f) for c, f in zip(caption, foil, strict=True)) / len(valid),
        "p_c": p_c,
        "p_f": p_f,
        "acc": (p_c + p_f) / 2,
        "min_pc_pf": min(p_c, p_f),
        "auroc": roc_auc_score(truth, np.concatenate([caption, foil])),
    }


def compare(place, files, rows, data, ties):
    replies = [{"image": i, "text": t, **row} for (i, t), row in rows.items()]
    found = tasks_of(place, replies, f"--ties={ties}", f"--suite={','.join(files)}", data=data)
    for task, file in files.items():
        expected = reference(list(json.loads(file.read_text()).values()), rows, ties)
        metrics = {name: metric["value"] for name, metric in found[task]["metrics"].items()}
        assert metrics.keys() == expected.keys()
        for name, value in expected.items():
            assert metrics[name] == pytest.approx(value, abs=1e-12), (task, name)
            assert found[task]["metrics"][name]["low"] <= metrics[name] <= found[task]["metrics"][name]["high"]
    return found


@pytest.mark.parametrize("ties", ["strict", "half", "credit"])
def test_metrics_of_written_records(place, ties):
    def change(i, record):
        record["mturk"] = {"caption": 1 + i % 3, "foil": 0, "other": 2 - i % 3}

    files = {"valse/existence": place.valse(n=90, images=False, change=change)}
    found = compare(place, files, replies_for(files.values()), "data", ties)
    assert found["valse/existence"]["judged"] == 60


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the released files in ../shared/data")
@pytest.mark.parametrize("ties", ["strict", "half", "credit"])
def test_metrics_of_the_released_files(place, ties):
    names = {task: task.partition("/")[2] for task in COUNTS}
    files = {task: DATA / "valse/data" / f"{NAMES.get(name, name)}.json" for task, name in names.items()}
    found = compare(place, files, replies_for(files.values()), DATA, ties)
    assert {task: found[task]["judged"] for task in COUNTS} == COUNTS


PLACES = ("left_of", "right_of", "on", "under")


def write(place):
    """Four questions of POPE and two sets of What'sUp, and the replies of a model that says and scores nothing."""
    image = "COCO_val2014_000000310196.jpg"
    labels = ("yes", "no", "yes", "no")
    asked = [
        {"question_id": n, "image": image, "text": f"Is it {n}?", "label": label} for n, label in enumerate(labels)
    ]
    replies = [{"image": image, "question": one["text"], "answer": "Hm."} for one in asked]
    photographs = []
    for (first, second), name in product((("cup", "table"), ("dog", "chair")), PLACES):
        captions = [f"A {first} {other} a {second}" for other in sorted(PLACES, key=lambda one, name=name: one != name)]
        file = f"{first}_{name}_{second}.jpeg"
        photographs.append({"image_path": f"data/{file}", "caption_options": captions})
        replies += [{"image": file, "text": caption, "score": 0.5} for caption in captions]
    data = place.path / "data"
    (data / "pope").mkdir(parents=True)
    (data / "whatsup").mkdir()
    write_lines(data / "pope/coco_pope_random.json", asked)
    (data / "whatsup/controlled_images_dataset.json").write_text(json.dumps(photographs))
    write_lines(place.path / "replies.jsonl", replies)


@pytest.mark.usefixtures("pytester")
def test_the_release_s_figures_stand_beside_the_metrics_and_in_every_file(place):
    write(place)
    place.thresholds('[gate."pope/*".accuracy]\nmin = 0.1\nmin_cases = 1\n')
    for folder, more in (("out", []), ("again", ["--baseline=out", "--results=again"])):
        found = place.run("--model=replay:replies.jsonl", "--protocol=release", "--no-header", *more, ret=1)
        said = place.task("pope/coco-random", folder)["metrics"]
        names = ("accuracy", "accuracy@release", "recall@release")
        assert [said[name]["value"] for name in names] == [0, 0.5, 1]
        said = place.task("whatsup/a", folder)["metrics"]
        names = ("top1_text", "pair_all", "set_all")
        expected = dict.fromkeys(names, 0) | {f"{name}@release": 1 for name in names}
        assert {name: one["value"] for name, one in said.items()} == expected
        assert said["set_all@release"]["n"] == 2
    found.stdout.fnmatch_lines(["*whatsup/a: top1_text@release 1.000*", "*one score for everything is always right*"])
    for file in ("summary.md", "report.html"):
        text = (place.path / "again" / file).read_text()
        assert "accuracy@release" in text
        assert "even an empty one" in text


@pytest.mark.parametrize("kind", ["gate", "limit"])
def test_no_gate_rests_on_a_metric_of_the_release(place, kind):
    write(place)
    place.thresholds(f'[{kind}."whatsup/*"."top1_text@release"]\nmax = 0.99\n')
    found = place.run("--model=replay:replies.jsonl", "--protocol=release", ret=4)
    said = " ".join(" ".join(found.errlines + found.outlines).split())
    assert "top1_text@release is top1_text by another definition" in said
    assert "one score for everything is always right" in said
    assert "name top1_text" in said
