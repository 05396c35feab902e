"""Reading the figures of the papers, and comparing them with those of a run."""

import ast
import re
import tomllib
from collections import Counter
from decimal import Decimal
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from builders import table

import vlgate.sources.published.figures as published
from vlgate.errors import UnknownNameError
from vlgate.metrics import score_rules
from vlgate.metrics.names import applies
from vlgate.sources.published.figures import PAPERS, beside, figures, source
from vlgate.sources.registry import shapes

FILE = Path(__file__).with_suffix(".tsv")
TABLES, FURTHER = (set(table(FILE, name)) for name in ("tasks", "further tasks"))
"""Ids of tasks that users rely on, with one dataset per sub-aspect of VL-CheckList."""
COUNTS = {paper: {} for paper in PAPERS}
for _paper, _table, _number in table(FILE, "counts"):
    COUNTS[_paper][_table] = int(_number)

FACETS = {"model", "target", "slice", "metric", "unit"}
KEYS = {
    "file": {"name", "citation", "url", "note", "marks", "table"},
    "table": {"id", "about", "note", "cases", "labels", "columns", "rows", "marks", *FACETS},
    "column": {"column", "note", "headed", *FACETS},
    "mark": {"where", "printed", "corrected", "why"},
}


@pytest.mark.parametrize("paper", PAPERS)
def test_a_paper_has_a_citation_an_address_and_every_table_with_all_its_figures(paper):
    assert Counter(figure.table for figure in figures(paper)) == COUNTS[paper]
    assert re.search(r" 20\d\d, ", source(paper).citation)
    assert source(paper).url.startswith("https://")


@pytest.mark.parametrize("paper", PAPERS)
def test_the_keys_of_a_file_are_known_and_its_marks_match(paper):
    file = Path(published.__file__).with_name(f"{paper}.toml")
    content = tomllib.loads(file.read_text(encoding="utf-8"), parse_float=Decimal)
    assert content.keys() <= KEYS["file"]
    marked = [(figures(paper), mark) for mark in content.get("marks", ())]
    for part in content["table"]:
        assert part.keys() <= KEYS["table"]
        assert all(column.keys() <= KEYS["column"] for column in part["columns"])
        own = [figure for figure in figures(paper) if figure.table == part["id"]]
        marked += [(own, mark) for mark in part.get("marks", ())]
    for among, mark in marked:
        assert mark.keys() <= KEYS["mark"]
        about = [one for one in among if all(getattr(one, key) == value for key, value in mark["where"].items())]
        assert about
        assert all(mark["why"] in figure.note for figure in about)
        if "corrected" in mark:
            (figure,) = about
            assert figure.printed == mark["printed"]
            assert figure.note.startswith(f"printed {mark['printed']}: ")
            assert figure.value == float(mark["corrected"] / {"percent": 100}.get(figure.unit, 1))


def test_a_figure_is_given_as_printed_and_as_a_fraction():
    every = [figure for figure in figures() if figure.unit != "count"]
    assert all(0 <= figure.value <= 1 for figure in every)
    plain = [figure for figure in every if not figure.note.startswith("printed ")]
    assert all(figure.value == float(figure.printed / {"percent": 100}.get(figure.unit, 1)) for figure in plain)
    assert any(str(figure.printed).endswith(".50") for figure in plain)
    assert all(len(figure.note) < 320 for figure in figures())


def test_all_papers_together_and_an_unknown_one():
    assert [figure.paper for figure in figures()] == sorted(figure.paper for figure in figures())
    assert len(figures()) == sum(sum(tables.values()) for tables in COUNTS.values())
    assert figures("bla") is figures("bla")
    with pytest.raises(UnknownNameError, match="unknown paper 'vl-checklist'; did you mean 'vl_checklist'"):
        figures("vl-checklist")


def values(*place):
    return {figure.model: figure.value for figure in beside(*place)}


