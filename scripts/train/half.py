"""Half precision in training: bfloat16 on processors that compute in it, float32 on others."""

from __future__ import annotations

from typing import Any


def halved() -> Any:
    """Return a context that computes in bfloat16 if the processor has instructions for it.

    On one that has none (AVX2), a step of LXMERT took 5.1 s in bfloat16 and 0.45 s in float32.
    """
    import torch

    has = torch.cpu.get_capabilities()
    able = any(has.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16"))
    return torch.autocast("cpu", torch.bfloat16, enabled=able)
