"""What tests of models share: one thread each, and a served model to ask, with its clock."""

import sys
import threading
from functools import partial

import pytest
from chat_server import KEY, Chat

from vlgate.models import served
from vlgate.models.served_pace import Pace


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Networks as small as these take ten times as long where threads share them on a busy machine."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def chat(monkeypatch):
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
    """How long it would have slept; nobody waits."""
    found = []
    monkeypatch.setattr(served, "Pace", partial(Pace, clock=lambda: sum(found), sleep=found.append))
    return found
