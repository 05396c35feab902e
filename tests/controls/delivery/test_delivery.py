"""Canaries name the planted faults of a pipeline, and nothing about an intact one; flips under benign changes."""

from pathlib import Path

import numpy as np
import pytest
from builders import model as fake
from builders import predictor, question_case, task_of
from PIL import Image
from transformers.image_utils import IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD

from tests.controls.delivery.planted import (
    CLIP,
    PLANTED,
    Remembering,
    each,
    grey,
    on,
    opened,
    planted,
    spoilt,
    wrong_mean,
)
from vlgate.errors import NoReplyError
from vlgate.fixtures.bag_of_words import build
from vlgate.images.files import file_image
from vlgate.judging.verdicts import judge
from vlgate.models.loading.registry import load
from vlgate.models.reference.controls import Constant, Oracle, Random
from vlgate.perturb.images.benign import as_png
from vlgate.probes.controls.canaries import CANARIES, Asker
from vlgate.probes.controls.control import Sample
from vlgate.probes.controls.delivery import DELIVERY, FAMILIES, VARIANTS, about_model, diagnose, measure, requests
from vlgate.probes.controls.faults import alone, kept
from vlgate.types import TIED, Batch, Case, Match


def bugs(model):
    return [finding.bug for finding in diagnose(predictor(model)).findings]


def twice(image):
    """Subtract the mean and divide by the scale twice, as far as 8 bits hold it."""
    return Image.fromarray(np.clip(2.0 * np.asarray(image) - 255, 0, 255).astype(np.uint8))


@pytest.mark.parametrize("bug", [*PLANTED, "wrong mean"])
def test_a_planted_bug_is_named_and_no_other(bug):
    how = PLANTED[bug]() if bug in PLANTED else {"images": each(twice)}
    model = spoilt(Remembering(), **how, **({"aspect": "padded"} if bug == "stretched aspect" else {}))
    assert bugs(model) == [bug]


@pytest.fixture(scope="module")
def loaded():
    models = {}
    return lambda name: models.setdefault(name, load(name, folder=Path()).model)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny-lxmert", "tiny-clip"])
@pytest.mark.parametrize("bug", ["none", *PLANTED, "wrong mean"])
def test_a_bug_planted_around_a_trained_model_is_named_and_no_other(loaded, name, bug):
    with planted(loaded(name), bug) as model:
        assert bugs(model) == ([] if bug == "none" else [bug])


@pytest.mark.slow
@pytest.mark.parametrize("figures", [CLIP, (IMAGENET_DEFAULT_MEAN, IMAGENET_DEFAULT_STD)], ids=["clip", "imagenet"])
def test_a_mean_of_another_model_is_said(loaded, figures):
    with wrong_mean(loaded("tiny-clip"), *figures):
        [finding] = diagnose(predictor(loaded("tiny-clip"))).findings
    assert finding.bug == "wrong mean"
    assert "in place of 0.5" in finding.why


@pytest.mark.slow
@pytest.mark.parametrize("model", [Remembering(), build()], ids=["remembering", "bag-of-words"])
def test_an_intact_model_has_no_finding_and_recognises_every_canary(model):
    found = diagnose(predictor(model))
    assert not found.findings
    assert found.recognised.tolist() == [1.0] * len(CANARIES)
    assert found.requests <= DELIVERY.of_model_requests == 940


@pytest.mark.parametrize(
    ("model", "why"), [(Oracle(), "no score"), (Random(), "not the picture alone"), (object(), "compares")]
)
def test_a_model_that_sees_no_picture_is_not_applicable(model, why):
    found = diagnose(predictor(model))
    assert why in found.inapplicable
    assert not found.findings
    assert "not applicable" in about_model(predictor(model), 0).notes[0]


def test_a_constant_model_has_lost_the_image():
    assert bugs(Constant()) == ["lost image"]
    [note] = about_model(predictor(spoilt(Remembering(), images=each(grey))), 0).notes[:1]
    assert note.startswith("canaries: lost image, or wrong image: ")


def test_a_model_that_knows_files_by_their_names_is_named(tmp_path):
    seen = {}

    def by_name(images):
        return [seen.setdefault(image.where.rsplit("/", 1)[-1], image) for image in images]

    asker = Asker(predictor=predictor(spoilt(Remembering(), images=by_name)), folder=tmp_path)
    assert [one.bug for one in kept(asker, alone(asker))] == ["wrong image"]


