"""VL-CheckList's paper protocol with a fifth of the images missing, against the released evaluate.py in plain lines."""

import json
import shutil
from pathlib import Path

import pytest

REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "vl-checklist"
YAML = "corpus/v1/Attribute/size/vg.yaml"
MAX_NUM = 2000  # of texts: the positive and the negative one of 1,000 items

pytestmark = pytest.mark.skipif(not (REAL / YAML).is_file(), reason=f"no released VL-CheckList files in {REAL}")


def is_there(name):
    return int(Path(name).stem) % 5 != 0


def score(name, text):
    return float(sum(map(ord, f"{name} {text}")) * 7919 % 1009)


def released(items, *, drop_first):
    """The share of pairs whose positive text scores higher: missing images are dropped, then MAX_NUM/2 are taken."""
    if drop_first:
        kept = [item for item in items if is_there(item[0])][: MAX_NUM // 2]
    else:
        kept = [item for item in items[: MAX_NUM // 2] if is_there(item[0])]
    right = sum(score(name, texts["POS"][0]) > score(name, texts["NEG"][0]) for name, texts in kept)
    return right / len(kept), len(kept)


@pytest.mark.slow
def test_missing_images_are_dropped_before_a_thousand_items_are_taken(place):
    anno = next(line for line in (REAL / YAML).read_text().splitlines() if "ANNO_PATH" in line).split('"')[1]
    for name in (YAML, anno):
        to = place.path / "data/vl-checklist" / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REAL / name, to)
    items = json.loads((REAL / anno).read_text())
    rows = {(name, text) for name, texts in items for side in ("POS", "NEG") for text in texts[side]}
    lines = (json.dumps({"image": name, "text": text, "score": score(name, text)}) for name, text in sorted(rows))
    (place.path / "replies.jsonl").write_text("\n".join(lines) + "\n")
    (place.path / "data/images/vg").mkdir(parents=True)
    for name in {name for name, _ in items if is_there(name)}:
        (place.path / "data/images/vg" / Path(name).name).touch()
    place.thresholds()
    place.run("--model=replay:replies.jsonl", "--protocol=vlchecklist_paper", "--missing-images=skip", "--health=off")
    task = place.task("vl-checklist/attribute/size/vg")
    value, n = released(items, drop_first=True)
    assert n == 1000
    assert (task["metrics"]["acc_r"]["value"], task["metrics"]["acc_r"]["n"]) == (pytest.approx(value, abs=1e-12), n)
    other = released(items, drop_first=False)
    assert other[1] < 850
    assert other[0] != value
