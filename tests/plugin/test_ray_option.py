"""What ``--ray`` refuses before anything is loaded: two lines, and status 4."""

import importlib.util

import pytest

REFUSED = [
    (
        ("--ray=auto", "-n", "2"),
        "--ray=auto with -n 2: the actors of the cluster score in place of workers; leave -n 2 out",
    ),
    (("--ray=auto", "--model=oracle"), "the model 'oracle' computes nothing that needs a cluster; leave --ray out"),
    (("--ray=auto", "--device=cuda:1"), "Ray chooses the GPU of each actor; expected auto, cpu or cuda"),
]
if importlib.util.find_spec("ray") is None:
    REFUSED += [(("--ray=auto",), "needs Ray, which is not installed; pip install 'vlgate[[]ray]'")]
else:
    REFUSED += [(("--ray=127.0.0.1:1",), "no cluster answers at 127.0.0.1:1 *; start one with ray start --head*")]


@pytest.mark.parametrize(("given", "says"), REFUSED, ids=lambda value: value[-1] if isinstance(value, tuple) else "")
def test_what_a_cluster_cannot_score_is_refused(place, right, given, says):
    place.valse(n=4)
    model = () if any(one.startswith("--model") for one in given) else (right,)
    result = place.run(*model, *given, ret=4)
    lines = [line for line in result.errlines if line.strip()]
    assert len(lines) <= 2
    result.stderr.fnmatch_lines([f"ERROR: *{says}*"])
    assert not (place.path / "out" / "metrics.json").exists()
