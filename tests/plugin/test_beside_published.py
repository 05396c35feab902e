"""What stands beside a run's figures, in its files: published ones, and flaws of the data."""


def test_published_figures_stand_beside_those_of_a_run(place, right):
    place.valse(40)
    place.run(right, "--no-require-gates")
    for name in ("summary.md", "report.html"):
        assert "published (VALSE, table 4): " in (place.path / "out" / name).read_text()


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
