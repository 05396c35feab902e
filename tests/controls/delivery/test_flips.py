"""Flips under re-encodings and benign changes: counted per family, per case, and by what they are compared with."""

import numpy as np
import pytest
from PIL import Image

from tests.controls.delivery.planted import on, opened, spoilt
from tests.controls.delivery.remembering import Remembering
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.errors import NoReplyError
from vlgate.images.files import file_image
from vlgate.judging.verdicts import judge
from vlgate.perturb.images.benign import as_png
from vlgate.probes.controls.canaries import CANARIES
from vlgate.probes.controls.control import Sample
from vlgate.probes.controls.flips import FAMILIES, VARIANTS, measure, requests
from vlgate.types import TIED, Ask, Batch, Case, Match, Task


def asked(model):
    return ModelPredictor(model=model, name="tried", caller=Caller(name="tried", size=64))


@pytest.fixture
def sample(tmp_path):
    """A case for each of four canaries: a thing against another one, right and judged; two of one image."""
    cases = []
    for index, canary in enumerate((*CANARIES[:3], CANARIES[0])):
        file = tmp_path / f"{canary.kind}.png"
        file.write_bytes(as_png(canary.pixels))
        image = file_image(canary.kind, file)
        texts = canary.texts()
        made = tuple(Match(image=image, text=text) for text in (texts[0], texts[1 + index // 3]))
        cases.append(Case(id=str(index), requests=made, truths=(True, False)))
    task = Task(id="own/things", capability="foil", shape="pair", cases=tuple(cases))
    batch = Batch(task=task, positions=tuple(range(4)))
    said = asked(Remembering()).predict(request for case in cases for request in case.requests)
    return Sample(task=task, verdicts=tuple(judge(batch, said)))


def test_an_intact_model_does_not_flip(sample):
    found = measure(sample, asked(Remembering()))
    assert {
        name: metric.value for name, metric in found.metrics().items() if name != "replies_changed"
    } == dict.fromkeys(["flip_rate", *(f"flip_rate_{family}" for family in FAMILIES), "unstable"], 0.0)
    assert found.metric("flip_rate").n == 4
    assert found.requests == requests(sample.cases) == 7 * len(VARIANTS)  # one request is in two cases
    assert not found.left_out


def test_cases_of_one_image_are_one_cluster(sample):
    found = measure(sample, asked(Remembering()))
    assert found.images == ("umbrella", "house", "tree", "umbrella")
    assert found.metric("flip_rate").deff > 1


def test_a_model_that_ignores_exif_flips_for_re_encodings_only(sample):
    def as_stored(image):
        image.load()
        turned = image.getexif().get(0x0112, 1) == 6
        return Image.new("RGB", image.size, (32, 92, 216)) if turned else on(image, "white")

    found = measure(sample, asked(spoilt(Remembering(), images=opened(as_stored))))
    rates = {name: metric.value for name, metric in found.metrics().items()}
    reencoded = [variant for variant in VARIANTS.values() if variant.family == "reencoded"]
    flipped = np.nansum(found.columns["flip_rate_reencoded"])
    assert flipped > 0
    assert rates["flip_rate_reencoded"] == pytest.approx(flipped / 4)
    assert set(found.columns["flip_rate_reencoded"]) <= {0.0, 1 / len(reencoded)}  # one variant of six
    assert rates["flip_rate_shift"] == rates["flip_rate_pad"] == rates["flip_rate_jpeg"] == 0.0
    assert found.columns["unstable"].tolist() == (found.columns["flip_rate"] > 0).tolist()


def test_a_variant_that_does_not_apply_is_counted(sample, tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (40, 40, 3)).astype(np.uint8)  # more than 256 colours
    file = tmp_path / "umbrella.png"
    file.write_bytes(as_png(noise))
    found = measure(sample, asked(Remembering()))
    [why] = found.left_out
    assert "palette" in why
    assert found.left_out[why] == 1
    assert np.isfinite(found.columns["flip_rate"]).all()


def test_variants_without_a_reply_are_counted(sample):
    class Files:
        """Replies to no picture of a variant."""

        def match(self, pairs):
            raise NoReplyError(list(range(len(pairs))), "unknown")

    found = measure(sample, asked(Files()))
    assert found.metrics() == {}
    assert found.left_out == {"variants of cases without a reply": 4 * len(VARIANTS)}


SILENCES = {"text": "I cannot tell.", "empty": "", "both": "yes or no", "tie": TIED}


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "thing.png"
    file.write_bytes(as_png(CANARIES[0].pixels))
    asks = [Ask(image=file_image("thing", file), question=f"{number}?", choices=("yes", "no")) for number in range(4)]
    cases = tuple(Case(id=ask.question, requests=(ask,), truths=("yes",)) for ask in asks)
    return Task(id="own/questions", capability="foil", shape="single", cases=cases)


class Says:
    """Gives ``own`` to the images of a run and ``changed`` to their variants."""

    def __init__(self, own, changed):
        self.own, self.changed = own, changed

    def answer(self, questions):
        return [self.changed if "#delivery-" in question.image.key else self.own for question in questions]


def flips(task, own, changed):
    batch = Batch(task=task, positions=tuple(range(len(task.cases))))
    model = asked(Says(own, changed))
    verdicts = judge(batch, model.predict(request for case in task.cases for request in case.requests))
    return measure(Sample(task=task, verdicts=tuple(verdicts)), model).metric("flip_rate").value


@pytest.mark.parametrize(("own", "changed", "rate"), [("yes", "yes", 0.0), ("no", "no", 0.0)])
def test_an_answer_that_stays_is_no_flip(questions, own, changed, rate):
    assert flips(questions, own, changed) == rate


@pytest.mark.parametrize("silence", SILENCES.values(), ids=list(SILENCES))
def test_silence_is_not_stable(questions, silence):
    assert flips(questions, "yes", silence) == flips(questions, "no", silence) == 1.0
    assert flips(questions, silence, silence) == 1.0
    assert flips(questions, silence, "no") == 0.9  # the progressive JPEG says what the baseline one says
