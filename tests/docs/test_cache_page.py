"""The page about the cache: its commands are run, and print what it shows."""

import json
import re

from test_guides import ROOT, commands, hold

PAGE = ROOT / "docs" / "cache.md"
RUNS = ("first", "again", "more")


def test_the_commands_print_what_the_page_shows(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    for command in [command for block in blocks for command in commands(block)]:
        hold(command, folder, "cache", "cache.md")
    used = [json.loads((folder / run / "environment.json").read_text())["cache"] for run in RUNS]
    assert [one["loaded"] for one in used] == [True, False, True]
    assert [min(one["cached"], 1) for one in used] == [0, 1, 1]
    assert [min(one["asked"], 1) for one in used] == [1, 0, 1]
    for file in ("cases.parquet", "predictions.parquet"):
        assert (folder / "first" / file).read_bytes() == (folder / "again" / file).read_bytes()
