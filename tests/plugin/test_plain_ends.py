"""What a run says at its end: counts in cases, tasks without cases, and which thresholds it used."""

import json

from PIL import Image


def test_data_without_a_thresholds_file_are_not_gated_by_the_shipped_one(place, right):
    place.valse(n=40)
    result = place.run(right, ret=0, says="no thresholds file: nothing is gated; results in *")
    assert "not run" not in result.stdout.str()
    assert place.metrics()["gates"] == []
    assert place.metrics()["run"]["thresholds"] is None


def test_the_shipped_thresholds_gate_the_embedded_scenes(place):
    result = place.run("--suite=scenes/foil-it", "--limit=40", "--health=off", data=False)
    result.stdout.fnmatch_lines(["gates from *thresholds.toml; results in *"])
    assert "scenes/foil-it:acc_r" in {gate["gate"] for gate in place.metrics()["gates"]}


def test_a_task_that_came_out_empty_is_listed_with_its_reason(place):
    Image.new("RGB", (640, 480)).save(place.image("photos/1.jpg"))
    things = [
        {"id": "1", "name": "cup", "box": [40, 40, 180, 180], "attributes": ["red"]},
        {"id": "2", "name": "chair", "box": [340, 240, 180, 180]},
        {"id": "3", "name": "dog", "box": [40, 240, 180, 180], "attributes": ["brown"]},
    ]
    folder = place.path / "data" / "scene-graphs"
    folder.mkdir(parents=True)
    graph = {"image": "images/photos/1.jpg", "width": 640, "height": 480, "objects": things}
    (folder / "own.json").write_text(json.dumps({"graphs": [graph]}))
    result = place.run("--model=oracle", "--health=off", ret=0)
    made = set(place.metrics()["tasks"])
    assert 0 < len(made) < 8
    summary = (place.path / "out" / "summary.md").read_text()
    for test in ("rephrase-inv", "order-inv", "visual-inv", "antonym-dir", "ontological-inv", "negation-dir"):
        if f"scene-graphs/{test}" not in made:
            line = f"scene-graphs/{test}: no cases: 1 scene graphs give no question of {test}"
            result.stdout.fnmatch_lines([f"{line}*"])
            assert f"- {line}" in summary
