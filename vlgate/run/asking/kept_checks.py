"""The outcome of the checks of a model, kept beside its replies.

A run that had all its replies from the cache asks its model nothing, so it takes the outcome of the checks from there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import TypeGuard

from vlgate.checks.check import Check
from vlgate.inference.batching import Caller
from vlgate.inference.predictor import ModelPredictor
from vlgate.inference.remembered import RememberingCaller
from vlgate.run.options import Options
from vlgate.types import Task


def kept_checks(predictor: ModelPredictor, tasks: Sequence[Task], options: Options, plan: str) -> tuple[Check, ...]:
    """Return the outcome of the same checks on the same cases; empty if unknown, or if the run asked its model."""
    caller = predictor.caller
    if not _lasts(caller) or caller.counts.asked or not caller.counts.cached:
        return ()
    key = _key(caller, tasks, options, plan)
    found, _ = caller.memory.get([key])
    return tuple(Check(**check) for check in json.loads(found[key])) if key in found else ()


def keep_checks(
    caller: Caller | RememberingCaller, checks: tuple[Check, ...], tasks: Sequence[Task], options: Options, plan: str
) -> None:
    """Keep the outcome of checks, unless the model raised in one of them."""
    if _lasts(caller) and not any(check.outcome == "failed" for check in checks):
        content = json.dumps([asdict(check) for check in checks]).encode()
        caller.memory.put({_key(caller, tasks, options, plan): content})


def _lasts(caller: Caller | RememberingCaller) -> TypeGuard[RememberingCaller]:
    """Whether what a caller remembers is there for later runs."""
    return isinstance(caller, RememberingCaller) and caller.memory.store is not None


def _key(caller: RememberingCaller, tasks: Sequence[Task], options: Options, plan: str) -> bytes:
    """What the checks depend on beside the model: the cases, the draws, and the size of the batches."""
    images = dict.fromkeys(
        getattr(request, "image", None) for task in tasks for case in task.cases for request in case.requests
    )
    seen = caller.identities.of(image for image in images if image is not None)
    parts = (plan, options.seed, options.ties, options.batch_size, options.missing_images)
    whole = blake2b(repr(parts).encode(), digest_size=16, key=caller.model, person=b"checks")
    for one in seen.values():
        whole.update(one)
    return whole.digest()
