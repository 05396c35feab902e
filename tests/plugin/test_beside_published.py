"""A run's figures beside published ones, in its files: those of papers, and of checkpoints."""


def test_a_run_of_some_cases_stands_among_checkpoints_and_says_of_how_many(place, right):
    place.valse(40)
    place.run(right, "--no-require-gates")
    [line] = [line for line in (place.path / "out/summary.md").read_text().splitlines() if " stands above " in line]
    assert line.startswith("- valse/existence: acc_r 1.000 (0.820 - 1.000, on 40 of the 505 cases) stands above ")
    assert "202 of 202 checkpoints are below and 0 above" in line
    page = (place.path / "out/report.html").read_text()
    assert line.removeprefix("- ") in page
    for text in (page, (place.path / "out/summary.md").read_text()):
        assert "https://github.com/ytaek-oh/vl_compo" in text
        assert "published (VALSE, table 4): " in text


def test_figures_with_other_ties_are_not_compared_with_checkpoints(place, right):
    place.valse(4)
    place.run(right, "--no-require-gates", "--ties=half")
    for name in ("summary.md", "report.html"):
        assert "vl_compo" not in (place.path / "out" / name).read_text()


def test_the_flaws_of_a_run_have_their_sentences(place, right):
    def again(number, record):
        if number == 1:
            record |= {"image_file": "v7w_100.jpg", "caption": "There are 0 dogs.", "foil": "There are no 0 dogs."}

    place.valse(4, change=again)
    place.run(right, "--no-require-gates")
    flaw = place.task()["flaws"]["duplicate"]
    assert flaw == {"count": 1, "examples": ["record_1"], "why": "an earlier case asks the same of the same image"}
    said = "Flaw of the data: 1 x duplicate (an earlier case asks the same of the same image), for example record_1"
    assert said in (place.path / "out/report.html").read_text()
