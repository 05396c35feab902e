"""However the suite is run: the bad model does not end with 0, and the good one is never called bad."""

import pytest

from attacks.ways import BAD, GOOD, WAYS

BY_ITSELF = {"no-capture", "no-terminal", "sets-status", "swallows", "conftest-ends"}
"""Ways that change how this process prints, or how it ends."""
LIKE_LOAD = ("loadfile", "loadscope", "loadgroup", "worksteal")
"""Ways to which a good model is the same as to --dist load; each takes three processes."""


@pytest.fixture
def run(request):
    """Run a model in a way: in this process, or in one of its own for workers and what an environment changes."""

    def start(model, way):
        alone = way.env or any(arg.startswith("-n") for arg in way.args) or way.name in BY_ITSELF
        return request.getfixturevalue("alone" if alone else "inside")(model, way)

    return start


QUICK = {
    "keyword",
    "conftest-skips",
    "quick",
    "half-suite",
    "passes-all",
    "ends-status",
    "load",
    "images-cut",
    "no-gates",
}
"""One way of each group; the others are slow."""


def ways(*left_out):
    slow = {name: () if name in QUICK else (pytest.mark.slow,) for name in (way.name for way in WAYS)}
    shown = [pytest.param(way, id=way.name, marks=slow[way.name]) for way in WAYS if way.name not in left_out]
    return pytest.mark.parametrize("way", shown)


@ways()
def test_a_bad_model_does_not_pass(run, way):
    ended = run(BAD, way)
    assert ended.status not in {0, None}, ended.output


@ways(*LIKE_LOAD)
def test_a_good_model_is_never_called_bad(run, failed, way):
    """It passes if everything was asked. If something was left out it does not pass, and no gate of a figure fails."""
    ended = run(GOOD, way)
    assert ended.status is not None
    if way.whole is not None:
        assert (ended.status == 0) == way.whole, ended.output
    assert [gate for gate in failed(ended.results) if gate.partition(":")[2] in {"acc_r", "acc"}] == []
    assert "INTERNALERROR" not in ended.output or "odd_plugin.py" in ended.output  # pytest says so of its plugins


def test_there_are_enough_ways():
    assert len(WAYS) >= 30
    assert len({way.name for way in WAYS}) == len(WAYS)
