"""The canaries name the planted faults of a pipeline, and nothing about one that is intact."""

import numpy as np
import pytest
from PIL import Image

from tests.controls.delivery.planted import PLANTED, each, grey, spoilt
from tests.controls.delivery.remembering import Remembering
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.fixtures.bag_of_words import build
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.probes.controls.canaries import CANARIES, Asker
from vlgate.probes.controls.delivery import DELIVERY, MOST_REQUESTS, about_model, diagnose
from vlgate.probes.controls.faults import alone, kept


def asked(model):
    return ModelPredictor(model=model, name="tried", caller=Caller(name="tried", size=64))


def bugs(model):
    return [finding.bug for finding in diagnose(asked(model)).findings]


def twice(image):
    """Subtract the mean and divide by the scale twice, as far as 8 bits hold it."""
    return Image.fromarray(np.clip(2.0 * np.asarray(image) - 255, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("bug", [*PLANTED, "wrong mean"])
def test_a_planted_bug_is_named_and_no_other(bug):
    how = PLANTED[bug]() if bug in PLANTED else {"images": each(twice)}
    model = spoilt(Remembering(), **how, **({"aspect": "padded"} if bug == "stretched aspect" else {}))
    assert bugs(model) == [bug]


@pytest.mark.slow
@pytest.mark.parametrize("model", [Remembering(), build()], ids=["remembering", "bag-of-words"])
def test_an_intact_model_has_no_finding_and_recognises_every_canary(model):
    found = diagnose(asked(model))
    assert not found.findings
    assert found.recognised.tolist() == [1.0] * len(CANARIES)
    assert found.requests <= MOST_REQUESTS == DELIVERY.of_model_requests


@pytest.mark.parametrize(
    ("model", "why"), [(Oracle(), "no score"), (Random(), "not the picture alone"), (object(), "compares")]
)
def test_a_model_that_sees_no_picture_is_not_applicable(model, why):
    found = diagnose(asked(model))
    assert why in found.inapplicable
    assert not found.findings
    assert "not applicable" in about_model(asked(model), 0).notes[0]


def test_a_constant_model_has_lost_the_image():
    assert bugs(Constant()) == ["lost image"]


def test_a_model_that_knows_files_by_their_names_is_named(tmp_path):
    seen = {}

    def by_name(images):
        return [seen.setdefault(image.where.rsplit("/", 1)[-1], image) for image in images]

    asker = Asker(predictor=asked(spoilt(Remembering(), images=by_name)), folder=tmp_path)
    assert [one.bug for one in kept(asker, alone(asker))] == ["wrong image"]


def test_what_the_canaries_say_stands_in_the_notes():
    [note] = about_model(asked(spoilt(Remembering(), images=each(grey))), 0).notes[:1]
    assert note.startswith("canaries: lost image, or wrong image: ")


def test_a_model_that_only_says_yes_or_no_does_not_tell_swapped_from_wrong_images():
    class Yes(Remembering):
        def match(self, pairs):
            return (super().match(pairs) > -0.01).astype(float)

    [finding] = diagnose(asked(spoilt(Yes(), **PLANTED["image order swapped"]()))).findings
    assert finding.says.startswith("image order swapped, or wrong image: ")
    assert not diagnose(asked(Yes())).findings
