"""Whether a run in half precision, or compiled, decides as one in plain float32 would: some cases are asked again.

Scores of 8 significant bits tie, and change places, where float32 tells them apart; how often depends on the model and
the data, so it is measured on both.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from vlgate.checks import Check
from vlgate.judging import judge
from vlgate.stats import wilson
from vlgate.types import Batch, Prediction, Predictor, Request, Table, Ties, Verdict

CASES = 64
NAME = "precision"


def check_precision(
    model: Predictor, full: Predictor, batches: Sequence[Batch], asked: str, *, confidence: float = 0.95
) -> Check:
    """How many verdicts of some cases change from a model in half precision, or compiled, to the same in plain float32.

    Args:
        model: in half precision, or compiled.
        full: the same in float32, not compiled.
        batches: the cases to ask both, as ``drawn`` gives them.
        asked: how ``model`` runs, for the sentence: ``bfloat16``, ``compiled float32``.
        confidence: of the interval for all cases of the run.

    Returns: ``suspect`` where a verdict changes, with how many, in which direction and what that says of all cases;
        ``share`` is that of the cases that keep theirs, ``largest`` the largest difference of two scores. ``not
        applicable`` where no case was judged by both.
    """
    requests = [request for batch in batches for case in batch.cases for request in case.requests]
    half_replies, full_replies = model.predict(requests), full.predict(requests)
    both = [
        (half, whole)
        for batch in batches
        for half, whole in zip(judge(batch, half_replies), judge(batch, full_replies), strict=True)
        if half.state == whole.state == "judged"
    ]
    if not both:
        return Check(name=NAME, outcome="not applicable", why="no case has a reply in both precisions")
    changed = [pair for pair in both if _decided(pair[0]) != _decided(pair[1])]
    largest = _largest(half_replies, full_replies)
    low, high = wilson(len(changed) / len(both), len(both), confidence)
    lost, won = (sum(pair[one].right and not pair[1 - one].right for pair in changed) for one in (1, 0))
    why = (
        f"{len(changed)} of {len(both)} cases, drawn from the run and asked again, have another verdict in plain "
        f"float32 ({lost} right there only, {won} right in {asked} only), which makes {low:.1%} to {high:.1%} of all "
        f"cases likely; scores differ by at most {largest:.3g}"
    )
    return Check(
        name=NAME,
        outcome="suspect" if changed else "ok",
        why=f"{why}; judge by plain float32 where figures are close" if changed else why,
        n=len(both),
        share=1 - len(changed) / len(both),
        largest=largest,
    )


def drawn(tables: Sequence[Table], ties: Ties, seed: int) -> list[Batch]:
    """A seeded sample of ``CASES`` cases of all tables, each as likely as another, as one batch a table."""
    places = [(number, place) for number, table in enumerate(tables) for place in range(len(table.cases))]
    random = np.random.default_rng(int.from_bytes(sha256(f"{seed}:precision".encode()).digest()[:8], "big"))
    chosen = np.sort(random.choice(len(places), size=min(CASES, len(places)), replace=False)) if places else ()
    found: dict[int, list[int]] = {}
    for number, place in (places[one] for one in chosen):
        found.setdefault(number, []).append(place)
    return [Batch(table=tables[number], positions=tuple(positions), ties=ties) for number, positions in found.items()]


def lacks_room(device: str, root: Path = Path("/")) -> str:
    """Why the model is not loaded a second time, in float32; empty where there is room for it.

    In half precision it takes no more than this process holds now, or than its part of the GPU's memory, so twice as
    much is enough. What goes to a GPU comes through the machine's own memory.

    Args:
        device: a name that ``torch.device`` takes.
        root: where ``proc`` and ``sys`` are.
    """
    held, free = _held(root), _free(root)
    places = {"this machine": free}
    if device.startswith("cuda"):
        held, places[device] = _on_gpu(device)
    for place, left in places.items():
        if device == "mps" or held is None or left is None:
            return f"not asked again in float32: how much memory of {place} is free cannot be told"
        if left < 2 * held:
            return (
                f"not asked again in float32, for want of memory: {left / 2**30:.1f} GiB are free on {place}, and up "
                f"to {2 * held / 2**30:.1f} GiB may be needed"
            )
    return ""


def _decided(verdict: Verdict) -> tuple[bool, Mapping[str, bool]]:
    return verdict.right, dict(verdict.facts)


def _largest(half: Mapping[Request, Prediction], full: Mapping[Request, Prediction]) -> float:
    scores = ((half[request].score, full[request].score) for request in half)
    return max((abs(one - other) for one, other in scores if one is not None and other is not None), default=0.0)


def _on_gpu(device: str) -> tuple[int, int]:
    """What the models hold of a GPU, and what they might still have."""
    import torch

    held = torch.cuda.memory_allocated(device)
    kept_back = torch.cuda.memory_reserved(device) - held  # torch's own store of what was used and is free again
    return held, torch.cuda.mem_get_info(device)[0] + kept_back


def _held(root: Path) -> int | None:
    """What this process holds of the machine's memory, in bytes; None where Linux does not say."""
    pages = _first_number(root / "proc/self/statm", place=1)
    return None if pages is None else pages * os.sysconf("SC_PAGE_SIZE")


def _free(root: Path) -> int | None:
    """What the machine, and every group that this process is limited by, have left, in bytes."""
    meminfo = _fields(root / "proc/meminfo")
    if "MemAvailable:" not in meminfo:
        return None
    free = [meminfo["MemAvailable:"] * 1024]
    for folder in _groups(root):
        for limit, used, idle in (
            ("memory.max", "memory.current", "inactive_file"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
        ):
            most, now = _first_number(folder / limit), _first_number(folder / used)
            if most is not None and now is not None:  # "max" is no limit
                free.append(most - now + _fields(folder / "memory.stat").get(idle, 0))
    return min(free)


def _groups(root: Path) -> list[Path]:
    """The folders of this process's control groups (cgroups, versions 1 and 2), from the innermost up."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    found = []
    for _, kind, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if kind in ("", "memory"):
            top = root / "sys/fs/cgroup" / kind
            inner = top / path.lstrip("/")
            found += [folder for folder in (inner, *inner.parents) if folder.is_relative_to(top)]
    return found


def _first_number(file: Path, place: int = 0) -> int | None:
    try:
        return int(file.read_text(encoding="ascii").split()[place])
    except (OSError, ValueError, IndexError):
        return None


def _fields(file: Path) -> dict[str, int]:
    """The lines of a file that hold a name and a number."""
    try:
        lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdecimal()}
