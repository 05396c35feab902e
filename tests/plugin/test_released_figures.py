"""``--protocol=release``: the figures of released scorers, from a run to its files; no gate rests on them."""

import json

import pytest

import vlgate.judging.verdicts  # noqa: F401  # a second run in this process would have other classes than the first

THINGS = [("cup", "table"), ("dog", "chair")]
PLACES = ("left_of", "right_of", "on", "under")


def write(place):
    """Four questions of POPE and two sets of What'sUp, and the replies of a model that says and scores nothing."""
    image = "COCO_val2014_000000310196.jpg"
    asked = [
        {"question_id": n, "image": image, "text": f"Is there a {n}?", "label": ("yes", "no")[n % 2]} for n in range(4)
    ]
    replies = [{"image": image, "question": one["text"], "answer": "Hm."} for one in asked]
    photographs = []
    for first, second in THINGS:
        for name in PLACES:
            captions = [f"A {first} {other} a {second}" for other in sorted(PLACES, key=lambda one: one != name)]
            photographs.append({"image_path": f"data/{first}_{name}_{second}.jpeg", "caption_options": captions})
            file = f"{first}_{name}_{second}.jpeg"
            replies += [{"image": file, "text": caption, "score": 0.5} for caption in captions]
    data = place.path / "data"
    (data / "pope").mkdir(parents=True)
    (data / "whatsup").mkdir()
    (data / "pope/coco_pope_random.json").write_text("".join(f"{json.dumps(one)}\n" for one in asked))
    (data / "whatsup/controlled_images_dataset.json").write_text(json.dumps(photographs))
    (place.path / "replies.jsonl").write_text("".join(f"{json.dumps(reply)}\n" for reply in replies))


@pytest.mark.usefixtures("pytester")
def test_the_release_s_figures_stand_beside_the_metrics_and_in_every_file(place):
    write(place)
    place.thresholds('[gate."pope/*".accuracy]\nmin = 0.1\nmin_cases = 1\n')
    for folder, more in (("out", []), ("again", ["--baseline=out", "--results=again"])):
        found = place.run("--model=replay:replies.jsonl", "--protocol=release", "--no-header", *more, ret=1)
        said = place.task("pope/coco-random", folder)["metrics"]
        assert (said["accuracy"]["value"], said["accuracy@release"]["value"], said["recall@release"]["value"]) == (
            0,
            0.5,
            1,
        )
        said = place.task("whatsup/a", folder)["metrics"]
        values = {name: one["value"] for name, one in said.items()}
        assert values == {
            "top1_text": 0,
            "pair_all": 0,
            "set_all": 0,
            "top1_text@release": 1,
            "pair_all@release": 1,
            "set_all@release": 1,
        }
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
