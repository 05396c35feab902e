"""What is written about the smallest changes."""

import json
from dataclasses import replace

from vlgate.probes.shrink.record import Shrunk
from vlgate.record.model_card import ModelCard
from vlgate.record.results import RunResult
from vlgate.report.page.beside import finds
from vlgate.report.shrunk import shrunk_lines, write_shrunk
from vlgate.report.summary import write_summary

BROKEN = Shrunk(
    task="b/y",
    case="7",
    ending="broken",
    says="broken by blur with sigma 2 (9 of 20 calls)",
    calls=9,
    budget=20,
    changes=4,
    note="",
    distance=0.2,
    steps=({"kind": "blur", "strength": 2.0, "says": "blur with sigma 2", "distance": 0.2},),
    requests=({"truth": True, "text": "Ein Käfer.", "choices": ()},),
)
WHOLE = replace(BROKEN, ending="whole", case="8", steps=(), distance=None, says="not broken")
TWICE = replace(BROKEN, case="9", says="broken by two", steps=BROKEN.steps * 2, distance=0.1)
FARTHER = replace(BROKEN, case="1", says="broken by more", distance=0.3)
OTHER = replace(BROKEN, task="a/z", says="broken elsewhere", distance=1.0)


def test_tasks_are_together_and_fewer_and_weaker_changes_come_first():
    searches = [TWICE, FARTHER, WHOLE, BROKEN, replace(WHOLE, ending="wrong"), replace(WHOLE, ending="wrong"), OTHER]
    assert shrunk_lines(searches) == [
        "a/z:7: broken elsewhere",
        "b/y:7: broken by blur with sigma 2 (9 of 20 calls)",
        "b/y:1: broken by more",
        "b/y:9: broken by two",
        "4 of 7 cases broken; 1 not broken within their budget; 2 not searched, because they are wrong unchanged",
    ]
    assert shrunk_lines(searches) == shrunk_lines(searches[::-1])


def test_a_run_without_searches_does_not_mention_them(tmp_path, options):
    file = tmp_path / "summary.md"
    write_summary(file, RunResult(results=(), decisions=()), ModelCard(name="random"), options)
    assert "Smallest changes" not in file.read_text(encoding="utf-8")
    write_summary(file, RunResult(results=(), decisions=(), shrunk=(WHOLE,)), ModelCard(name="random"), options)
    text = file.read_text(encoding="utf-8")
    assert "## Smallest changes that break the model\n\n- 0 of 1 cases broken; 1 not broken within" in text


def test_a_picture_that_cannot_be_read_costs_no_find(tmp_path):
    write_shrunk(tmp_path / "shrunk.jsonl", [replace(BROKEN, requests=(REQUEST,)), OTHER_CASE])
    (tmp_path / "shrunk").mkdir()
    (tmp_path / "shrunk/1.png").write_text("junk")
    page = finds(tmp_path)
    assert page.count("<article") == 2
    assert "<img" not in page


REQUEST = {
    "truth": True,
    "picture": "shrunk/1.png",
    "text": "A\u2028line.",
    "choices": [],
    "answer": None,
    "score": 1.0,
    "changed_picture": None,
    "changed_text": "A line.",
    "changed_choices": [],
    "changed_answer": None,
    "changed_score": 0.0,
}
OTHER_CASE = replace(BROKEN, case="8", distance=0.4, requests=(REQUEST,))


def test_a_line_holds_a_whole_search(tmp_path):
    write_shrunk(tmp_path / "shrunk.jsonl", [WHOLE, BROKEN, OTHER])
    lines = (tmp_path / "shrunk.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["task"] for line in lines] == ["b/y", "a/z"]
    assert json.loads(lines[0])["steps"][0]["strength"] == 2.0
    assert "Käfer" in lines[0]
