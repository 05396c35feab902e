"""A run and ``vlgate judge`` with the same thresholds file agree."""

import json
import shutil

from vlgate.cli import main


def test_the_decisions_and_the_status_of_a_run_are_those_of_the_command(place, capsys):
    place.valse()
    place.valse(file="plurals.json")
    place.thresholds('[gate."valse/existence".acc_r]\nmin = 0.8\n[gate."valse/plurality".acc_r]\nmin = 0.1\n')
    live = place.run("-k=existence", model="oracle")
    shutil.copytree("out", "first")
    capsys.readouterr()
    assert main(["judge", "first", "--thresholds=thresholds.toml", "--json"]) == live.ret == 1
    found = json.loads(capsys.readouterr().out)["gates"]
    assert found == place.metrics()["gates"]
    outcomes = {one["gate"]: one["decision"] for one in found}
    assert outcomes == {"valse/existence:acc_r": "pass", "valse/plurality:acc_r": "inconclusive"}


def test_a_folder_of_a_run_judged_again_has_the_verdict_of_a_run_with_these_gates(place, right, capsys):
    place.valse(n=40)
    texts = {"low": GATE.format(0.5), "high": GATE.format(0.99), "none": ""}
    for name, text in texts.items():
        place.thresholds(text)
        (place.path / f"{name}.toml").write_bytes((place.path / "thresholds.toml").read_bytes())
        place.run(right, f"--results={name}")
        assert json.loads((place.path / name / "verdict.json").read_text())["verdict"] == WORDS[name]
    for name in texts:
        judge = ["judge", str(place.path / "low"), f"--thresholds={place.path / name}.toml", "--no-require-gates"]
        main([*judge, f"--results={place.path / name}-again"])
        again, whole = ((place.path / folder / "verdict.json").read_bytes() for folder in (f"{name}-again", name))
        assert again == whole
        assert main(["report", f"{place.path / name}-again"]) == 0
    (place.path / "low" / "verdict.json").unlink()
    main([*judge, f"--results={place.path / 'old'}"])
    assert "the run has no verdict.json, so none is written" in capsys.readouterr().out
    assert not (place.path / "old/verdict.json").exists()


GATE = '[gate."valse/*".acc_r]\nmin = {}\n'
WORDS = {"low": "pass", "high": "inconclusive", "none": "not gated"}
