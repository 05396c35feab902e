"""Nine frames of vlgate lead from a test, its own included, to the model: a traceback of a user's model is short."""

import pytest

NOTING = """
fingerprint = "noting"

def match(self, pairs):
    import traceback
    from pathlib import Path

    stack = traceback.extract_stack()
    names = [frame.name for frame in stack]
    if "test_foil" in names and not Path("frames.txt").exists():
        ours = [f"{frame.filename} {frame.name}" for frame in stack[names.index("test_foil"):-1]]
        Path("frames.txt").write_text("\\n".join(ours))
    return np.array([-float(len(pair.text)) for pair in pairs])
"""


@pytest.mark.parametrize("items", ["pair", "batch"])
@pytest.mark.parametrize("cache", ["off", "kept"])
def test_at_most_nine_frames_lead_from_a_test_to_the_model(place, items, cache):
    place.valse()
    place.run(place.model(NOTING), f"--items={items}", f"--cache={cache}")
    frames = (place.path / "frames.txt").read_text().splitlines()
    assert len(frames) <= 9, "\n".join(frames)
    assert all("/vlgate/" in frame or "/tests_vl/" in frame for frame in frames)
