"""``report.html`` of a run: what it says, what it shows, and that it is made again from the files alone."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256

import pyarrow as pa
import pytest
from pyarrow.parquet import read_table, write_table
from reading import Reading

from vlgate.cli import main
from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.report.folder import UNWRITTEN, write_figures, write_rows
from vlgate.report.page import page as page_module


def without_times(page):
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", page)


def test_the_first_words_say_whether_the_release_may_ship_and_why_not(page, result):
    shown = Reading(page)
    body = shown.text[shown.text.index("vlgate report") :]
    assert body.index("This release may not ship: 1 gate fails.") < 60
    [failed] = [decision for decision in result.decisions if decision.outcome == "fail"]
    assert f"{failed.gate.id}: {failed.why}" in body[:300]
    body = body[body.index("What the model can and cannot do") :]
    assert body.index("Cannot") < body.index("Unknown") < body.index("Can ") < body.index("Gates")


def test_nothing_is_fetched_and_only_its_own_script_and_style_may_run(page):
    shown = Reading(page)
    [policy] = [one["content"] for one in shown.all("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    [script], [style] = ("".join(shown.code[name]) and ["".join(shown.code[name])] for name in ("script", "style"))

    def digest(text):
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    assert policy == (
        f"default-src 'none'; img-src data:; script-src {digest(script)}; style-src {digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    for tag, attrs in shown.elements:
        assert not {name for name in attrs if name.startswith("on") or name in {"style", "srcset", "action"}}, tag
        assert attrs.get("href", "#").startswith("#")
        assert attrs.get("src", "data:").startswith("data:")
    assert len(shown.all("script")) == len(shown.all("style")) == 1
    assert not shown.all("link")


@pytest.mark.slow
def test_the_command_makes_the_same_page_from_the_files_without_torch(folder, page, tmp_path):
    for name in ("metrics.json", "cases.parquet", "environment.json", "verdict.json"):
        shutil.copy(folder / name, tmp_path / name)
    blocked = "import sys; sys.modules.update(torch=None, transformers=None, open_clip=None); "
    script = blocked + f"from vlgate.cli import main; sys.exit(main(['report', {str(tmp_path)!r}]))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith(f"{tmp_path / 'report.html'}\n")
    assert without_times((tmp_path / "report.html").read_text(encoding="utf-8")) == without_times(page)


def test_images_that_cannot_be_found_again_are_named(folder, tmp_path, capsys):
    for name in ("metrics.json", "cases.parquet"):
        shutil.copy(folder / name, tmp_path / name)
    assert main(["report", str(tmp_path)]) == 0
    assert "environment.json is not there, so the images cannot be found again" in capsys.readouterr().out
    shown = Reading((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not shown.all("img")
    assert "No image scenes-relations-0-" in shown.text


def test_a_case_that_has_another_image_now_is_shown_without_one(folder, tmp_path):
    for name in ("metrics.json", "environment.json"):
        shutil.copy(folder / name, tmp_path / name)
    table = read_table(folder / "cases.parquet")
    images = [[f"other-{key}" for key in row] for row in table.column("images").to_pylist()]
    column = table.column_names.index("images")
    write_table(table.set_column(column, "images", pa.array(images)), tmp_path / "cases.parquet")
    assert main(["report", str(tmp_path)]) == 0
    shown = Reading((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not shown.all("img")
    assert "No image other-scenes-relations-0-" in shown.text


def test_a_card_gives_the_command_that_asks_its_case_again(page, tmp_path):
    card = page[page.index('id="scenes/visual-inv/') :]
    name = re.match(r'id="(.*?)"', card)[1]
    button = next(one for one in Reading(card).all("button") if one["data-copy"].startswith("pytest "))
    [command, *words] = shlex.split(button["data-copy"])
    assert command == "pytest"
    done = subprocess.run(
        [sys.executable, "-m", *("pytest", *words, "--collect-only", "-q", "-p", "no:cacheprovider")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    task, case = name[: len("scenes/visual-inv")], name[len("scenes/visual-inv/") :]
    [found] = [line for line in done.stdout.splitlines() if "::" in line]
    assert found.endswith(f"test_invariance[{task}:{case}]"), done.stdout


def test_a_page_that_cannot_be_made_does_not_cost_the_figures(tmp_path, monkeypatch, tasks, result):
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path)
    write_rows(result, options)

    def broken(*_):
        raise ValueError("no template")

    monkeypatch.setattr(page_module, "html", broken)
    [problem] = write_figures(result, ModelCard(name="oracle"), options, 1, tasks)
    assert problem == f"{tmp_path / 'report.html'} could not be written (ValueError: no template)"
    figures = json.loads((tmp_path / "metrics.json").read_text())
    assert (figures["complete"], figures["why"], len(figures["tasks"])) == (False, problem, 4)


def test_a_process_that_ends_while_the_page_is_made_leaves_figures_that_say_so(tmp_path, monkeypatch, tasks, result):
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path)
    write_rows(result, options)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(page_module, "html", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_figures(result, ModelCard(name="oracle"), options, 1, tasks)
    figures = json.loads((tmp_path / "metrics.json").read_text())
    assert (figures["complete"], figures["why"], len(figures["tasks"])) == (False, UNWRITTEN, 4)
