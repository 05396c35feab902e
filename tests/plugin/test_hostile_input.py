"""Files and models that are hostile or damaged end in one line that names them."""

import json
import os
import re
from contextlib import suppress

import pytest
from PIL import Image

from vlgate.cli import main

USAGE = pytest.ExitCode.USAGE_ERROR


@pytest.fixture
def data(place):
    place.valse(n=4)
    return place


def test_a_pipe_in_place_of_cases_is_refused(data, right):
    os.mkfifo(data.path / "data" / "cases.jsonl")
    data.run(right, ret=4, error="ERROR: *cases.jsonl*not a regular file*")


def test_strings_in_an_object_array_are_not_numbers(data):
    result = data.run(data.matching(first="return np.array([pair.text for pair in pairs], dtype=object)"), ret=1)
    assert data.task()["unscored"] == 4
    result.stdout.fnmatch_lines(["*match() of the model * returned *str*"])


def test_a_note_of_a_model_cannot_format_the_summary(data):
    note = "note = '# 100 % right\\n\\n## Gates pass | <img src=x> \\x1b[31m'\n"
    data.run(data.matching(head=note))
    summary = (data.path / "out" / "summary.md").read_text()
    assert "\n## Gates pass" not in summary
    assert "<img" not in summary
    assert "\x1b" not in summary


def test_the_environment_lists_the_protocols(data, right):
    for args, expected in (([], []), (["--protocol=valse_paper_ties", "--overwrite"], ["valse_paper_ties"])):
        data.run(right, *args)
        found = json.loads((data.path / "out" / "environment.json").read_text())
        assert found["options"]["protocols"] == expected


HTML = "<img src=x onerror=alert(7)><script>alert(7)</script>"
CODES = "\x1b[31m\x07\x9b2J\u202e"
HOSTILE = f"{CODES}{HTML}|[a](javascript:alert(7))"
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
READER = f"""
note = {HOSTILE!r}
asked = 0
def match(self, pairs):
    if any(" 3" in pair.text for pair in pairs):
        raise ValueError({HOSTILE!r})
    return -np.array([len(pair.text) for pair in pairs])
def answer(self, questions):
    return [{HOSTILE!r} for _ in questions]
"""


@pytest.fixture
def hostile(place, monkeypatch):
    """A finished run with payloads in every field that takes them, and what it wrote and printed, by name."""
    image = f"{HTML.replace('/', '')}.png"
    file = place.path / "data" / image
    file.parent.mkdir(parents=True)
    Image.new("RGB", (8, 8)).save(file)
    tags = {"<script>": "<img src=x onerror=alert(7)>"}
    texts = [{"caption": f"{HOSTILE} {n}", "foil": f"{HOSTILE} {n} b", "tags": tags} for n in range(6)]
    rows = [{"task": "mine/pairs", "id": f"<script>{n}", "image": image, **row} for n, row in enumerate(texts)]
    asked = {"task": "mine/asked", "image": image, "answer": "yes"}
    rows += [{**asked, "id": f"q{n}", "question": f"{HOSTILE} {n}?"} for n in range(3)]
    (place.path / "data" / "cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    line = {"task": "mine/pairs", "case": "<script>0", "claim": "wrong", "evidence": HOSTILE, "source": HOSTILE}
    (place.path / "disputes.jsonl").write_text(json.dumps(line))
    why = json.dumps(HOSTILE)
    limit = f'[limit."mine/asked".accuracy]\nmax = 0.5\nmodel = "m"\nwhy = {why}\n'
    place.thresholds(f'[gate."mine/pairs".acc_r]\nmin = 0.5\nwhy = {why}\n{limit}')
    place.model(READER, name="injected")
    source = (place.path / "injected.py").read_text().replace("def build():", "def build(weights):")
    (place.path / "injected.py").write_text(source)
    model = f"--model=injected:build:{HTML}.bin"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(place.path / "page.md"))
    result = place.run(
        model, "--disputes=disputes.jsonl", "--junitxml=junit.xml", "--alluredir=allure", "-rA", "-v", subprocess=True
    )
    assert "mine/pairs" in place.metrics()["tasks"], result.outlines
    texts = {"stdout": result.stdout.str(), "stderr": result.stderr.str()}
    texts |= {
        name: (place.path / name).read_text() for name in ("page.md", "junit.xml", "out/summary.md", "out/badge.json")
    }
    found = [json.loads(file.read_text()) for file in (place.path / "allure").glob("*-result.json")]
    texts["allure"] = "\n".join(one.get("descriptionHtml", "") for one in found)
    assert texts["allure"]
    texts["report.html"] = (place.path / "out" / "report.html").read_text()
    return texts


COMMANDS = (
    ["show", "out", "mine/pairs:<script>1"],
    ["misses", "out"],
    ["judge", "out", "--thresholds", "thresholds.toml"],
    ["judge", "out", "--thresholds", "thresholds.toml", "--json"],
    ["compare", "out", "out"],
    ["export", "out", "--format", "csv"],
    ["export", "out", "--format", "jsonl"],
    ["bless", "out", "--to", "kept", "--why", HOSTILE],
    ["check", "--data", "data"],
    ["tasks", "--data", "data"],
    ["report", "out"],
    ["shortcuts", "out"],
    [f"show{CODES}"],
    ["show", "out", HOSTILE],
    ["misses", "out", "--task", HOSTILE],
    ["misses", "out", "--slice", HOSTILE],
    ["report", HOSTILE],
    ["cache", "clear", "--model", HOSTILE],
)


@pytest.mark.slow
def test_no_text_of_a_file_or_a_model_reaches_a_terminal_or_a_page_as_a_command(hostile, capfd):
    capfd.readouterr()
    for command in COMMANDS:
        with suppress(SystemExit):
            main(command)
        said = capfd.readouterr()
        hostile[" ".join(command)] = said.out + said.err
    codes = {name: OBEYED.findall(text) for name, text in hostile.items()}
    assert not {name: some for name, some in codes.items() if some}
    html = ("report.html", "allure", "page.md", "out/summary.md", "out/badge.json", "junit.xml")
    assert not [name for name in html if "<img src=x" in hostile[name] or "<script>alert" in hostile[name]]
    assert not [name for name in ("page.md", "out/summary.md") if "](javascript:" in hostile[name]]
    assert any("alert(7)" in hostile[name] for name in html)
