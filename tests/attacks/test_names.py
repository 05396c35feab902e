"""Models that go by the names of images: under the gates that are shipped, and under gates on controls."""

import json

import pytest

from attacks.ways import Way

CONTROLS = """schema = 1

[defaults]
min_cases = 20

[gate."valse/existence".{figure}]
{limit}
basis = "value"
"""


@pytest.fixture
def controlled(inside, pytester):
    """The decision and reason of the gate on one figure of a control, and the exit status."""

    def run(model, control, figure, limit):
        file = pytester.path / "controls.toml"
        file.write_text(CONTROLS.format(figure=figure, limit=limit))
        args = ("--items=batch", "--suite=valse/existence", f"--controls={control}", f"--thresholds={file}")
        ended = inside(model, Way(name=control, about=control, args=args))
        assert "INTERNALERROR" not in ended.output
        gates = json.loads((ended.results / "metrics.json").read_text())["gates"]
        return ended.status, {gate["gate"]: (gate["decision"], gate["why"]) for gate in gates}

    return run


def test_the_name_of_a_perturbed_image_does_not_reach_the_model(pytester, monkeypatch):
    from attacks.catalogue import MODELS

    monkeypatch.syspath_prepend(MODELS)
    monkeypatch.setenv("CI", "true")
    args = ("--items=batch", "--health=off", "--suite=scenes/occlusion-dir", "--results=results")
    ended = pytester.runpytest_inprocess("--pyargs", "tests_vl", "--model=bad_names:perturbation", *args)
    assert ended.ret == 1
    ended.stdout.fnmatch_lines(["FAIL: *"])


@pytest.mark.parametrize("model", ["bad_names:noise", "bad_names:noise_of_the_original"])
@pytest.mark.parametrize(
    ("control", "figure", "limit"), [("delivery", "flip_rate", "max = 0.9"), ("look", "visual_gain", "min = -0.9")]
)
def test_a_model_that_goes_by_names_passes_no_gate_on_a_control(controlled, model, control, figure, limit):
    status, gates = controlled(model, control, figure, limit)
    assert status == 1
    decision, why = gates[f"valse/existence:{figure}"]
    if model == "bad_names:noise":
        assert gates["model:determinism"][0] == "inconclusive"
    else:
        assert decision == "inconclusive"
        assert "equal pictures in files of other names get other scores" in why


def test_a_model_that_sees_passes_them(controlled):
    status, gates = controlled("good:plain", "look", "visual_gain", "min = 0.1")
    assert (status, gates["valse/existence:visual_gain"][0]) == (0, "pass")
