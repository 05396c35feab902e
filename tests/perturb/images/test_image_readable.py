"""Every severity leaves an image that can be read, and leaves less of it than the one before."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from vlgate.perturb.images import PERTURBATIONS
from vlgate.perturb.images.blur import disk, trail
from vlgate.perturb.images.corruptions import scale_contrast
from vlgate.sources.scenes.scenes import shipped

SCRIPTS = Path(__file__).parents[3] / "scripts"
FAMILIES = sorted(
    {perturbation.family for perturbation in PERTURBATIONS.values() if perturbation.name == f"{perturbation.family}-5"}
)
MOVES = {"rotate"}  # what it moves is not lost


@pytest.fixture(scope="module")
def measure():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        from severities import structure

        yield structure


@pytest.fixture(scope="module")
def scenes():
    """Eight drawn scenes of 224 x 224 pixels, the size for which ImageNet-C gives its lengths."""
    tasks = shipped(f"scenes/{name}" for name in ("existence", "attributes"))
    cases = [case for task in tasks for case in task.cases[::15]]
    return [np.asarray(case.requests[0].image.load()) for case in cases]


def left(measure, scenes, change):
    return np.mean([measure.structure(scene, change(scene, seed)) for seed, scene in enumerate(scenes)])


@pytest.mark.parametrize("family", sorted(set(FAMILIES) - MOVES))
def test_every_severity_can_be_read_and_is_harder(measure, scenes, family):
    shares = [
        left(measure, scenes, lambda scene, seed, name=f"{family}-{severity}": PERTURBATIONS[name](scene, seed=seed))
        for severity in range(1, 6)
    ]
    assert min(shares) >= measure.READABLE
    assert shares == sorted(set(shares), reverse=True)
    assert shares[0] < 1


# Severities of ImageNet-C at which photographs could not be read.
TOO_MUCH = {
    "contrast 4": lambda scene: scale_contrast(scene, 0.1),
    "contrast 5": lambda scene: scale_contrast(scene, 0.05),
    "defocus blur 5": lambda scene: cv2.filter2D(scene, -1, disk(10.0), borderType=cv2.BORDER_REFLECT),
    "motion blur 5": lambda scene: cv2.filter2D(scene, -1, trail(40.0, 15.0, 0.3), borderType=cv2.BORDER_REFLECT),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_what_was_too_much_is_below_the_limit(measure, scenes, name):
    assert left(measure, scenes, lambda scene, _: TOO_MUCH[name](scene)) < measure.READABLE


def test_a_rotation_keeps_nearly_everything_in_the_frame(scenes):
    for seed, scene in enumerate(scenes):
        ground = np.median(scene.reshape(-1, 3), axis=0)
        before, after = (
            (np.abs(image - ground).max(axis=2) > 60).sum()
            for image in (scene, PERTURBATIONS["rotate-5"](scene, seed=seed, fill=ground))
        )
        assert after > 0.75 * before
