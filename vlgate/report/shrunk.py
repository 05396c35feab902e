"""Reports of the smallest changes that break cases: in the terminal, in ``summary.md`` and in ``shrunk.jsonl``."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from vlgate.errors import ImageError
from vlgate.probes.shrink.record import Cause, Shrunk, clusters
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.types import Case, LazyImage, Task, images_of

SHRUNK_FOLDER = "shrunk"  # the folder of the images before and after each find
MOST_CAUSES = 10  # the most causes that are listed, those with the most finds
_COUNTED = {
    "whole": "not broken within their budget",
    "wrong": "not searched, because they are wrong unchanged",
    "unscored": "not searched, because they have no reply",
    "skipped": "not searched, because they have no image, or no reply to any change",
}


def shrunk_lines(searches: Sequence[Shrunk]) -> list[str]:
    if not searches:
        return []
    broken = [search for search in searches if search.ending == "broken"]
    broken.sort(key=lambda search: (search.task, len(search.steps), search.distance or 0.0, search.case))
    lines = [f"{search.task}:{search.case}: {search.says}" for search in broken]
    causes = clusters([Cause(**search.cause) for search in broken if search.cause])
    if causes and causes[0][1] > 1:
        lines += [f"{number} broken by: {one.edit}, {one.what}, {one.faculty}" for one, number in causes[:MOST_CAUSES]]
        if others := causes[MOST_CAUSES:]:
            lines.append(f"{sum(number for _, number in others)} by {len(others)} other causes")
    endings = Counter(search.ending for search in searches)
    counts = [f"{endings[ending]} {words}" for ending, words in _COUNTED.items() if endings[ending]]
    lines.append("; ".join([f"{len(broken)} of {len(searches)} cases broken", *counts]))
    uncovered = Counter(search.no_parts for search in searches if search.no_parts)
    number = len(searches)
    return lines + [f"no region was covered in {count} of {number} cases: {why}" for why, count in uncovered.items()]


def write_shrunk(file: Path, searches: Sequence[Shrunk], tasks: Sequence[Task] = (), model: str = "") -> None:
    cases = {(task.id, case.id): case for task in tasks for case in task.cases}
    broken = [search for search in searches if search.ending == "broken"]
    folder = file.parent
    if broken and cases:
        (folder / SHRUNK_FOLDER).mkdir(exist_ok=True)
    lines = []
    for number, search in enumerate(broken, start=1):
        case = cases.get((search.task, search.case))
        requests = search.requests if case is None else _pictured(folder, number, search, case)
        found = replace(search, model=model, requests=requests)
        lines.append(json.dumps(asdict(found), ensure_ascii=False))
    write_whole(file, "".join(f"{line}\n" for line in lines))


def _pictured(folder: Path, number: int, search: Shrunk, case: Case) -> tuple[Mapping[str, Any], ...]:
    # A worker sends only the names of the moves, because what they do to an image cannot be sent.
    from vlgate.probes.shrink.moves import perturbed
    from vlgate.probes.shrink.space import space

    wanted = {(step["kind"], step["strength"]) for step in search.steps if step["family"] != "wording"}
    families = {step["family"] for step in search.steps} - {"wording"}
    directions = space(case, families).directions if wanted else ()  # type: ignore[arg-type]  # names of families
    moves = [move for some in directions for move in some if (move.kind, move.strength) in wanted]
    changed = perturbed(case, moves)
    names: dict[LazyImage, str | None] = {}
    rows = []
    for row, before, after in zip(search.requests, case.requests, changed.requests, strict=True):
        pictures = {}
        for field, request in (("picture", before), ("changed_picture", after)):
            for image in images_of(request):  # at most one: images that are asked together are not searched
                if image not in names:
                    names[image] = _written(folder, f"{number:04d}-{len(names) + 1}.png", image)
                pictures[field] = names[image]
        rows.append({**row, **pictures})
    return tuple(rows)


def _written(folder: Path, name: str, image: LazyImage) -> str | None:
    # Write an image; return its name in the folder of the run, None if it cannot be loaded
    try:
        loaded = image.load()
    except ImageError:
        return None
    place = f"{SHRUNK_FOLDER}/{name}"
    with whole_file(folder / place) as part:
        loaded.save(part, format="PNG")
    return place
