"""Training computes in bfloat16 only on processors that have instructions for it: on others, it is slower."""

from pathlib import Path

import pytest
import torch

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.mark.parametrize(
    ("has", "kind"),
    [
        ({"avx2": True, "avx512_f": True}, torch.float32),
        ({"avx512_bf16": True}, torch.bfloat16),
        ({"amx_bf16": True}, torch.bfloat16),
        ({"neon": True, "bf16": True}, torch.bfloat16),
        ({}, torch.float32),
    ],
)
def test_bfloat16_is_for_processors_that_have_it(monkeypatch, has, kind):
    monkeypatch.syspath_prepend(SCRIPTS)
    from train.half import halved

    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has)
    with halved():
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == kind