def test_figures_stand_beside_a_metric_of_a_task_a_slice_or_a_pattern():
    found = values("winoground/all", "text")
    assert len(found) == 19
    assert (found["human"], found["chance"], found["VinVL"]) == (0.895, 0.25, 0.3775)
    assert values("winoground/all", "group", "collapsed_tag=Both")["CLIP (ViT-B/32)"] == 0.3846
    assert beside("winoground/all", "group", "collapsed_tag=Nothing") == ()
    assert values("vl-checklist/attribute/color/*", "acc_r")["ViLT"] == 0.8595
    assert values("valse/*", "acc_r")["CLIP"] == 0.64
    [figure] = beside("pope/coco-random", "accuracy")
    assert (figure.model, figure.value, figure.cases) == ("LLaVA-1.5", 0.8804, 2910)
    assert {figure.cases for figure in beside("valse/existence", "acc_r")} == {None}


def test_figures_of_whole_benchmarks_are_the_sums_of_their_parts():
    """BiVLC's scores by type give those of all cases, and MMVP's by pattern their mean, to the digits printed."""
    for model in ("CLIP (ViT-B/32)", "CLIP TROHN-Img"):
        for metric in ("text", "image", "group"):
            found = [one for one in figures("bivlc") if (one.model, one.metric) == (model, metric)]
            *parts, whole = sorted(found, key=lambda one: one.cases)
            assert sum(part.cases for part in parts) == whole.cases
            total = sum(round(part.value * part.cases) for part in parts)
            assert round(100 * total / whole.cases, 2) == float(whole.printed)
    clip = [one for one in figures("mmvp") if one.model == "OpenAI ViT-L-14 (224)"]
    right = sum(round(one.value * one.cases) for one in clip[1:])
    assert round(100 * right / clip[0].cases, 1) == float(clip[0].printed)
    for figure in figures():
        if figure.cases is not None and figure.unit == "percent" and figure.paper not in {"naturalbench", "pope"}:
            digits = 10.0 ** -(2 - figure.printed.as_tuple().exponent)
            assert abs(round(figure.value * figure.cases) / figure.cases - figure.value) <= 0.5 * digits + 1e-9


def test_what_is_printed_twice_is_given_once_and_votes_on_single_sentences_are_not_compared_with_ranks():
    found = [figure for figure in beside("carets/order-inv", "cons") if figure.model == "BAN"]
    assert [(figure.table, str(figure.printed)) for figure in found] == [("9", "65.22")]  # with the most digits
    for task in (task for task in TABLES if task.startswith("bla/")):
        assert not [figure for figure in beside(task, "sen_acc") if "human" in figure.model]


def test_targets_are_tasks_of_vlgate_or_patterns_of_some():
    targets = {figure.target for figure in figures() if figure.target}
    assert {target for target in targets if "*" not in target} <= TABLES | FURTHER
    known = shapes()
    assert set(known) >= FURTHER
    for pattern in (target for target in targets if "*" in target):
        assert [task for task in {*TABLES, *known} if fnmatchcase(task, pattern)]
    for figure in figures():
        if figure.target in FURTHER:
            assert applies(figure.metric, known[figure.target])
    valse = {task for task in known if task.startswith("valse/")}
    assert valse == {target for target in targets if target.startswith("valse/")} - {"valse/*"}


def test_every_table_has_figures_for_its_main_metrics():
    main = {
        "valse": score_rules.PAIR_METRICS,
        "winoground": ("text", "image", "group"),
        "carets": ("acc", "cons", "c_acc", "acc_original", "acc_perturbed"),
        "bla": ("sen_acc", "set_acc", "set_error"),
    }
    for task in TABLES - {"carets/visual-inv"}:
        for metric in main.get(task.partition("/")[0], ()):
            assert beside(task, metric), f"{task}:{metric}"
    assert beside("carets/visual-inv", "cons")
    assert beside("carets/visual-inv", "acc_original")
    assert beside("vl-checklist/relation/spatial/vg", "acc_r")


def test_the_module_imports_nothing_else_of_ours_but_errors():
    tree = ast.parse(Path(published.__file__).read_text(encoding="utf-8"))
    names = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name for name in names if name.startswith(("vlgate", "."))} == {"vlgate.errors"}


def test_the_figures_of_a_paper_are_of_the_benchmark_of_its_name():
    """``beside`` reads the file of the task's benchmark only."""
    assert {
        (figure.paper, figure.target.partition("/")[0].replace("-", "_")) for figure in figures() if figure.target
    } == {(paper, paper) for paper in PAPERS}
