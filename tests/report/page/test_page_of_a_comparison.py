"""The page of a run that is compared with an earlier one: what is newly broken, and for how long a case is missed."""

import json
import re
import shutil

import pyarrow.parquet as pq
import pytest
from page_runs import Reading

from vlgate.report.page.rows import names

TASKS, CASES = 4, 40


def text(page):
    return re.sub(r"\s+", " ", Reading(page).text)


def card(page, anchor):
    start = page.index(f'id="{anchor}"')
    return text("<article " + page[start : page.index("</article>", start)])


@pytest.fixture(scope="module")
def page(releases):
    return (releases / "later/report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def right(releases):
    """Whether each case is right, by its address and the run."""
    found = {}
    for name in ("oldest", "baseline", "later"):
        for row in pq.read_table(releases / name / "cases.parquet").to_pylist():
            found.setdefault(f"{row['task']}/{row['case']}", {})[name] = row["right"]
    return found


def changed(right, before, after):
    return {anchor for anchor, runs in right.items() if (runs["baseline"], runs["later"]) == (before, after)}


def test_what_is_newly_broken_comes_first_with_the_counts_of_the_others(page, right):
    shown = text(page)
    broken, fixed, still, kept = (
        len(changed(right, *verdicts)) for verdicts in ((True, False), (False, True), (False, False), (True, True))
    )
    counts = f"{broken} newly broken, {fixed} fixed, {still} still wrong, {kept} right in both."
    assert shown.index(f"{broken} cases are newly broken") < shown.index("What the model is weak and strong at")
    assert f"Compared with baseline (older) on {TASKS * CASES} cases: {counts}" in shown
    assert "The model was older, is newer." in shown


def test_newly_broken_cases_are_open_with_their_images_and_both_replies(page, right):
    shown = [one["id"] for one in Reading(page).all("article") if one.get("id", "").startswith("newly-broken/")]
    assert {anchor.removeprefix("newly-broken/") for anchor in shown} == changed(right, True, False)
    assert len({anchor.split("/")[2] for anchor in shown[:TASKS]}) == TASKS  # one of each task comes first
    for anchor in shown:
        start = page.index(f'id="{anchor}"')
        assert page.count("data:image/jpeg", start, page.index("</article>", start)) >= 1
        words = card(page, anchor)
        said = ("newly broken", "Now: ", "Before: ", "before: ", "Missed for 1 release: baseline got it right.")
        assert [one for one in said if one not in words] == []
    scored = next(anchor for anchor in shown if "scenes/relations/" in anchor)
    assert "before: 1 " in card(page, scored)
    assert "before: 0.5 " in card(page, scored)


@pytest.fixture
def again(releases, tmp_path):
    for name in ("oldest", "baseline", "later"):
        shutil.copytree(releases / name, tmp_path / name)
    figures = json.loads((tmp_path / "later/metrics.json").read_text())
    figures["baseline"]["folder"] = str(tmp_path / "baseline")
    (tmp_path / "later/metrics.json").write_text(json.dumps(figures))
    return tmp_path


def test_a_missed_case_says_for_how_many_releases(again, right, vlgate):
    given = [again / name for name in ("oldest", "baseline", "later")]  # as a pattern of the shell gives them
    vlgate("report", given[2], "--earlier", *given)
    page = (again / "later/report.html").read_text(encoding="utf-8")
    ages = {
        anchor: re.search(r"Missed for .*? release[^.]*\.", card(page, anchor))[0]
        for anchor in (one["id"] for one in Reading(page).all("article") if one.get("id", "") in right)
    }
    since = {
        (True, True): "Missed for 1 release: baseline got it right.",
        (False, True): "Missed for 1 release: baseline got it right.",
        (True, False): "Missed for 2 releases: since baseline.",
        (False, False): "Missed for 3 releases: since oldest or before.",
    }
    assert ages == {anchor: since[right[anchor]["oldest"], right[anchor]["baseline"]] for anchor in ages}
    assert len(set(ages.values())) == 3
    tasks = json.loads((again / "later/metrics.json").read_text())["tasks"]
    labels = [one["aria-label"] for one in Reading(page).all("svg") if one.get("role") == "img"]
    assert len(labels) == len(tasks)
    now = tasks["scenes/relations"]["metrics"]["acc_r"]["value"]
    form = rf"acc_r of the last 3 releases: oldest 0\.\d{{3}}; baseline 0\.\d{{3}}; this run {now:.3f}"
    assert any(re.fullmatch(form, label) for label in labels)
    vlgate("report", given[2], "--earlier", given[1])
    assert "of the last" not in (again / "later/report.html").read_text(encoding="utf-8")


def test_a_case_that_was_another_one_before_is_not_compared(again, vlgate):
    file = again / "baseline/cases.parquet"
    table = pq.read_table(file)
    other = [[f"{text} indeed" for text in row] for row in table.column("texts").to_pylist()]
    column = table.column_names.index("texts")
    pq.write_table(table.set_column(column, "texts", [other]), file)
    vlgate("report", again / "later")
    shown = text((again / "later/report.html").read_text(encoding="utf-8"))
    assert "Missed for 1 release: baseline did not ask it." in shown
    assert "Before: " not in shown


def test_a_baseline_that_is_gone_costs_its_replies_only(again, right, vlgate):
    shutil.rmtree(again / "baseline")
    vlgate("report", again / "later")
    page = (again / "later/report.html").read_text(encoding="utf-8")
    assert f"{len(changed(right, True, False))} cases are newly broken" in text(page)
    assert "What the earlier run replied is not shown" in text(page)
    assert f"--baseline {again / 'baseline'}: does not exist" in text(page)
    assert "Before: " not in text(page)


def test_an_earlier_run_that_cannot_be_read_is_an_error_with_its_file(again, vlgate):
    for content, said in ((b"no parquet", "cases.parquet cannot be read"), (None, "holds no cases.parquet")):
        file = again / "oldest/cases.parquet"
        file.unlink() if content is None else file.write_bytes(content)
        error = vlgate("report", again / "later", "--earlier", again / "oldest", status=4)
        assert f"--earlier {again / 'oldest'}: {said}" in error


def test_runs_are_named_by_their_folders_as_far_as_it_takes(again):
    assert names([again / "oldest", again / "later"]) == ["oldest", "later"]
    assert names([again / "a/v1", again / "b/v1"]) == [str(again / "a/v1"), str(again / "b/v1")]
