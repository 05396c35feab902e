"""What a model is asked beside the cases, and what is said of it where several workers loaded it."""

from vlgate.model_card import ModelCard
from vlgate.plugin.loading import merged

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


def test_after_an_interruption_nothing_more_is_asked(place):
    place.valse(40)
    place.thresholds()
    result = place.run(place.model(INTERRUPTED), "--batch-size=8", "--items=batch", "--device=cpu", subprocess=True)
    assert result.ret == 2
    assert (place.path / "calls").read_text() == "1"


def test_what_any_worker_notes_is_said_once():
    cards = [
        ModelCard(name="one", notes=("regions of a stub", "3 replies unread")),
        ModelCard(name="one", notes=("regions of a stub", "2 replies unread")),
    ]
    assert merged(cards, "one").notes == ("regions of a stub", "3 replies unread", "2 replies unread")
