"""A chat-completions server on loopback, and what the tests of served models need to ask it."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from builders import refusal
from PIL import Image

from vlgate.errors import NoReplyError
from vlgate.models.served.adapter import build
from vlgate.types import LazyImage, Match

KEY = "sk-test-0123456789abcdef"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        chat = self.server.chat
        with chat.lock:
            chat.seen.append((self.path, dict(self.headers), body))
        status, headers, content = chat.reply(body)
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        try:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            pass  # the client did not wait for it

    def log_message(self, *_):
        pass


class Chat:
    """A chat-completions server on loopback: it replies with each entry of ``script``, then with ``say``."""

    def __init__(self):
        self.seen, self.script, self.lock = [], [], threading.Lock()
        self.say = lambda _: ok("Yes.")
        self.released = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.chat = self
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def reply(self, body):
        with self.lock:
            said = self.script.pop(0) if self.script else None
        said = self.say if said is None else said
        return said(body) if callable(said) else said

    def hang(self, _):
        self.released.wait(20)
        return ok("too late")

    @property
    def texts(self):
        return [body["messages"][0]["content"][1]["text"] for _, _, body in self.seen]


def ok(text, *, model="toy", finish="stop", top=None, tokens=(), **message):
    """A reply; ``top`` are the likeliest first words, which stand behind the ``tokens``, each of which is certain."""
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    if top is not None:
        words = [{"token": token, "logprob": math.log(p)} for token, p in top]
        before = [{"token": token, "logprob": 0.0} for token in tokens]
        listed = [{**one, "top_logprobs": [one]} for one in before]
        choice["logprobs"] = {"content": [*listed, {**words[0], "top_logprobs": words}]}
    return 200, {}, {"model": model, "choices": [choice]}


def image(name="p", colour=(10, 200, 30), size=(40, 30)):
    return LazyImage(key=name, load=lambda: Image.new("RGB", size, colour))


def pairs(*texts):
    return [Match(image=image(), text=text) for text in texts]


def model_of(chat, options=""):
    return build(f"{chat.url}#toy{options}")


def asked_of(body):
    return body["messages"][0]["content"][1]["text"]


def refused(chat, options=""):
    return refusal(model_of, chat, options)


def problem(ask):
    with pytest.raises(NoReplyError) as caught:
        ask()
    return caught.value
