"""The files against the papers' text, which is read here a second time and in another way.

Every number of the tables below is compared as printed, with its trailing zeros, row by row. The few figures that stand
in a sentence, or in a table whose text is too broken to be read by rule, are looked for in ``SENTENCES``.
"""

import tomllib
from importlib import resources

import pytest
from paper_tables import PAPERS, rows, words

pytestmark = pytest.mark.skipif(not PAPERS.is_dir(), reason=f"the papers' text is not at {PAPERS}")

# How a row of ours is called in the paper.
NAMES = {
    "chance": "random",
    "end-to-end": "e2e",
    "human (experts)": "",  # the name is beside the first of its rows only
    "human (crowdworkers)": "",
    "ViLBERT 12-in-1": "12-in-1",
}


def blocks(paper, table):
    """What a file has of a table, each part as rows of (labels by name, numbers as printed)."""
    text = (resources.files("vlgate.sources.published") / f"{paper}.toml").read_text(encoding="utf-8")
    for block in tomllib.loads(text, parse_float=str)["table"]:
        if block["id"] == table:
            n = len(block["labels"])
            yield [
                (dict(zip(block["labels"], row, strict=False)), tuple(str(cell) for cell in row[n:] if cell != "-"))
                for row in block["rows"]
            ]


def compare(ours, theirs):
    assert [numbers for _, numbers in ours] == [numbers for _, numbers in theirs]
    for (labels, _), (text, _) in zip(ours, theirs, strict=True):
        if "model" in labels and "slice" not in labels:
            model = labels["model"]
            assert words(NAMES.get(model, model)) in text, f"{model} where the paper has {text}"


TABLES = [
    *(("winoground", table) for table in "3451"),
    *(("carets", str(table)) for table in (*range(1, 13), 18)),
    ("bla", "7.4"),
    *(("vl_checklist", table) for table in "47"),
    *(("valse", table) for table in "45"),
]
"""Tables whose rows are ours; the lines of a heading that look like numbers are shorter than any row."""


@pytest.mark.parametrize(("paper", "table"), TABLES)
def test_a_table_is_as_printed(paper, table):
    (ours,) = blocks(paper, table)
    width = min(len(numbers) for _, numbers in ours)
    theirs = [row for row in rows(paper.replace("_", "-"), f"Table {table}") if len(row[1]) >= width]
    compare(ours, theirs)


@pytest.mark.parametrize("table", ["6.3", "7.2", "7.3"])
def test_a_table_with_chance_once_a_metric_is_as_printed(table):
    (ours,) = blocks("bla", table)
    width = len(ours[0][1])
    theirs = []
    for text, numbers in rows("bla", f"Table {table}"):
        if len(numbers) > width:
            theirs.append((f"random{text}", numbers[:1] * width))
        theirs.append((text, numbers[-width:]))
    compare(ours, theirs)


@pytest.mark.parametrize("table", ["2", "3", "5", "6"])
def test_a_table_with_a_mean_beside_the_models_of_a_type_is_as_printed(table):
    ours, types = blocks("vl_checklist", table)
    width = len(ours[0][1])
    theirs = rows("vl-checklist", f"Table {table}")
    compare(ours, [(text, numbers[:width]) for text, numbers in theirs])
    assert [numbers for _, numbers in types] == [numbers[width:] for _, numbers in theirs if len(numbers) > width]


def test_the_tables_of_bla_in_several_blocks_are_as_printed():
    (ours,), theirs = blocks("bla", "7.1"), rows("bla", "Table 7.1")
    compare(ours, theirs)
    assert [words(labels["metric"]) in text for labels, _ in ours for text, _ in theirs].count(True) == 6
    percents, sizes = blocks("bla", "6.2")
    compare([sizes[0], *percents[:3], sizes[1], percents[3]], rows("bla", "Table 6.2"))
    answers, accuracies = blocks("bla", "B.1")
    *found, total = rows("bla", "Table B.1")
    compare([*answers[:3], accuracies[0], *answers[3:6], accuracies[1], *answers[6:]], found)
    assert total[1] == percents[3][1]
    compare(next(blocks("bla", "6.1")), rows("bla", "Table 6.1"))
    (sizes,) = blocks("bla", "4.6")
    assert [numbers for _, numbers in sizes] == [numbers[:1] for _, numbers in rows("bla", "Table 4.6")]


def test_table_2_of_valse_prints_rows_of_table_4():
    (ours,) = blocks("valse", "4")
    parts = [row for row in ours if row[0]["metric"] in {"acc_r", "acc", "min_pc_pf", "auroc"}]
    compare(parts, rows("valse", "Table 2"))


SENTENCES = {
    "valse": (
        "(min 77.3%; max 94.6%), with 73.6% of", "| existential quantifiers 505 |",
        "balanced, adversarial, small numbers 2,459 |", "prepositions 535 |", "replacement, actant swap 1,633 |",
    ),
    "carets": ("81% accuracy on conjunctive tests vs only 62%", "over 190,000 instance pairs"),
    "bla": (
        "on 934 human verified samples", "$A_4^4 = 24$. So the chance level is $4/16 = 16.67\\%$",
        "“watch”(247), “look at”(73), “hold”(59), “help”(51), “carry”(24), “feed”(20)",
        "“others”(139)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("paper", "fragment"), [(paper, part) for paper in SENTENCES for part in SENTENCES[paper]])
def test_a_figure_in_a_sentence_is_as_printed(paper, fragment):
    text = (PAPERS / f"{paper}.txt").read_text(encoding="utf-8")
    assert " ".join(fragment.split()) in " ".join(text.split())
