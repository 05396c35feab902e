"""The requests of a session in addition to the cases, and the description of a model that several workers load."""

import pyarrow.parquet as pq
import pytest

from vlgate.record.model_card import ModelCard
from vlgate.run.loading import merged

INTERRUPTED = """
calls = 0
def match(self, pairs):
    self.calls += 1
    if self.calls == 2:
        raise KeyboardInterrupt
    with open("calls", "w") as file:
        file.write(str(self.calls))
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


def test_after_an_interruption_nothing_more_is_asked(data):
    data.run(data.model(INTERRUPTED), "--batch-size=8", "--items=batch", "--device=cpu", subprocess=True, ret=2)
    assert (data.path / "calls").read_text() == "1"


def test_a_note_of_several_workers_is_shown_once():
    cards = [
        ModelCard(name="one", notes=("regions of a stub", "3 replies unread")),
        ModelCard(name="one", notes=("regions of a stub", "2 replies unread")),
    ]
    assert merged(cards, "one").notes == ("regions of a stub", "3 replies unread", "2 replies unread")


CUT = "self.cut_texts |= {pair.text for pair in pairs if len(pair.text) > 17}"
OTHER = "fingerprint = os.environ.get('PYTEST_XDIST_WORKER', 'main')"


def test_texts_that_the_model_did_not_read_to_the_end_are_counted_and_named_in_the_sentences(place, workers):
    place.valse(12)  # "There are 10 dogs." has 18 characters, "There are no 0 dogs." 20
    place.thresholds()
    result = place.run(
        place.matching(first=CUT, head="cut_texts = set()"),
        "--device=cpu",
        *workers,
    )
    result.stdout.fnmatch_lines(["with a text that the model did not read to the end: 12 cases in valse/existence"])
    assert place.task()["cut"] == 12
    cases = pq.read_table(place.path / "out" / "cases.parquet").to_pylist()
    said = {row["case"]: row["why"].rpartition("; ")[2] for row in cases}
    assert said["record_2"] == "the model did not read the end of 1 of 2 texts"
    assert said["record_11"] == "the model did not read the end of 2 of 2 texts"


@pytest.mark.parametrize(
    ("workers", "status"), [("0", 0), *(pytest.param(f"{n}", n - 1, marks=pytest.mark.slow) for n in (1, 2))]
)
def test_workers_that_load_different_models_leave_the_run_inconclusive(data, workers, status):
    data.run(
        data.matching(head=OTHER),
        "--device=cpu",
        "-n",
        workers,
        ret=status,
    )
    found = {gate["gate"]: gate["decision"] for gate in data.metrics()["gates"]}
    assert found["valse/existence:acc_r"] == "pass"
    assert found.get("model:same-model") == (None if status == 0 else "inconclusive")
