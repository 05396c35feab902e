"""Which planted bug of a pipeline the canaries of the control ``delivery`` name, for both trained models.

Run from the top of a checkout: ``.venv/bin/python -m benchmarks.delivery_bugs``. It takes three minutes of one core.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from tests.controls.delivery.planted import PLANTED, planted
from vlgate.asking.batching import Caller
from vlgate.asking.predictor import ModelPredictor
from vlgate.models.loading.registry import load
from vlgate.probes.controls.delivery import diagnose

MODELS = ("tiny-lxmert", "tiny-clip")
NOT_PICTURES = ("bag-of-words", "oracle")
INTACT = "none"


def main() -> None:
    """Print a row for each model and bug: what was named, how many requests were asked, and the time."""
    print(f"{'model':<13} {'planted':<21} {'named':<36} canaries requests seconds CPU")
    right = {model: sum(told(model, load(model, folder=Path()).model, bug) for bug in _bugs()) for model in MODELS}
    for model in NOT_PICTURES:
        told(model, load(model, folder=Path()).model, INTACT)
    print("; ".join(f"{model}: {number - 1} of {len(_bugs()) - 1} named" for model, number in right.items()))


def told(name: str, model: Any, bug: str) -> bool:
    """Print a row, and return whether exactly the planted bug was named."""
    start, used_before = perf_counter(), process_time()
    with planted(model, bug) as used:
        found = diagnose(ModelPredictor(model=used, name=name, caller=Caller(name=name, size=64)))
    took, used_after = perf_counter() - start, process_time() - used_before
    named = [finding.bug for finding in found.findings]
    shown = ", ".join(named) or ("not applicable" if found.inapplicable else INTACT)
    seen = f"{found.recognised.mean():8.2f}" if len(found.recognised) else f"{'-':>8}"
    print(f"{name:<13} {bug:<21} {shown:<36} {seen} {found.requests:8} {took:7.1f} {used_after:3.1f}", flush=True)
    return named == ([] if bug == INTACT else [bug])


def _bugs() -> list[str]:
    return [INTACT, *PLANTED, "wrong mean"]


if __name__ == "__main__":
    main()
