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
