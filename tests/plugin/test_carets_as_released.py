"""Answers outside the choices, replayed over the released files of CARETS, against its scoring in plain lines."""

import json
from pathlib import Path

import pytest

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "carets" / "data" / "questions"
CODES = {"template": "t", "ontology_ontology": "h", "symmetric": "s", "negation": "n", "antonym": "a"}
TESTS = {
    "template": "rephrase-inv",
    "ontology_ontology": "ontological-inv",
    "symmetric": "order-inv",
    "negation": "negation-dir",
    "antonym": "antonym-dir",
}
FILES = sorted(REAL.glob("*_test.json")) if REAL.is_dir() else []

pytestmark = pytest.mark.skipif(not FILES, reason=f"no released CARETS files in {REAL}")


def suffix_of(file):
    return next(ending for ending in TESTS if file.stem.removesuffix("_test").endswith(f"_{ending}"))


def pairs_of(file):
    """Each pair of records (original, perturbed), by the ids of the release."""
    records = {record["question_id"]: record for record in json.loads(file.read_text())}
    code = CODES[suffix_of(file)]
    return [(record, records[f"{name}-{code}"]) for name, record in records.items() if f"{name}-{code}" in records]


def truth(record):
    return next(iter(record["label"]))


def reply(record, place):
    """The truth for most questions, else another word, another spelling of the truth, or a wrong choice."""
    kind = (int(record["img_id"]) * 31 + place * 7 + len(record["sent"])) % 20
    options = record["assignment"].get("category-options1") or record["assignment"].get("obj-category-options1")
    other = {"yes": "no", "no": "yes"}.get(truth(record)) or next(
        option for option in options if option != truth(record)
    )
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
    rows = (json.dumps({"image": i, "question": q, "answer": text}) for (i, q), text in said.items())
    place.path.joinpath("replies.jsonl").write_text("\n".join(rows) + "\n")
    place.thresholds()
    place.run(
        "--model=replay:replies.jsonl", "--data=data", "--suite=carets/*", "--protocol=carets_release", data=False
    )
    return said, place.metrics()["tasks"]


def values(task, variant=""):
    found = {name.partition("@")[::2]: metric["value"] for name, metric in task["metrics"].items()}
    return {name: value for (name, of), value in found.items() if of == variant}


@pytest.mark.parametrize(
    "file", [*FILES[:1], *(pytest.param(one, marks=pytest.mark.slow) for one in FILES[1:])], ids=lambda file: file.stem
)
def test_each_released_file_scores_as_the_release_and_as_the_paper_with_answers_outside_the_choices(place, file):
    said, tasks = replayed(place, [file])
    test, pairs = TESTS[suffix_of(file)], pairs_of(file)
    task = tasks[f"carets/{test}"]
    assert (task["judged"], task["unscored"]) == (len(pairs), 0)
    assert values(task, "carets_release") == pytest.approx(released(pairs, said, test), abs=1e-12)
    expected = by_the_paper(pairs, said, test)
    assert {name: values(task)[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    unread = sum(any(read(said[r["img_id"], r["sent"]]) in {"holding", "neither"} for r in pair) for pair in pairs)
    assert 0 < task["unread"] == unread


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
