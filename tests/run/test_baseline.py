"""What the text-only baseline learns from, and how its figures are shown."""

from vlgate.run.baseline import further, raised
from vlgate.run.options import Options
from vlgate.run.planning import make_plan
from vlgate.types import Metric


def metric(value):
    return Metric(value=value, low=value / 2, high=value, n=30)


def test_a_figure_below_chance_is_shown_as_chance():
    found = raised({"acc_r": metric(0.25), "auroc": metric(0.75), "p_c": metric(0.125)}, {"acc_r": 0.5, "auroc": 0.5})
    assert {name: (one.low, one.value, one.high) for name, one in found.items()} == {
        "acc_r": (0.125, 0.5, 0.5),
        "auroc": (0.375, 0.75, 0.75),
        "p_c": (0.0625, 0.125, 0.125),
    }


def test_an_error_rate_below_chance_stays_as_it_is():
    found = {"set_error": metric(0.1), "tp1_fp1": metric(0.1), "set_acc": metric(0.1)}
    shown = raised(found, dict.fromkeys(found, 0.25))
    assert {name: one.value for name, one in shown.items()} == {"set_error": 0.1, "tp1_fp1": 0.1, "set_acc": 0.25}


def test_drawn_scenes_are_learnt_from_scenes_with_another_seed_and_other_tasks_are_not(tmp_path):
    options = Options(
        folder=tmp_path, suite=("scenes/relations",), results=tmp_path, thresholds=tmp_path / "thresholds.toml"
    )
    tasks = make_plan(options).tasks
    [more] = further(tasks, options)
    assert more.id == "scenes/relations"
    keys = [{request.image.key for case in task.cases for request in case.requests} for task in (tasks[0], more)]
    assert not keys[0] & keys[1]
    assert further((), options) == []
