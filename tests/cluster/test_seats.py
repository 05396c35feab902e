"""Where actors are placed, and what is compared before they score."""

import re
import socket

import pytest

from vlgate.errors import ModelLoadError, OptionError
from vlgate.models.checkpoints.device import room_on_gpu, share_threads
from vlgate.models.loading.registry import LoadedModel
from vlgate.models.ray.connecting import Node, Seat, check_address, connect, seats
from vlgate.models.ray.messages import Surface
from vlgate.models.ray.seating import Seated, check_alike, check_versions

GIB = 2**30


def node(name, cpus=8, gpus=0):
    return Node(id=name, name=name, cpus=cpus, gpus=gpus)


def test_a_cluster_with_gpus_has_an_actor_on_each_of_them():
    found = seats([node("a", 16, 4), node("b", 8, 1), node("head", 0)], "auto", {})
    assert [(seat.node.id, seat.cpus, seat.gpus, seat.threads) for seat in found] == [
        *[("a", 1, 1, 4)] * 4,
        ("b", 1, 1, 8),
    ]


def test_a_cluster_without_gpus_has_an_actor_on_each_node_with_cpus():
    found = seats([node("a", 16), node("b", 2), node("head", 0)], "auto", {})
    assert [(seat.node.id, seat.cpus, seat.gpus, seat.threads) for seat in found] == [("a", 16, 0, 16), ("b", 2, 0, 2)]


def test_on_the_cpu_the_gpus_stay_free_and_the_users_number_of_threads_holds():
    assert [(seat.gpus, seat.threads) for seat in seats([node("a", 16, 4)], "cpu", {"OMP_NUM_THREADS": "3"})] == [
        (0, 3)
    ]


@pytest.mark.parametrize(("device", "nodes"), [("cuda", [node("a")]), ("cuda:1", [node("a", 1, 2)]), ("auto", [])])
def test_a_device_that_the_cluster_cannot_give_is_refused(device, nodes):
    with pytest.raises(OptionError, match=r"auto|nodes"):
        seats(nodes, device, {})


def test_other_versions_on_a_node_name_both():
    with pytest.raises(ModelLoadError, match=r"10\.0\.0\.7 .*torch 2\.5\.0 there and 2\.6\.0 here"):
        check_versions({"torch": "2.5.0", "numpy": "2"}, "10.0.0.7", {"torch": "2.6.0", "numpy": "2"})
    with pytest.raises(ModelLoadError, match="torch is missing there"):
        check_versions({}, "10.0.0.7", {"torch": "2.6.0"})


def test_another_model_on_a_node_names_both():
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


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("ray://10.0.0.7:10001", "Ray's client is not supported"),
        ("somewhere", "expected auto or HOST:PORT"),
        ("127.0.0.1:1", "no cluster answers at 127.0.0.1:1 .*ray start --head"),
    ],
)
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


@pytest.mark.parametrize(
    ("workers", "gpus", "taken", "free", "expected"),
    [
        (4, 1, 9, 2, "so 2 fit; run with -n 2"),
        (2, 1, 20, 1, "so 1 fits; run with -n 1"),
        (4, 2, 15, 1, "2 workers share a GPU: .* so 1 fits; run with -n 2"),
        (4, 1, 0.5, 1, "so 3 fit; run with -n 3"),  # this one took little before the memory was full
        (4, 1, 30, 0, "so 1 fits"),
        (4, 1, 5, 4, "so 3 fit"),  # one less than now, although four would fit by their sizes
    ],
)
def test_a_full_gpu_says_how_many_workers_fit(workers, gpus, taken, free, expected):
    assert re.search(expected, room_on_gpu(workers, gpus, int(taken * GIB), int(free * GIB), 24 * GIB))


@pytest.mark.parametrize(("workers", "gpus"), [(1, 1), (4, 4), (2, 4), (4, 0)])
def test_a_worker_with_a_gpu_of_its_own_is_not_told_to_share(workers, gpus):
    assert room_on_gpu(workers, gpus, 20 * GIB, GIB, 24 * GIB) == ""


def test_workers_share_the_cores():
    environment = {}
    threads = share_threads(2, environment)
    assert environment == {"OMP_NUM_THREADS": str(threads)}
    assert threads >= 1
