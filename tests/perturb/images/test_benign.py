"""Benign changes move, pad and rescale by what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vlgate.perturb.images.benign import pad, rescale, shift

NOISE = np.random.default_rng(0).integers(0, 256, (12, 17, 3)).astype(np.uint8)
STEPS = st.integers(-4, 4)


@given(right=STEPS, down=STEPS)
def test_a_shift_moves_the_inner_part_and_repeats_the_edge(right, down):
    moved = shift(NOISE, right, down)
    assert np.array_equal(moved[4:-4, 4:-4], NOISE[4 - down : 8 - down, 4 - right : 13 - right])
    edge = 0 if right > 0 else -1
    if right:
        assert np.array_equal(moved[:, edge], shift(NOISE, 0, down)[:, edge])


def test_padding_surrounds_the_image_with_its_edge():
    padded = pad(NOISE, 3)
    assert np.array_equal(padded[3:-3, 3:-3], NOISE)
    assert np.array_equal(padded[0, 3:-3], NOISE[0])


@given(factor=st.sampled_from([0.98, 0.99, 1.01, 1.02]), side=st.integers(2, 60))
def test_rescaling_always_changes_the_size_by_two_percent_or_a_pixel(factor, side):
    height, width = rescale(np.zeros((side, 2 * side, 3), np.uint8), factor).shape[:2]
    assert (height, width) != (side, 2 * side)
    assert abs(width - 2 * side) <= max(1, 0.02 * 2 * side + 0.5)
    assert (width > 2 * side) == (factor > 1) or width == 2 * side


@pytest.mark.parametrize(
    "call",
    [lambda: shift(NOISE, 5, 0), lambda: pad(NOISE, 0), lambda: rescale(NOISE, 1.0), lambda: rescale(NOISE, 1.1)],
)
def test_a_change_beyond_what_is_benign_is_refused(call):
    with pytest.raises(ValueError, match="expected"):
        call()
