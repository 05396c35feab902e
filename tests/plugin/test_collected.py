"""The verdicts of a task, from the tests that asked its batches."""

import pytest

from vlgate.plugin.collected import Collected
from vlgate.types import Batch, Case, LazyImage, Match, Task


def task_of(n):
    one = LazyImage(key="1.jpg", load=lambda: pytest.fail("an image was decoded"))
    cases = tuple(
        Case(
            id=f"case {i}",
            requests=(Match(image=one, text=f"true {i}"), Match(image=one, text=f"false {i}")),
            truths=(True, False),
        )
        for i in range(n)
    )
    return Task(id="x/y", capability="foil", shape="pair", cases=cases)


def test_the_verdicts_of_a_task_are_in_its_order_whatever_the_order_of_the_tests():
    task = task_of(5)
    batches = {name: Batch(task=task, positions=at) for name, at in (("x/y:a", (4, 1)), ("x/y:b", (3, 0)))}
    collected = Collected()
    collected.expect([f"test_foil.py::test_foil[{name}]" for name in ("x/y:b", "x/y:a")], batches)
    found = [verdict.case.id for verdict in collected.of_task(task)]
    assert found == ["case 0", "case 1", "case 3", "case 4"]
