"""Runs that are scored by a real Ray cluster of two nodes on this machine."""

import os
import signal

import pytest


def test_a_run_on_a_cluster_has_the_bytes_of_a_local_run(folder):
    status, said = folder.run("on_ray")
    assert status == 0, said
    assert "by 2 actors on 2 nodes, 0 given to another actor because one ended" in said
    status, said = folder.run("local", ray=False)
    assert status == 0, said
    assert folder.same("on_ray", "local")
    assert folder.tasks("on_ray") == folder.tasks("local")


def test_a_killed_node_costs_nothing_but_time(folder):
    folder.model(pause=0.15)
    process = folder.start("on_ray")
    folder.wait_for(5)
    folder.cluster.order("kill")
    said, _ = process.communicate(timeout=120)
    folder.cluster.order("add")
    assert process.returncode == 0, said
    assert "by 2 actors on 2 nodes" in said
    assert ", 0 given to another actor" not in said
    folder.model(pause=0)
    assert folder.run("local", ray=False)[0] == 0
    assert folder.tasks("on_ray") == folder.tasks("local")


def test_a_killed_driver_leaves_no_actor_behind_and_the_next_run_works(folder):
    folder.model(pause=0.15)
    process = folder.start("on_ray")
    folder.wait_for(3)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    folder.model(pause=0)
    status, said = folder.run("on_ray")
    assert status == 0, said
    assert "by 2 actors on 2 nodes" in said  # each of the two CPUs was free again


RAISING = """
import numpy as np

class Model:
    def match(self, pairs):
        if any("{word}" in pair.text for pair in pairs):
            {act}
        return np.array([-float(len(pair.text)) for pair in pairs])

def build():
    return Model()
"""


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        ("raise ValueError('no score for this')", "ValueError: no score for this"),
        ("raise RuntimeError('CUDA out of memory')", "runs out of memory on a batch of one item"),
        ("import os; os._exit(0)", "match() of"),
    ],
    ids=["raises", "out of memory", "ends"],
)
def test_what_a_model_raises_on_an_actor_fails_its_own_tests(folder, act, expected):
    folder.model(RAISING.replace("{act}", act).replace("{word}", "hat"))
    status, said = folder.run("on_ray", "--limit=12")
    assert status == 1
    assert expected in said


HANGING = """
import time

class Model:
    def match(self, pairs):
        time.sleep(600)

def build():
    return Model()
"""


def test_a_model_that_hangs_ends_the_run_which_says_where(folder):
    folder.model(HANGING)
    status, said = folder.run("on_ray", "--limit=12", "--call-timeout=1")
    assert status == 1
    assert "match() of 8 requests did not return within 1 s on the node" in said
    assert "1 failed" in said  # the test that asked; no other one could be scored, so the run stops
    assert said.count("did not return within 1 s") < 5


OTHER = """
import os

class Model:
    fingerprint = str(os.getpid())
    def match(self, pairs):
        return [0.0] * len(pairs)

def build():
    return Model()
"""


def test_nodes_that_load_different_models_are_named_and_nothing_is_scored(folder):
    folder.model(OTHER)
    status, said = folder.run("on_ray")
    assert status == 4
    assert "loaded another model than" in said
    assert not (folder.path / "on_ray" / "metrics.json").exists()


def test_an_interrupted_run_ends_and_frees_the_cluster(folder):
    folder.model(pause=0.15)
    process = folder.start("on_ray")
    folder.wait_for(3)
    os.kill(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2, said
    assert "the run was interrupted" in said
    folder.model(pause=0)
    status, said = folder.run("on_ray")
    assert status == 0, said
    assert "by 2 actors on 2 nodes" in said
