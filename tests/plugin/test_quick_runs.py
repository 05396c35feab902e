"""Runs with ``--quick``."""


def test_no_gate_passes_and_the_decision_says_why(place, right):
    place.valse(60)
    place.thresholds()
    result = place.run(right, "--quick", "--no-require-gates", ret=1)
    result.stdout.fnmatch_lines(
        [
            "INCONCLUSIVE: right_model:build may not be released: 1 of 1 gate is inconclusive (exit status 1)",
            "inconclusive: valse/existence:acc_r: --quick asks at most 30 cases *",
            "30 cases: 30 right, 0 missed",
        ]
    )
    run = place.metrics()
    assert (run["run"]["quick"], run["run"]["limit"]) == (True, None)
    assert run["tasks"]["valse/existence"]["left_out"] == {"beyond --quick": 30}


def test_a_drop_that_the_sample_could_not_show_does_not_refuse_the_run(place, right):
    place.valse(60)
    place.thresholds('[gate."valse/existence".acc_r]\nmax_drop = 0.02\n')
    assert place.run(right, "--quick").ret == 1
    assert {gate["decision"] for gate in place.metrics()["gates"]} == {"inconclusive"}
