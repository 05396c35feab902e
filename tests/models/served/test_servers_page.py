"""The lines of docs/servers.md are accepted, and each server is asked as its row says."""

import re
from functools import partial
from pathlib import Path

import pytest
from chat_server import ok

from vlgate.models.served.adapter import build
from vlgate.models.served.http import parse

PAGE = (Path(__file__).parents[3] / "docs" / "servers.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| (.+?) \| `openai:(\S+?)` \| (yes|no)\b", PAGE, re.MULTILINE)


def as_server(name, body):
    if "logprobs" not in body:
        return ok("Yes.")
    if name == "`transformers serve`":
        return 422, {}, {"detail": "Unsupported fields in the request: {'logprobs', 'top_logprobs'}"}
    return ok("Yes", top=[("Yes", 0.75), ("No", 0.2)])


@pytest.mark.parametrize(("server", "start", "address", "listed"), ROWS)
def test_each_server_is_asked_as_its_row_says(chat, server, start, address, listed):
    place = parse(address)
    assert place.name in start or server == "OpenAI"  # the name that the server is started with
    chat.say = partial(as_server, server)
    note = build(f"{chat.url}#{place.name}").note
    assert ("VQAScore" in note, "1 for yes and 0 for no" in note) == (listed == "yes", listed == "no")
    assert {body["model"] for _, _, body in chat.seen} == {place.name}


def test_the_other_lines_of_the_page_name_known_options():
    lines = re.findall(r"'--model=openai:(\S+)'", PAGE)
    assert [parse(line).size for line in lines] == [0, 512]
    assert len(ROWS) == 6
