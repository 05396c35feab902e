"""The sheet of all perturbations."""

from __future__ import annotations

import numpy as np
import pytest

from vlgate.perturb.images import PERTURBATIONS
from vlgate.perturb.images.contact_sheet import contact_sheet
from vlgate.perturb.scene_graph import Box

BOXES = [Box(x=20.5, y=30, w=50, h=40), Box(x=100, y=60, w=0.3, h=0.3)]


def test_every_perturbation_is_on_it(photograph):
    sheet = contact_sheet(photograph, BOXES, side=161)
    height, width = photograph.shape[:2]
    assert sheet.dtype == np.uint8
    assert sheet.shape[1] == 5 * (width + 6) + 6
    plates = {
        sheet[top : top + height, left : left + width].tobytes()
        for top in range(22, sheet.shape[0] - height + 1, height + 22)
        for left in range(6, sheet.shape[1] - width + 1, width + 6)
    }
    for name, perturbation in PERTURBATIONS.items():
        if name != "crop":
            assert perturbation(photograph, BOXES).tobytes() in plates, name


def test_the_boxes_are_outlined(photograph):
    sheet = contact_sheet(photograph, BOXES, side=161)
    original = sheet[22 : 22 + 120, 6 : 6 + 161]
    assert original[30, 20:70].tolist() == [[255, 0, 0]] * 50
    assert (original[40:60, 30:60] == photograph[40:60, 30:60]).all()


@pytest.mark.parametrize("shape", [(20, 90, 3), (90, 20, 3), (1, 1, 3)])
def test_any_shape(shape):
    sheet = contact_sheet(np.zeros(shape, np.uint8), [Box(x=0, y=0, w=1, h=1)], side=30)
    assert sheet.ndim == 3
    assert sheet.shape[2] == 3


def test_the_same_bytes(photograph):
    assert (contact_sheet(photograph, BOXES, side=50) == contact_sheet(photograph, BOXES, side=50)).all()
