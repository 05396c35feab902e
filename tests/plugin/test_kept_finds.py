"""From a search to a case that every later release must hold, and to the page."""

import json

DARK = """
def match(self, pairs):
    return np.array([self.score(np.asarray(pair.image.load())[..., 1].mean(), pair.text) for pair in pairs])

def score(self, green, text):
    return float(len(text)) if green < 70 else -float(len(text))
"""
"""Right on every record of ``Workplace.valse``, whose images have 90 as green, unless the image is darker."""
HELD = 'schema = 1\n[defaults]\nmust_hold = "kept/must-hold.jsonl"\n'


def test_the_model_that_broke_fails_the_kept_cases_and_a_right_one_passes_them(place, vlgate, monkeypatch):
    place.valse(n=4)
    place.thresholds()
    model = place.model(DARK, name="dark_model")
    said = place.run(model, "-m", "shrink or foil", "--shrink-cases=2")
    said.stdout.fnmatch_lines(["vlgate: searches for smallest changes: 2 cases, at most 400 requests, 200 per case"])
    finds = [json.loads(line) for line in (place.path / "out/shrunk.jsonl").read_text().splitlines()]
    assert [find["steps"][0]["kind"] for find in finds] == ["dark", "dark"]
    assert all(find["margin"] > 0 > find["margin_changed"] and find["model"] == "dark_model:build" for find in finds)
    assert all((place.path / "out" / row["changed_picture"]).is_file() for find in finds for row in find["requests"])
    page = (place.path / "out/report.html").read_text()
    assert "Smallest changes that break the model" in page
    assert page.count('alt="After"') == 4
    monkeypatch.chdir(place.path)
    assert "kept/cases.jsonl: 2 cases, 2 of them new; 0 finds were there already" in vlgate("keep", "out")
    place.thresholds("", HELD)
    alone = ("--data=kept", "--results=again", "--health=off")
    place.run(model, *alone, data=False, ret=1, says="*2 of 2 cases of *must-hold.jsonl are wrong*")
    held = place.run("--model=oracle", *alone, data=False)
    held.stdout.fnmatch_lines(["*2 cases: 2 right*"])
    assert held.ret == 0
