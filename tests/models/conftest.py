"""Fixtures that tests of models share: one thread of torch, and a local chat server with its clock."""

import sys
import threading
from functools import cache, partial
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))

from chat_server import KEY, Chat

from vlgate.models.served import adapter
from vlgate.models.served.http import Pace


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Use one thread of torch: on a busy machine, several threads make such small networks ten times slower."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """No test of a model asks the hub, unless it starts one of its own, or reads the user's cache of it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    if constants := sys.modules.get("huggingface_hub.constants"):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def chat(monkeypatch):
    """A chat-completions server on this machine, running for one test."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = Chat()
    thread = threading.Thread(target=chat.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield chat
    chat.released.set()
    chat.server.shutdown()
    chat.server.server_close()
    thread.join()


@pytest.fixture
def slept(monkeypatch):
    """The pauses that an adapter asks for, in seconds; a fake clock replaces the waiting."""
    found = []
    monkeypatch.setattr(adapter, "Pace", partial(Pace, clock=lambda: sum(found), sleep=found.append))
    return found


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    """The folder of a family's small checkpoint, which is saved once; no test may change it."""
    from families import saved

    start = tmp_path_factory.mktemp("checkpoints")
    return cache(lambda name: Path(saved(name, start).partition(":")[2]))
