"""Runs that are scored by a real Ray cluster of two nodes on this machine."""

import os
import re
import signal
import socket

import pytest
from builders import tabled

from vlgate.errors import ModelLoadError, OptionError
from vlgate.models.checkpoints.device import room_on_gpu, share_threads
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.ray.connecting import Node, Seat, check_address, connect, seats
from vlgate.models.ray.messages import Surface
from vlgate.models.ray.seating import Seated, check_alike, check_versions


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


GIB = 2**30


def node(name, cpus=8, gpus=0):
    return Node(id=name, name=name, cpus=cpus, gpus=gpus)


@pytest.mark.parametrize(
    ("nodes", "device", "environment", "expected"),
    [
        ([node("a", 16, 4), node("b", 8, 1), node("head", 0)], "auto", {}, [*[("a", 1, 1, 4)] * 4, ("b", 1, 1, 8)]),
        ([node("a", 16, 1), node("b", 2)], "gpu", {}, [("a", 1, 1, 16)]),
        ([node("a", 16), node("b", 2), node("head", 0)], "auto", {}, [("a", 16, 0, 16), ("b", 2, 0, 2)]),
        ([node("a", 16, 4)], "cpu", {"OMP_NUM_THREADS": "3"}, [("a", 16, 0, 3)]),
    ],
    ids=[
        "one on each GPU",
        "only GPUs",
        "one on each node with CPUs",
        "the GPUs stay free and the user's threads hold",
    ],
)
def test_actors_are_spread_over_the_cluster(nodes, device, environment, expected):
    found = [(seat.node.id, seat.cpus, seat.gpus, seat.threads) for seat in seats(nodes, device, environment)]
    assert found == expected


@pytest.mark.parametrize(("device", "nodes"), [("cuda", [node("a")]), ("gpu", [node("a")]), ("auto", [])])
def test_a_device_that_the_cluster_cannot_give_is_refused(device, nodes):
    with pytest.raises(OptionError, match=r"auto|nodes"):
        seats(nodes, device, {})


def test_another_version_or_model_on_a_node_names_both():
    with pytest.raises(ModelLoadError, match=r"10\.0\.0\.7 .*torch 2\.5\.0 there and 2\.6\.0 here"):
        check_versions({"torch": "2.5.0", "numpy": "2"}, "10.0.0.7", {"torch": "2.6.0", "numpy": "2"})
    with pytest.raises(ModelLoadError, match="torch is missing there"):
        check_versions({}, "10.0.0.7", {"torch": "2.6.0"})

    def seated(name, fingerprint):
        loaded = LoadedModel(name="m", weights="", fingerprint=fingerprint, model=None)
        shown = Surface(loaded=loaded, methods=("match",))
        return Seated(seat=Seat(node=node(name), cpus=1, gpus=0, threads=1), actor=None, surface=shown)

    found = [seated("a", "1" * 64), seated("b", "2" * 64)]
    check_alike(found[:1], found[0].surface, "a")
    with pytest.raises(
        ModelLoadError, match=r"the node b loaded another model than a: .*222222222222, not 111111111111"
    ):
        check_alike(found, found[0].surface, "a")


@tabled
def test_an_address_without_a_cluster_is_refused_at_once(monkeypatch, address, expected):
    monkeypatch.setattr("vlgate.models.ray.connecting.importlib.util.find_spec", lambda _: True)
    with pytest.raises(OptionError, match=expected):
        check_address(address)


def test_an_address_where_something_else_listens_is_refused_in_time(monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.setattr("vlgate.models.ray.connecting.ANSWERS", 5.0)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(OptionError, match=f"--ray={address}: something else than a Ray cluster answers there; st"):
            connect(address)


def test_without_ray_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setattr("vlgate.models.ray.connecting.importlib.util.find_spec", lambda _: None)
    with pytest.raises(OptionError, match=r"pip install 'vlgate\[ray\]'"):
        check_address("auto")


@tabled
def test_a_full_gpu_says_how_many_workers_fit(workers, gpus, taken, free, expected):
    assert re.search(expected, room_on_gpu(workers, gpus, int(taken * GIB), int(free * GIB), 24 * GIB))


@pytest.mark.parametrize(("workers", "gpus"), [(1, 1), (4, 4), (2, 4), (4, 0)])
def test_a_worker_with_a_gpu_of_its_own_is_not_told_to_share(workers, gpus):
    assert room_on_gpu(workers, gpus, 20 * GIB, GIB, 24 * GIB) == ""


def test_workers_share_the_cores():
    environment = {}
    threads = share_threads(2, environment)
    assert environment == {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "passive"}
    assert threads >= 1


@pytest.mark.parametrize(("given", "policy"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_threads_that_wait_leave_the_core_unless_the_user_says_otherwise(given, policy):
    share_threads(1, given)
    assert given == {"OMP_WAIT_POLICY": policy}
