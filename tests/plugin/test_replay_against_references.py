"""Random replies with ties, replayed through the whole suite, against scikit-learn and plain lines."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import recall_score, roc_auc_score

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
COUNTS = {
    "valse/existence": 505,
    "valse/plurality": 851,
    "valse/counting-balanced": 868,
    "valse/actant-swap": 949,
    "valse/coreference-standard": 708,
    "valse/foil-it": 943,
}
FILES = {"plurality": "plurals", "counting-balanced": "counting-hard"}


def replies_for(files):
    """A row a distinct (image, text) of all records, with scores that often tie."""
    draw = random.Random(7)
    rows = {}
    for file in files:
        for record in json.loads(file.read_text()).values():
            for text in (record["caption"], record["foil"]):
                score, match = float(draw.randrange(5)), draw.random() < 0.5
                rows.setdefault((record["image_file"], text), {"score": score, "match": match})
    return rows


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
    lines = [json.dumps({"image": i, "text": t, **row}) for (i, t), row in rows.items()]
    (place.path / "replies.jsonl").write_text("\n".join(lines) + "\n")
    place.run(
        "--model=replay:replies.jsonl", f"--data={data}", f"--ties={ties}", f"--suite={','.join(files)}", data=False
    )
    found = place.metrics()["tasks"]
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
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the released files in ../shared/data")
@pytest.mark.parametrize("ties", ["strict", "half", "credit"])
def test_metrics_of_the_released_files(place, ties):
    names = {task: task.partition("/")[2] for task in COUNTS}
    files = {task: SHARED / "valse/data" / f"{FILES.get(name, name)}.json" for task, name in names.items()}
    found = compare(place, files, replies_for(files.values()), SHARED, ties)
    assert {task: found[task]["judged"] for task in COUNTS} == COUNTS
