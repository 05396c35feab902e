"""``report.html`` of a run: what it says, what it shows, and that it is made again from the files alone."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from base64 import b64encode
from contextlib import nullcontext
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from builders import json_table, pair_case, task_of
from hypothesis import given
from hypothesis import strategies as st
from page_runs import GATES, Reading, result_of, write_run
from PIL import Image
from pyarrow.parquet import read_table, write_table

from vlgate.record.model_card import ModelCard
from vlgate.record.options import Options
from vlgate.record.verdict import RunOutcome
from vlgate.report.folder import UNWRITTEN, recorded_run, write_figures, write_rows
from vlgate.report.page import page as page_module
from vlgate.report.page.answer import answer
from vlgate.report.page.page import FEWEST_AXES, MOST_AXES, chart, radar, write_page
from vlgate.report.page.rows import chosen, margins
from vlgate.report.page.sections import Section
from vlgate.types import LazyImage


def without_times(page):
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "TIME", page)


def test_the_first_words_say_whether_the_release_may_ship_and_why_not(page, result):
    shown = Reading(page)
    body = shown.text[shown.text.index("vlgate report") :]
    assert body.index("This release may not ship: 1 gate fails.") < 60
    [failed] = [decision for decision in result.decisions if decision.outcome == "fail"]
    assert f"{failed.gate.id}: {failed.why}" in body[:300]
    body = body[body.index("What the model is weak and strong at") :]
    columns = [word for word in ("Weak", "Unclear", "Strong") if re.search(rf"{word}\b(?!:)", body)]
    assert columns == sorted(columns, key=lambda word: re.search(rf"{word}\b(?!:)", body).start())


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


def test_images_that_cannot_be_found_again_are_named(folder, tmp_path, vlgate):
    for name in ("metrics.json", "cases.parquet"):
        shutil.copy(folder / name, tmp_path / name)
    assert "environment.json is not there or names no options, so the images cannot be found again" in vlgate(
        "report", tmp_path
    )
    shown = Reading((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not shown.all("img")
    assert "No image scenes-relations-0-" in shown.text


def test_a_case_that_has_another_image_now_is_shown_without_one(folder, tmp_path, vlgate):
    for name in ("metrics.json", "environment.json"):
        shutil.copy(folder / name, tmp_path / name)
    table = read_table(folder / "cases.parquet")
    images = [[f"other-{key}" for key in row] for row in table.column("images").to_pylist()]
    column = table.column_names.index("images")
    write_table(table.set_column(column, "images", pa.array(images)), tmp_path / "cases.parquet")
    vlgate("report", tmp_path)
    shown = Reading((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert not shown.all("img")
    assert "No image other-scenes-relations-0-" in shown.text


def test_a_card_gives_the_command_that_asks_its_case_again(page, tmp_path):
    card = page[page.index('id="scenes/visual-inv/') :]
    name = re.match(r'id="(.*?)"', card)[1]
    button = next(one for one in Reading(card).all("button") if one["data-copy"].startswith("pytest "))
    [command, *words] = shlex.split(button["data-copy"])
    assert command == "pytest"
    asked = [sys.executable, "-m", "pytest", *words, "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path, check=False)
    task, case = name[: len("scenes/visual-inv")], name[len("scenes/visual-inv/") :]
    [found] = [line for line in done.stdout.splitlines() if "::" in line]
    assert found.endswith(f"test_invariance[{task}:{case}]"), done.stdout


def test_a_page_that_cannot_be_made_does_not_cost_the_figures(tmp_path, monkeypatch, tasks, result):
    options = Options(folder=tmp_path, thresholds=None, results=tmp_path)
    write_rows(result, options)

    def figures_after(error):
        monkeypatch.setattr(page_module, "html", Mock(side_effect=error))
        with nullcontext() if isinstance(error, Exception) else pytest.raises(type(error)):
            write_figures(result, ModelCard(name="oracle"), options, 1, tasks)
        figures = json.loads((tmp_path / "metrics.json").read_text())
        return figures["complete"], figures["why"], len(figures["tasks"])

    problem = f"{tmp_path / 'report.html'} could not be written (ValueError: no template)"
    assert figures_after(ValueError("no template")) == (False, problem, 4)
    assert figures_after(KeyboardInterrupt()) == (False, UNWRITTEN, 4)  # the process ends while the page is made


@pytest.mark.parametrize(
    ("number", "there"), [(FEWEST_AXES - 1, False), (FEWEST_AXES, True), (MOST_AXES, True), (MOST_AXES + 1, False)]
)
def test_too_few_or_too_many_tasks_have_no_radar(number, there):
    figure = {"value": 0.5, "low": 0.5, "high": 0.5, "n": 9, "chance": 0.5}
    figures = {"capability": "foil", "metrics": {"acc_r": figure}}
    names = [f"mine/{name}" for name in range(number)]
    sections = [Section(task=name, figures=figures, headline="acc_r", tags={}) for name in names]
    assert bool(radar(sections)) is there
    assert (">mine/0<" in chart(sections[:1]), ">mine/0<" in chart(sections), ">0<" in chart(sections)) == (1, 0, 1)


TASKS, CASES = 60, 200


@pytest.mark.parametrize(
    ("decisions", "why", "tone", "sentence", "tests"),
    json_table(Path(__file__).with_suffix(".tsv"), "the_answer_is_that_of_the_gates"),
)
def test_the_answer_is_that_of_the_gates(decisions, why, tone, sentence, tests):
    outcome = RunOutcome(outcomes=tuple(decisions), unfinished=why, tests=tests)
    gates = [{"gate": "mine/a:acc_r", "kind": "gate", "decision": one, "why": "the reason"} for one in decisions]
    said = answer({"gates": gates}, outcome)
    assert said.tone == tone
    assert said.sentence.endswith(sentence)
    assert len(said.reasons) == bool(why) + sum(decision in {"fail", "inconclusive"} for decision in decisions)


def slow_margin(headline, row):
    """The largest score of a false text minus that of the true one that a case compares it with."""
    if headline == "acc_r":
        return row[1] - row[0]
    if headline == "set_acc":
        return max(row[2:]) - min(row[:2])
    (right_0, wrong_0), (wrong_1, right_1) = row[:2], row[2:]
    return max(wrong_0 - right_0, wrong_1 - right_1, wrong_1 - right_0, wrong_0 - right_1)


@given(st.sampled_from(["acc_r", "set_acc", "group"]), st.lists(st.lists(st.integers(-5, 5), min_size=4, max_size=4)))
def test_a_margin_is_the_most_by_which_a_false_text_wins(headline, rows):
    k = 2 if headline == "acc_r" else 4
    scores = np.array([row[:k] for row in rows], dtype=np.float64).reshape(-1, k)
    found = margins(headline, scores, np.zeros(len(rows)))
    assert found.tolist() == [slow_margin(headline, row) for row in scores.tolist()]


@given(
    st.lists(st.integers(-5, 5), max_size=30).map(lambda row: np.array(row, np.float64)), st.integers(2, 12), st.data()
)
def test_what_must_be_shown_is_shown_beside_the_worst_and_the_sample(margin, most, data):
    kept = data.draw(st.lists(st.sampled_from(range(len(margin))), unique=True) if len(margin) else st.just([]))
    places = chosen(margin, most, "seed", kept)
    assert set(kept) <= set(places)
    assert len(set(places)) == len(places) == max(min(most, len(margin)), len({*kept, *places[:2]}))
    assert [margin[place] for place in places[:2]] == sorted(margin, reverse=True)[:2]
    assert places[2:] == sorted(places[2:])
    assert places == chosen(margin, most, "seed", kept)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """A run with 60 tasks of 200 cases, all missed, on images that compress badly; and its tasks."""
    folder = tmp_path_factory.mktemp("many")
    coarse = Image.fromarray(np.random.default_rng(0).integers(0, 255, (60, 80, 3), dtype=np.uint8))
    noise = coarse.resize((400, 300))
    images = [LazyImage(key=f"{number}.jpg", load=noise.copy) for number in range(50)]
    pairs = [pair_case(number, f"cat {number}", f"dog {number}", images[number % 50]) for number in range(CASES)]
    tasks = [task_of(pairs, f"mine/task-{name:02}") for name in range(TASKS)]
    result = result_of(tasks, (), missed=lambda _: True)
    options = Options(folder=folder, thresholds=None, results=folder)
    assert write_rows(result, options) == []
    return recorded_run(result, ModelCard(name="m"), options, 1), tasks


def test_a_page_of_many_missed_cases_stays_small_and_says_what_it_leaves_out(many):
    run, tasks = many
    content = write_page(run, tasks)
    folder = run.folder
    cards = [card for section in content["sections"] for card in section.cards]
    assert len(cards) == 600
    assert all(len(section.cards) == 10 for section in content["sections"])
    assert (folder / "report.html").stat().st_size < 15_000_000
    page = (folder / "report.html").read_text(encoding="utf-8")
    left = sum(bool(picture.problem) for card in cards for picture in card.pictures)
    assert left > 0
    assert all(card.thumb.source for section in content["sections"] for card in section.cards[:2])
    assert "600 of 12,000 missed cases are shown: of each task the worst two and a sample" in content["left_out"][0]
    assert content["left_out"][1].endswith("images are left out, because the page has its most images")
    assert page.count("left out, because the page has its most images") >= left
    assert "the chart shows the first" not in page


SHIPS = "This release may ship: its gate passes."
BROKEN = "This release may not ship: the run is broken"


@pytest.fixture(scope="module")
def task(tasks):
    """A few cases of a task that a gate judges."""
    [found] = [one for one in tasks if one.id == "scenes/visual-inv"]
    return replace(found, cases=found.cases[:9])


def first_words(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    return re.search("<h1>(.*?)</h1>", page)[1], re.findall("<li>(.*?)</li>", page.partition("<nav")[0])


@pytest.fixture
def written(tmp_path, options, task):
    """The folder of a run whose gate passes."""
    result = result_of([task], (replace(GATES[1], min_cases=5),))
    return write_run(result, replace(options, results=tmp_path, suite=(task.id,)), [task])


def test_a_folder_without_the_file_does_not_ship(vlgate, written):
    (written / "verdict.json").unlink()
    vlgate("report", written)
    sentence = "This release may not ship: the run is incomplete."
    assert first_words(written) == (sentence, ["incomplete: it has no verdict.json"])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, SHIPS),
        ({"status": 1}, "This release may not ship: its gate passes, but a test that is not a gate fails."),
        ({"verdict": "fail", "status": 1, "tests": 1}, f"{SHIPS[:17]}not ship: its gate passes, but a test that"),
        ({"verdict": "broken", "status": 1}, BROKEN),
        ({"verdict": "incomplete", "status": 1, "tests": 0}, "This release may not ship: the run is incomplete"),
    ],
)
def test_a_file_of_an_earlier_version_or_of_a_worse_end_is_believed(vlgate, written, change, sentence):
    file = written / "verdict.json"
    content = json.loads(file.read_text())
    del content["tests"]
    file.write_text(json.dumps(content | change))
    vlgate("report", written)
    assert first_words(written)[0].startswith(sentence)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda found: found | {"verdict": "good"}, "verdict.json is damaged: verdict='good' is not one of"),
        (lambda found: found | {"decisions": []}, "the decisions in verdict.json are not those in metrics.json"),
        (lambda found: found | {"verdict": "fail"}, "verdict.json is damaged: verdict='fail' is not \"pass\""),
        (lambda _: [], "verdict.json is not a JSON object"),
    ],
)
def test_a_verdict_that_cannot_be_that_of_the_run_is_refused(vlgate, written, change, said):
    file = written / "verdict.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    error = vlgate("report", written, status=4)
    assert said in error
    assert error.startswith(f"vlgate report {written}: ")
    assert error.count("\n") == 1


def test_a_folder_without_its_rows_is_refused(vlgate, written):
    (written / "cases.parquet").unlink()
    said = "holds no cases.parquet; name the results folder of a run that ended"
    assert said in vlgate("report", written, status=4)


@pytest.mark.slow
def test_the_page_is_written_again_without_what_takes_long_to_import(written):
    """The command has two seconds for the page of the default run; pandas and the other commands take one."""
    script = f"import sys; from vlgate.cli import main; main(['report', {str(written)!r}]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"vlgate.cli.after.report", "pyarrow.parquet"} <= loaded
    assert not loaded & {"pandas", "pyarrow.dataset", "vlgate.cli.make", "vlgate.cli.after.misses"}
