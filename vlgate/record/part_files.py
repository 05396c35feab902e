"""Write part.json and part.jsonl, with which vlgate merge joins the parts of a run."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from typing import Any

from vlgate import __version__
from vlgate.record.folder import DEFAULTS, PART, PART_SCHEMA, REPLIES, seal, sha
from vlgate.record.json_files import environment_content
from vlgate.record.replies import Rows
from vlgate.record.results import EndedRun
from vlgate.record.whole_file import whole_file, write_whole
from vlgate.types import Batch, Task, images_of

ABSENT = -1  # the size of a file that is not there
_WITHIN = ("#", ", column ")  # what follows the path of a file: the name of a perturbation, the place in a Parquet file


def images_digest(tasks: Iterable[Task]) -> str:
    """Return a digest (32 hexadecimal digits) of the keys of all images, each with the size of its file in bytes."""
    # The folder of a file does not count: machines keep the same data in different places
    by_key: dict[str, int] = {}
    sizes: dict[str, int] = {}
    for task in tasks:
        for case in task.cases:
            for request in case.requests:
                for image in images_of(request):
                    if image.key not in by_key:
                        by_key[image.key] = _of_file(image.where, sizes) if image.is_there else ABSENT
    whole = blake2b(digest_size=16)
    for key, size in sorted(by_key.items()):
        whole.update(f"{len(key)}:{key}\0{size}\n".encode(errors="surrogatepass"))
    return whole.hexdigest()


def _of_file(where: str, sizes: dict[str, int]) -> int:
    if where not in sizes:
        try:
            sizes[where] = Path(where).stat().st_size
        except NotADirectoryError:  # a member of an archive
            sizes[where] = _of_file(str(Path(where).parent), sizes)
        except (OSError, ValueError):
            inner = next((where.rpartition(mark)[0] for mark in _WITHIN if mark in where), "")
            sizes[where] = _of_file(inner, sizes) if inner else ABSENT
    return sizes[where]


def write_part(folder: Path, part: EndedRun, replies: Iterable[tuple[Batch, Rows]]) -> None:
    written = []
    for batch, rows in replies:
        columns: dict[str, Any] = dict(rows)
        kept = {name: columns[name] for name in DEFAULTS if any(value is not DEFAULTS[name] for value in columns[name])}
        line = {"task": batch.task.id, "cases": list(batch.positions), "rows": kept}
        written.append(json.dumps(line, separators=(",", ":")) + "\n")
    lines = "".join(sorted(written)).encode("ascii")
    with whole_file(folder / REPLIES) as file:
        file.write_bytes(lines)
    run, shard, digests = part.result, part.result.part, part.result.digests
    content = {
        "schema": PART_SCHEMA,
        "vlgate": __version__,
        "number": shard and shard.number,
        "of": shard and shard.of,
        "complete": not run.incomplete,
        "why": run.incomplete,
        "status": run.tests,
        "workers": part.workers,
        "digests": {
            "plan": digests and digests.plan,
            "images": f"blake2b:{images_digest(part.tasks)}",
            "thresholds": digests and digests.thresholds,
            "must_hold": digests and digests.must_hold,
        },
        "replies": sha(lines),
        "model": asdict(part.card),
        "environment": environment_content(part.options, part.workers, part.card.cache),
    }
    content = json.loads(json.dumps(content))  # tuples become lists, as the reader will have them
    write_whole(folder / PART, json.dumps({**content, "seal": seal(content)}, indent=1) + "\n")