def test_a_model_that_only_says_yes_or_no_does_not_tell_swapped_from_wrong_images():
    yes = fake(match=lambda pairs: (Remembering().match(pairs) > -0.01).astype(float), aspect="stretched")
    [finding] = diagnose(predictor(spoilt(yes, **PLANTED["image order swapped"]()))).findings
    assert finding.says.startswith("image order swapped, or wrong image: ")
    assert not diagnose(predictor(yes)).findings


def asked_of(task, asked):
    """The sample of a task that was judged on the replies of a predictor."""
    replies = asked.predict(request for case in task.cases for request in case.requests)
    verdicts = judge(Batch(task=task, positions=tuple(range(len(task.cases)))), replies)
    return Sample(task=task, verdicts=tuple(verdicts))


@pytest.fixture
def sample(tmp_path):
    """A case for each of four canaries: a thing against another one, right and judged; two of one image."""
    cases = []
    for index, canary in enumerate((*CANARIES[:3], CANARIES[0])):
        file = tmp_path / f"{canary.kind}.png"
        file.write_bytes(as_png(canary.pixels))
        texts = canary.texts()
        made = tuple(
            Match(image=file_image(canary.kind, file), text=text) for text in (texts[0], texts[1 + index // 3])
        )
        cases.append(Case(id=str(index), requests=made, truths=(True, False)))
    return asked_of(task_of(cases), predictor(Remembering()))


def test_an_intact_model_does_not_flip_and_cases_of_one_image_are_one_cluster(sample):
    found = measure(sample, predictor(Remembering()))
    values = {name: metric.value for name, metric in found.metrics().items() if name != "replies_changed"}
    assert values == dict.fromkeys(["flip_rate", *(f"flip_rate_{family}" for family in FAMILIES), "unstable"], 0.0)
    assert found.metric("flip_rate").n == 4
    assert found.requests == requests(sample.cases) == 7 * len(VARIANTS)  # one request is in two cases
    assert not found.left_out
    assert found.images == ("umbrella", "house", "tree", "umbrella")
    assert found.metric("flip_rate").deff > 1


def test_a_model_that_ignores_exif_flips_for_re_encodings_only(sample):
    def as_stored(image):
        image.load()
        turned = image.getexif().get(0x0112, 1) == 6
        return Image.new("RGB", image.size, (32, 92, 216)) if turned else on(image, "white")

    found = measure(sample, predictor(spoilt(Remembering(), images=opened(as_stored))))
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
    (tmp_path / "umbrella.png").write_bytes(as_png(noise))
    found = measure(sample, predictor(Remembering()))
    [why] = found.left_out
    assert "palette" in why
    assert found.left_out[why] == 1
    assert np.isfinite(found.columns["flip_rate"]).all()


def test_variants_without_a_reply_are_counted(sample):
    def match(pairs):
        raise NoReplyError(list(range(len(pairs))), "unknown")

    found = measure(sample, predictor(fake(match=match)))
    assert found.metrics() == {}
    assert found.left_out == {"variants of cases without a reply": 4 * len(VARIANTS)}


@pytest.fixture
def flips(tmp_path):
    """The rate of flips of a model that gives one answer to the images of a run, and another to their variants."""
    file = tmp_path / "thing.png"
    file.write_bytes(as_png(CANARIES[0].pixels))
    thing = file_image("thing", file)
    task = task_of([question_case(n, f"{n}?", picture=thing) for n in range(4)], shape="single")

    def rate(own, changed):
        asked = predictor(fake(answer=lambda some: [changed if "#delivery-" in one.image.key else own for one in some]))
        return measure(asked_of(task, asked), asked).metric("flip_rate").value

    return rate


@pytest.mark.parametrize("silence", ["I cannot tell.", "", "yes or no", TIED], ids=["text", "empty", "both", "tie"])
def test_silence_is_not_stable(flips, silence):
    assert flips("yes", silence) == flips("no", silence) == 1.0
    assert flips(silence, silence) == 1.0
    assert flips("yes", "yes") == flips("no", "no") == 0.0
    assert flips(silence, "no") == 0.9  # the progressive JPEG says what the baseline one says
