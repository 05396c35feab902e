"""Check that a model in half precision, or compiled, gives the same verdicts as in plain float32.

Some cases are asked again in float32. Scores with 8 significant bits (bfloat16) tie, or change their order, although
float32 tells them apart. How often that happens depends on the model and on the data, so every such run measures it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from vlgate.asking.checks.check import Check
from vlgate.judging.verdicts import judge
from vlgate.metrics.stats import wilson
from vlgate.seeds import generator
from vlgate.types import Batch, Predictor, Task, Ties

CASES = 64
NAME = "precision"


def check_precision(
    model: Predictor, full: Predictor, batches: Sequence[Batch], asked: str, *, confidence: float = 0.95
) -> Check:
    # ``asked`` says how ``model`` runs (``bfloat16``, ``compiled float32``).
    requests = [request for batch in batches for case in batch.cases for request in case.requests]
    half_replies, full_replies = model.predict(requests), full.predict(requests)
    verdicts = ((judge(batch, half_replies), judge(batch, full_replies)) for batch in batches)
    pairs = (pair for some in verdicts for pair in zip(*some, strict=True))
    both = [(half, whole) for half, whole in pairs if half.state == whole.state == "judged"]
    if not both:
        return Check(name=NAME, outcome="not applicable", why="no case has a reply from both models")
    changed = [(a, b) for a, b in both if (a.right, dict(a.facts)) != (b.right, dict(b.facts))]
    scores = ((half_replies[request].score, full_replies[request].score) for request in half_replies)
    largest = max((abs(one - other) for one, other in scores if one is not None and other is not None), default=0.0)
    low, high = wilson(len(changed) / len(both), len(both), confidence)
    lost, won = (sum(pair[one].right and not pair[1 - one].right for pair in changed) for one in (1, 0))
    why = (
        f"{len(changed)} of {len(both)} cases that were asked again have another verdict in plain float32 "
        f"({lost} right in float32 only, {won} right in {asked} only), an estimated {low:.1%} to {high:.1%} of all "
        f"cases; scores differ by at most {largest:.3g}"
    )
    why += "; use plain float32 if a figure is close to its threshold" if changed else ""
    n, share = len(both), 1 - len(changed) / len(both)
    return Check(name=NAME, outcome="suspect" if changed else "ok", why=why, n=n, share=share, largest=largest)


def drawn(tasks: Sequence[Task], ties: Ties, seed: int) -> list[Batch]:
    """A seeded sample of ``CASES`` cases of all tasks, as one batch per task."""
    places = [(number, index) for number, task in enumerate(tasks) for index in range(len(task.cases))]
    random = generator(f"{seed}:precision")
    chosen = np.sort(random.choice(len(places), size=min(CASES, len(places)), replace=False)) if places else ()
    found: dict[int, list[int]] = {}
    for number, place in (places[one] for one in chosen):
        found.setdefault(number, []).append(place)
    return [Batch(task=tasks[number], positions=tuple(positions), ties=ties) for number, positions in found.items()]


def lacks_room(device: str, root: Path = Path("/")) -> str:
    # In half precision the model takes at most the memory that this process holds now, or holds on the GPU, so float32
    # takes at most twice as much. A model for a GPU is first loaded into the machine's own memory.
    pages = _first_number(root / "proc/self/statm", place=1)
    held = None if pages is None else pages * os.sysconf("SC_PAGE_SIZE")
    places = {"this machine": _free(root)}
    if device.startswith("cuda"):
        import torch

        held = torch.cuda.memory_allocated(device)
        kept_back = torch.cuda.memory_reserved(device) - held  # torch keeps memory that it has freed, for itself
        places[device] = torch.cuda.mem_get_info(device)[0] + kept_back
    for place, left in places.items():
        if device == "mps" or held is None or left is None:
            return f"not asked again in float32: the free memory of {place} is unknown"
        if left < 2 * held:
            return (
                f"not asked again in float32: {left / 2**30:.1f} GiB of memory are free on {place}, and up to "
                f"{2 * held / 2**30:.1f} GiB may be needed"
            )
    return ""


def _free(root: Path) -> int | None:
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
            if most is not None and now is not None:  # "max" means that there is no limit
                free.append(most - now + _fields(folder / "memory.stat").get(idle, 0))
    return min(free)


def _groups(root: Path) -> list[Path]:
    """The folders of this process's control groups (cgroups, versions 1 and 2), the innermost first."""
    try:
        lines = (root / "proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    paths = []
    for _, kind, path in (line.split(":", 2) for line in lines if line.count(":") >= 2):
        if kind in ("", "memory"):
            top = root / "sys/fs/cgroup" / kind
            inner = top / path.lstrip("/")
            paths += [folder for folder in (inner, *inner.parents) if folder.is_relative_to(top)]
    return paths


def _first_number(file: Path, place: int = 0) -> int | None:
    try:
        return int(file.read_text(encoding="ascii").split()[place])
    except (OSError, ValueError, IndexError):
        return None


def _fields(file: Path) -> dict[str, int]:
    try:
        lines = [line.split() for line in file.read_text(encoding="ascii").splitlines()]
    except (OSError, ValueError):
        return {}
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdecimal()}
