"""The verdicts of a task, from the tests that asked its batches."""

from builders import pair_case, task_of

from vlgate.plugin.collected import Collected
from vlgate.types import Batch


def test_the_verdicts_of_a_task_are_in_its_order_whatever_the_order_of_the_tests():
    task = task_of([pair_case(number) for number in range(5)], "x/y")
    batches = {name: Batch(task=task, positions=at) for name, at in (("x/y:a", (4, 1)), ("x/y:b", (3, 0)))}
    collected = Collected()
    collected.expect([f"test_foil.py::test_foil[{name}]" for name in ("x/y:b", "x/y:a")], batches)
    found = [verdict.case.id for verdict in collected.of_task(task)]
    assert found == ["pair 0", "pair 1", "pair 3", "pair 4"]
